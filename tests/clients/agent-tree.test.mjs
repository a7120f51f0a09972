// A tree of agents over a WebSocket, with the `WebSocket` of Node. Contract A.5.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { after, before, test } from 'node:test';

import { startResearchDesk } from '../lib/research-desk.mjs';
import { explore } from './explore.mjs';

let desk;
before(async () => { desk = await startResearchDesk(); });
after(() => desk?.stop());

test('a question becomes a tree, asks its user, and ends with one answer', async () => {
  const { nodes, frames, code } = await explore(desk, 'Compare lamps and candles', 'The price');
  assert.equal(code, 1000);
  const [root, ...children] = Object.values(nodes);
  assert.deepEqual([root.parentId, root.status, root.isFinalAnswer, root.userPrompt],
    [null, 'completed', true, 'What matters most to you?']);
  assert.deepEqual(children.map(({ title, parentId, status }) => [title, parentId, status]), [
    ['What speaks for lamps?', root.id, 'completed'],
    ['What speaks for candles?', root.id, 'completed'],
  ]);
  assert.ok(root.content.endsWith(root.result) && root.result.startsWith('In short'), root.content);
  for (const child of children) assert.equal(child.content, child.result);

  assert.deepEqual([frames[0].type, frames[0].state.status], ['agent-state', 'running']);
  assert.equal(frames.filter((frame) => frame.type === 'agent-completed').length, 1);
  const fields = { 'agent-state': 'agentId,state', 'text-delta': 'agentId,delta', 'user-query': 'agentId,prompt',
    'agent-completed': '', 'agent-tree': 'agentIds' };
  for (const { type, ...rest } of frames) assert.equal(Object.keys(rest).join(), fields[type], type);
  assert.deepEqual(frames.at(-1).agentIds, Object.keys(nodes));
  // The agents below write while the main agent does.
  const order = frames.filter((frame) => frame.type === 'text-delta').map((frame) => frame.agentId);
  const changes = order.filter((id, at) => at > 0 && id !== order[at - 1]).length;
  assert.ok(changes > 10, `${changes} changes of the agent`);
});

test('a page of another origin gets no connection', async () => {
  const upgrade = (origin) => new Promise((resolve, reject) => {
    const headers = {
      connection: 'Upgrade', upgrade: 'websocket', origin,
      'sec-websocket-version': '13', 'sec-websocket-key': randomBytes(16).toString('base64'),
    };
    const asked = get(`${desk.origin}/assistant/ws`, { headers });
    asked.on('error', reject);
    asked.on('response', (response) => resolve(response.resume().statusCode));
    asked.on('upgrade', (response, socket) => resolve(socket.destroy() && response.statusCode));
  });
  assert.equal(await upgrade('https://evil.example'), 403);
  assert.equal(await upgrade(desk.origin), 101);
});

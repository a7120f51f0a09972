// The first command of the README: the demo model with the AI SDK's chat. The tests check that an answer contains the
// result of a tool, but not its wording.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { demo, pageTools } from '../lib/app.mjs';
import { DEMO, startQuickstart } from '../lib/quickstart.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { get } from './wire.mjs';

let app;
before(async () => {
  app = await startQuickstart(DEMO);
});
after(() => app?.stop());

test('the log names the demo model', async () => {
  // The address and the log arrive on different pipes.
  await until(() => /demo/i.test(app.log()), 'the log names the demo');
});

test('the page can read the agents', async () => {
  const { agents } = await (await get(`${app.api}/agents`)).json();
  assert.deepEqual(agents.map((agent) => agent.id), ['handbook']);
});

for (const [version, ai] of Object.entries(versions)) {
  test(`${version} · demo: a question leads to a server tool`, async () => {
    const chat = openChat(ai, app.api);
    await chat.sendMessage({ text: demo.lookUp.question });
    const part = toolParts(last(chat)).find((part) => part.type === `tool-${demo.lookUp.tool}`);
    assert.equal(part?.state, 'output-available', JSON.stringify(last(chat).parts));
    assert.equal(part.input.order_id, demo.lookUp.order);
    const { status } = part.output;
    assert.ok(textOf(last(chat)).includes(status), `"${status}" is in "${textOf(last(chat))}"`);
  });

  test(`${version} · demo: a request leads to a tool of the page`, async () => {
    const ran = [];
    const answer = (name) => (input) => (ran.push([name, input]), { ok: true });
    const chat = openChat(ai, app.api, { pageTools: Object.fromEntries(pageTools.map((name) => [name, answer(name)])) });
    await chat.sendMessage({ text: demo.navigate.question });
    await until(() => chat.status === 'ready' && textOf(last(chat)) !== '', 'the answer after the page tool');
    assert.equal(ran[0]?.[0], demo.navigate.tool);
    assert.equal(chat.messages.length, 2);
  });

  test(`${version} · demo: the second agent reads the handbook, and has no other tool`, async () => {
    const chat = openChat(ai, `${app.api}/agents/handbook`);
    await chat.sendMessage({ text: demo.handbook.question });
    const [part] = toolParts(last(chat));
    assert.deepEqual([part?.type, part?.input], [`tool-${demo.handbook.tool}`, { chapter: demo.handbook.chapter }]);
    assert.ok(textOf(last(chat)).includes(part.output), textOf(last(chat)));
    await chat.sendMessage({ text: demo.lookUp.question });
    assert.deepEqual(toolParts(last(chat)).filter((part) => part.type !== `tool-${demo.handbook.tool}`), []);
  });

  test(`${version} · demo: an answer without a tool`, async () => {
    const chat = openChat(ai, app.api);
    await chat.sendMessage({ text: demo.chat.question });
    assert.equal(chat.status, 'ready');
    assert.equal(toolParts(last(chat)).length, 0);
    assert.ok(textOf(last(chat)).length > 0);
  });
}

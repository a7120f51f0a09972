// The messages that a page accepts from its storage, compared with those that the server accepts in a post.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { validateMessages } from '../out/validate/index.js';
import { program } from '../testing/programs.mjs';

const text = (content) => ({ type: 'text', text: content });
const call = (id, state, more) => ({ type: 'tool-order_status', toolCallId: id, state, input: { order: 17 }, ...more });
const CONVERSATION = [
  {
    id: 'q1',
    role: 'user',
    parts: [text('Where is order 17?'), { type: 'file', mediaType: 'image/png', url: 'data:,', filename: 'a.png' }],
  },
  {
    id: 'a1',
    role: 'assistant',
    metadata: { usage: 1 },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'It may be sent.', providerMetadata: { demo: {} } },
      call('c1', 'output-available', { output: 'sent', preliminary: false, providerExecuted: true }),
      call('c2', 'output-error', { errorText: 'not found', resultProviderMetadata: {} }),
      call('c3', 'approval-requested', { approval: { id: 'p1' } }),
      call('c4', 'approval-responded', { approval: { id: 'p2', approved: true } }),
      call('c5', 'output-denied', { approval: { id: 'p3', approved: false, reason: 'no' } }),
      call('c6', 'input-streaming'),
      { ...call('c7', 'input-available', { callProviderMetadata: {} }), type: 'dynamic-tool', toolName: 'navigate' },
      { type: 'source-url', sourceId: 's1', url: 'https://h.test', title: 'H' },
      { type: 'source-document', sourceId: 's2', mediaType: 'text/plain', title: 'T', filename: 'a.txt' },
      { type: 'data-ui-state', id: 'd1', data: { count: 1 } },
      { type: 'future', any: [1] },
    ],
  },
  { id: 'q2', role: 'user', content: 'And order 18?' },
  { id: 'n1', role: 'system', parts: [text('Speak of tea.')] },
];

test('a conversation is accepted, and its messages get an id and parts', () => {
  const { messages } = validateMessages([...CONVERSATION, { role: 'user', content: 'Hi' }, { id: 'x', role: 'critic' }]);
  assert.equal(messages.length, 5);
  assert.deepEqual(messages[1], CONVERSATION[1]);
  assert.deepEqual(messages[4], { id: 'msg-4', role: 'user', parts: [text('Hi')] });
});

test('an error names the place and what is expected', () => {
  for (const [path, expected, change] of [
    ['messages', 'an array of messages', () => ({})],
    ['messages[0].parts[0].text', 'a string', (all) => (all[0].parts[0].text = 5)],
    ['messages[1].parts[5].approval.approved', 'a boolean', (all) => delete all[1].parts[5].approval.approved],
    ['messages[2].content', 'an array of parts', (all) => (all[2].content = 5)],
    ['messages[3].id', 'a unique id', (all) => (all[3].id = 'q1')],
  ]) {
    const messages = structuredClone(CONVERSATION);
    const value = path === 'messages' ? change(messages) : (change(messages), messages);
    assert.throws(() => validateMessages(value), { message: `${path}: expected ${expected}`, path });
  }
});

program('QUICKSTART_BIN', 'quickstart');

test('contract_001_16 the page and the server refuse the same messages', async (t) => {
  const server = await startQuickstart(DEMO);
  t.after(() => server.stop());
  const random = generator(18);
  const cases = Array.from({ length: 300 }, () => mutated(random));
  // The server refuses the last message, so it reads all others and starts no run.
  const sentinel = { id: 'sentinel', role: 'user', parts: [{ type: 'text', text: 0 }] };
  let refused = 0;
  const compare = async (messages) => {
    const posted = [...messages, sentinel];
    const answer = await fetch(server.api, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages: posted }),
    });
    const { error } = await answer.json();
    assert.equal(error.code, 'invalid_request', JSON.stringify(error));
    const found = pathOf(posted);
    assert.equal(found, error.path, `${error.message}\n${JSON.stringify(messages)}`);
    if (!found.startsWith(`messages[${messages.length}]`)) refused++;
  };
  for (let at = 0; at < cases.length; at += 20) await Promise.all(cases.slice(at, at + 20).map(compare));
  assert.ok(refused > 150 && refused < 290, `${refused}`);
});

function pathOf(messages) {
  try {
    validateMessages(messages);
    return 'accepted';
  } catch (error) {
    return error.path;
  }
}

const VALUES = [null, true, false, 0, 1.5, '', 'a', 'q1', 'a1', 'c1', 'c6', 'text', 'file', 'user', 'critic'];
const KINDS = ['data-x', 'tool-', 'output-error', 'output-denied', 'input-streaming', 'approval-requested', 'x-ended'];
const MORE = ['a\nb', '\u0085', '\ud800', '😀', [], {}, [0], { id: 'p' }];

/** Returns the conversation with one to three changes. */
function mutated(random) {
  const messages = structuredClone(CONVERSATION);
  for (let left = 1 + random(3); left > 0; left--) {
    const places = [];
    collect({ messages }, 'messages', places);
    const [parent, key] = places[random(places.length)];
    const all = [...VALUES, ...KINDS, ...MORE];
    const kind = random(8);
    if (kind === 0 && Array.isArray(parent)) parent.push(structuredClone(parent[key]));
    else if (kind === 1 && !Array.isArray(parent)) delete parent[key];
    else if (kind === 2 && Array.isArray(parent)) parent.splice(key, 1);
    else if (parent[key] !== messages) parent[key] = structuredClone(all[random(all.length)]);
  }
  return messages;
}

function collect(parent, key, places) {
  places.push([parent, key]);
  const value = parent[key];
  if (typeof value !== 'object' || value === null || /input|output|data|metadata/i.test(key)) return;
  for (const each of Object.keys(value)) collect(value, Array.isArray(value) ? Number(each) : each, places);
}

/** Returns a function that returns the next number below its argument. */
function generator(seed) {
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

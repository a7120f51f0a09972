// Random runs and their replays. The official chats must assemble the same parts from both, and call no tool of the page
// from a replay.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';

import { readStreams } from '../lib/streams.mjs';
import { plain } from './chat.mjs';

const state = () => ({
  status: 'ready',
  messages: [],
  pushMessage(message) { this.messages = [...this.messages, message]; },
  popMessage() { this.messages = this.messages.slice(0, -1); },
  replaceMessage(index, message) { this.messages = this.messages.map((old, at) => (at === index ? message : old)); },
  snapshot: (value) => structuredClone(value),
});

/** Returns the parts and the number of tool calls of a chat that reads `body`. */
async function read(ai, body, resume) {
  class Chat extends ai.AbstractChat {}
  let calls = 0;
  const chat = new Chat({
    state: state(),
    transport: new ai.DefaultChatTransport({ fetch: async () => new Response(body) }),
    onToolCall: () => { calls += 1; },
    onError: () => {},
  });
  await (resume ? chat.resumeStream() : chat.sendMessage({ text: 'Hi' }));
  const answer = chat.messages.find(({ role }) => role === 'assistant');
  return { parts: (answer?.parts ?? []).map(plain), calls };
}

for (const [version, ai] of Object.entries({ 5: ai5, 6: ai6, 7: ai7 })) {
  test(`v${version} · replays`, async () => {
    let calls = 0;
    for (const [index, { live, replay }] of readStreams('ai-sdk-replays.jsonl').entries()) {
      const first = await read(ai, live[version], false);
      const second = await read(ai, replay[version], true);
      assert.deepEqual(second.parts, first.parts, `run ${index}`);
      assert.equal(second.calls, 0, `run ${index}`);
      calls += first.calls;
    }
    assert.ok(calls > 0, 'the live runs call tools');
  });
}

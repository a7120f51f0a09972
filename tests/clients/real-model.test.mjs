// A real model behind a real HTTP API, with the newest version of the AI SDK's chat. The tests check structure, but not
// the wording.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { real, startWithRealModel } from '../lib/real-model.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';

const ANSWER_MS = 150_000;
const options = { timeout: 2 * ANSWER_MS };
const ai = versions.v7;

let app;
before(async () => {
  app = await startWithRealModel();
});
after(() => app?.stop());

test('server tool: its result is in the answer', options, async () => {
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: real.lookUp.question });
  assert.equal(chat.status, 'ready', chat.error?.message);
  const part = toolParts(last(chat)).find((part) => part.type === `tool-${real.lookUp.tool}`);
  assert.equal(part?.state, 'output-available', JSON.stringify(last(chat).parts));
  assert.equal(part.input.order_id, real.lookUp.order);
  assert.ok(textOf(last(chat)).toLowerCase().includes(part.output.status), textOf(last(chat)));
});

test('usage of all steps', options, async () => {
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: real.lookUp.question });
  const usage = last(chat).metadata?.usage;
  assert.ok(usage?.inputTokens > 0 && usage.outputTokens > 0, JSON.stringify(usage));
});

test('client tool: the run continues after its result, in one message', options, async () => {
  const ran = [];
  const chat = openChat(ai, app.api, {
    pageTools: { [real.navigate.tool]: (input) => (ran.push(input), { opened: 'Customers' }) },
  });
  await chat.sendMessage({ text: real.navigate.question });
  await until(() => chat.status === 'ready' && textOf(last(chat)) !== '', 'the answer', ANSWER_MS);
  assert.equal(ran[0]?.page, real.navigate.page);
  assert.equal(chat.messages.length, 2);
});

test('stop, and the next message works', options, async () => {
  const chat = openChat(ai, app.api);
  const sending = chat.sendMessage({ text: real.long.question });
  await until(() => chat.messages.length === 2 && textOf(last(chat)).length > 20, 'the text begins', ANSWER_MS);
  await chat.stop();
  await sending;
  assert.equal(chat.status, 'ready');
  await chat.sendMessage({ text: real.lookUp.question });
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.equal(chat.messages.length, 4);
});

// Decisions of the user while the chat is loaded again, as after a word of another tab. The server stores the chat.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createChat, tab, text, until } from '../testing/chat.mjs';
import { tools } from '../../tests/lib/app.mjs';
import { startScripted } from '../../tests/lib/fake-openai.mjs';
import { openai, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { program } from '../testing/programs.mjs';

program('QUICKSTART_BIN', 'quickstart');

const start = () => startScripted((model) => startQuickstart(openai('openai', model.baseUrl), { stored: true }));
const call = ({ messages }) => messages.at(-1).parts.find(({ toolCallId }) => toolCallId);

/** Holds the second answer with the messages of a chat. Returns a promise of its request, and what lets it go on. */
function holdMessages(t) {
  let asked;
  let go;
  const held = new Promise((resolve) => (go = resolve));
  const isAsked = new Promise((resolve) => (asked = resolve));
  const { fetch } = globalThis;
  t.after(() => (globalThis.fetch = fetch));
  let requests = 0;
  globalThis.fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!String(url).includes('/messages') || (requests += 1) !== 2) return response;
    asked();
    await held;
    return response;
  };
  return { isAsked, go };
}

for (const approved of [true, false]) {
  test(`a call that is ${approved ? 'approved' : 'denied'} while the chat is loaded again is posted`, async (t) => {
    const app = await start();
    t.after(app.stop);
    app.model.script({ calls: [{ id: 'call_r', ...tools.refund }] }, { text: 'I see.' });
    const open = async (create, chatId) => {
      const chat = create({ api: app.api, persist: 'none', chatId });
      t.after(() => chat.close());
      await chat.ready;
      return chat;
    };
    const one = await open(createChat);
    await one.sendMessage({ text: 'Refund' });
    const { isAsked, go } = holdMessages(t);
    // The other tab loads the chat, and says that it is there.
    const two = await open((await tab()).createChat, one.chatId);
    await isAsked;
    const decided = one.approve(call(one), approved);
    await until(one, () => call(one).state === 'approval-responded');
    go();
    await decided;
    for (const [name, chat] of Object.entries({ one, two })) await until(chat, () => text(chat.messages.at(-1)) === 'I see.', name);
    assert.equal(call(one).state, approved ? 'output-available' : 'output-denied');
    assert.equal(app.model.requests.length, 2);
    const order = await (await fetch(`${app.origin}/api/orders/1002`)).json();
    assert.equal(order.refunded === order.total, approved);
  });
}

test('a decision that is refused after the end of a session is posted after the user has signed in', async (t) => {
  const app = await start();
  t.after(app.stop);
  app.model.script({ calls: [{ id: 'call_r', ...tools.refund }] }, { text: 'I see.' });
  const chat = createChat({ api: app.api, persist: 'none' });
  t.after(() => chat.close());
  await chat.sendMessage({ text: 'Refund' });
  const { fetch } = globalThis;
  t.after(() => (globalThis.fetch = fetch));
  globalThis.fetch = async () => new Response('', { status: 401 });
  await chat.approve(call(chat), true);
  assert.deepEqual([chat.status, chat.error.status, chat.error.canRetry], ['error', 401, true]);
  globalThis.fetch = fetch;
  await chat.regenerate();
  assert.deepEqual([chat.status, text(chat.messages.at(-1)), call(chat).state], ['ready', 'I see.', 'output-available']);
  assert.equal(app.model.requests.length, 2);
});

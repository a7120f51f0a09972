// The headless chat under a hasty user, two chats at once, and a browser that allows little.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { answers, begins, createChat, FakeStorage, says, serve, sse, tab, text, until } from '../testing/chat.mjs';

const ends = [];
beforeEach(() => {
  globalThis.localStorage = new FakeStorage();
  globalThis.sessionStorage = new FakeStorage();
});
afterEach(async () => {
  mock.restoreAll();
  mock.timers.reset();
  for (const end of ends.splice(0).reverse()) await end();
});

async function opened(options, ...turns) {
  const server = await serve(...turns);
  const chat = createChat({ api: server.api, persist: 'local', ...options });
  ends.push(server.stop, () => chat.close());
  return { server, chat };
}

const json = (value) => [JSON.stringify(value), 'application/json'];
const STREAM = { 'content-type': 'text/event-stream' };

test('a message that is sent while a stored chat is opened goes to that chat', async () => {
  const { server, chat } = await opened({ chatId: 'c1' }, says('Here.'));
  server.isStored = true;
  const question = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Before' }] };
  const answer = { id: 'm2', role: 'assistant', parts: [{ type: 'text', text: 'Yes', state: 'done' }] };
  server.files['/assistant/threads/c1'] = json({ id: 'c1' });
  server.files['/assistant/threads/c1/messages'] = json({ messages: [question, answer], more: false });
  await chat.sendMessage({ text: 'Where is it?' });
  assert.equal(server.posts[0].id, 'c1');
  assert.deepEqual(chat.messages.map(text), ['Before', 'Yes', 'Where is it?', 'Here.']);
});

test('a new chat that is begun while the last one is loaded stays', async () => {
  localStorage.setItem('hsafaChat_assistant.currentChatId', 'c1');
  localStorage.setItem('hsafaChat_assistant.chat.c1', JSON.stringify({ messages: [{ id: 'm', role: 'user', content: 'Old' }] }));
  const { chat } = await opened({});
  await until(chat, () => chat.chatId);
  chat.newChat();
  await chat.ready;
  assert.deepEqual([chat.chatId === 'c1', chat.messages.length], [false, 0]);
});

test('a new chat that is begun before the engine is loaded gets the next question', async () => {
  localStorage.setItem('hsafaChat_assistant.currentChatId', 'c1');
  localStorage.setItem('hsafaChat_assistant.chat.c1', JSON.stringify({ messages: [{ id: 'm', role: 'user', content: 'Old' }] }));
  const { server, chat } = await opened({}, says('Here.'));
  chat.newChat();
  await chat.sendMessage({ text: 'Where is it?' });
  assert.deepEqual(chat.messages.map(text), ['Where is it?', 'Here.']);
  assert.deepEqual(server.posts[0].messages.map(text), ['Where is it?']);
});

test('an answer that was stopped while a tool of the page ran does not go on after a reload', async () => {
  const { server, chat } = await opened({}, answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'ask', input: {} }));
  let isRunning = false;
  chat.registerTool({ name: 'ask', description: 'Asks' }, () => new Promise(() => (isRunning = true)));
  const sent = chat.sendMessage({ text: 'Hi' });
  await until(chat, () => isRunning);
  await new Promise((next) => setTimeout(next, 100));
  chat.stop();
  await sent;
  chat.close();
  const next = createChat({ api: server.api, persist: 'local' });
  ends.push(() => next.close());
  await next.ready;
  assert.deepEqual([next.messages.length, next.status, next.messages.at(-1).parts.at(-1).state], [2, 'ready', 'input-available']);
  assert.equal(server.posts.length, 1);
});

test('two clicks on one button send one request', async () => {
  const { server, chat } = await opened({}, says('One'), says('Two'), says('Three'));
  await Promise.all([chat.sendMessage({ text: 'Hi' }), chat.sendMessage({ text: 'Hi' })]);
  await Promise.all([chat.regenerate(), chat.regenerate()]);
  const { id } = chat.messages[0];
  await Promise.all([chat.edit(id, 'Hello'), chat.edit(id, 'Hello')]);
  assert.deepEqual([server.posts.length, chat.messages.map(text)], [3, ['Hello', 'Three']]);
});

test('the open chat goes on if it is opened again', async () => {
  let given;
  const response = new Promise((resolve) => (given = resolve));
  const { chat } = await opened({}, begins(given, { type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Half' }));
  const sent = chat.sendMessage({ text: 'Hi' });
  await until(chat, () => text(chat.messages.at(-1)) === 'Half');
  await chat.setChatId(chat.chatId);
  (await response).end(sse({ type: 'text-delta', id: 't', delta: ' and half' }, { type: 'text-end', id: 't' }, { type: 'finish' }));
  await sent;
  assert.deepEqual([text(chat.messages.at(-1)), chat.isIncomplete(chat.messages.at(-1).id)], ['Half and half', false]);
});

test('an answer that another chat interrupts is incomplete when its chat is opened again', async () => {
  const { chat } = await opened({}, begins(() => {}, { type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Half' }));
  void chat.sendMessage({ text: 'Hi' });
  await until(chat, () => text(chat.messages.at(-1)) === 'Half');
  const { chatId } = chat;
  await chat.setChatId('another');
  assert.equal(chat.messages.length, 0);
  await chat.setChatId(chatId);
  assert.deepEqual([text(chat.messages.at(-1)), chat.isIncomplete(chat.messages.at(-1).id)], ['Half', true]);
});

test('a chat that is deleted during its answer is gone, and the answer too', async () => {
  const { chat } = await opened({}, begins(() => {}, { type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Half' }));
  const sent = chat.sendMessage({ text: 'Hi' });
  await until(chat, () => text(chat.messages.at(-1)) === 'Half');
  await chat.deleteThread(chat.chatId);
  await sent;
  assert.deepEqual([chat.status, chat.messages.length], ['ready', 0]);
  assert.deepEqual(localStorage.keys(), ['hsafaChat_assistant.chats']);
});

test('a file that is still being read when another chat is opened is in neither chat', async () => {
  const { server, chat } = await opened({}, says('Here.'));
  await chat.ready;
  const file = new File(['x'], 'a.txt', { type: 'text/plain' });
  const asked = new Promise((begun) => (file.arrayBuffer = () => new Promise((resolve) => begun(resolve))));
  const sent = chat.sendMessage({ text: 'What is it?', files: [file] });
  const read = await asked;
  await chat.setChatId('another');
  read(new ArrayBuffer(1));
  await sent;
  assert.deepEqual([chat.messages.length, server.posts.length], [0, 0]);
});

test('the result of an action of a component does not reach another chat', async () => {
  let given;
  const response = new Promise((resolve) => (given = resolve));
  const state = (rev) => ({ type: 'data-ui-state', id: 'c1', data: { component: 'cart', rev, state: {} } });
  const shown = answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'ui_cart', input: {} }, state(1));
  const acts = (open) => given(open.writeHead(200, STREAM));
  const { chat } = await opened({}, shown, acts, says('Here.'));
  await chat.sendMessage({ text: 'Show the cart' });
  const acted = chat.dispatch('c1', 'order');
  const open = await response;
  chat.newChat();
  await chat.sendMessage({ text: 'Something else' });
  open.end(sse(state(2), { type: 'finish' }));
  await acted;
  assert.deepEqual(chat.messages.at(-1).parts.map(({ type }) => type), ['step-start', 'text']);
});

test('a chat that is too large for the storage leaves the others there', async () => {
  const { chat } = await opened({}, says('Small.'), says('x'.repeat(5_000)));
  const put = localStorage.setItem;
  localStorage.setItem = (key, value) => {
    const others = localStorage.keys().filter((one) => one !== key);
    if (others.reduce((sum, one) => sum + localStorage.getItem(one).length, value.length) > 4_000) throw new Error('full');
    put(key, value);
  };
  await chat.sendMessage({ text: 'One' });
  const first = chat.chatId;
  chat.newChat();
  await chat.sendMessage({ text: 'Two' });
  await chat.setChatId(first);
  assert.deepEqual(chat.messages.map(text), ['One', 'Small.']);
});

test('entries of another form in the list of chats are left out', async () => {
  const entries = [null, 7, { id: 'c1' }, { id: 'c2', title: 5, updatedAt: 1 }, { id: 'c3', title: 'Good', updatedAt: 1 }, { id: 'c4', title: 'Late', updatedAt: 1e20 }];
  localStorage.setItem('hsafaChat_assistant.chats', JSON.stringify(entries));
  const { chat } = await opened({});
  assert.deepEqual((await chat.threads()).threads.map(({ id }) => id), ['c3']);
  assert.deepEqual((await chat.threads({ query: 'goo' })).threads.map(({ id }) => id), ['c3']);
});

test('a page without https, storage and channels has a chat', async (t) => {
  const { BroadcastChannel } = globalThis;
  globalThis.BroadcastChannel = class {
    constructor() {
      throw new DOMException('denied', 'SecurityError');
    }
  };
  const uuid = Object.getOwnPropertyDescriptor(Crypto.prototype, 'randomUUID');
  Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined, configurable: true });
  const denied = { get: () => { throw new DOMException('denied', 'SecurityError'); }, configurable: true };
  Object.defineProperty(globalThis, 'localStorage', denied);
  t.after(() => {
    globalThis.BroadcastChannel = BroadcastChannel;
    Object.defineProperty(Crypto.prototype, 'randomUUID', uuid);
    delete globalThis.localStorage;
  });
  const { chat } = await opened({}, says('Here.'));
  await chat.sendMessage({ text: 'Where is it?' });
  assert.deepEqual(chat.messages.map(text), ['Where is it?', 'Here.']);
  assert.equal(new Set([chat.chatId, ...chat.messages.map(({ id }) => id)]).size, 3);
});

test('another tab follows an answer although the browser slows the timers of a hidden tab down', async () => {
  let given;
  const response = new Promise((resolve) => (given = resolve));
  const half = begins(given, { type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Half' });
  const { server, chat: one } = await opened({}, says('Hi'), half);
  await one.sendMessage({ text: 'Hello' });
  const two = (await tab()).createChat({ api: server.api, persist: 'local' });
  ends.push(() => two.close());
  await two.setChatId(one.chatId);
  mock.method(globalThis, 'setInterval', () => 0);
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const sent = one.sendMessage({ text: 'More' });
  await until(one, () => text(one.messages.at(-1)) === 'Half');
  mock.timers.tick(1_000);
  const open = await response;
  open.write(sse({ type: 'text-delta', id: 't', delta: ' and half' }));
  await until(two, () => two.status === 'streaming' && text(two.messages.at(-1)) === 'Half and half');
  open.end(sse({ type: 'text-end', id: 't' }, { type: 'finish' }));
  await sent;
});

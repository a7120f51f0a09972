// The headless chat where no server stores the chats: the storage of the browser, Hsafa's chats, tabs, context and files.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { answers, begins, createChat, FakeStorage, fails, page, says, serve, sse, tab, text, until } from '../testing/chat.mjs';

const ends = [];
beforeEach(() => {
  globalThis.localStorage = new FakeStorage();
  globalThis.sessionStorage = new FakeStorage();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  delete globalThis.navigator?.locks;
});

async function started(...turns) {
  const server = await serve(...turns);
  ends.push(server.stop);
  return server;
}
async function opened(server, options, create = createChat) {
  const chat = create({ api: server.api, persist: 'local', ...options });
  ends.push(() => chat.close());
  await chat.ready;
  return chat;
}

/** The chats of a user of Hsafa, as its keys and values are described. */
function hsafa(agent) {
  const chat = (id, ...messages) => localStorage.setItem(`hsafaChat_${agent}.chat.${id}`, JSON.stringify({ id, messages, agentId: agent }));
  localStorage.setItem(
    `hsafaChat_${agent}.chats`,
    JSON.stringify([
      { id: 'c1', title: 'Where is my lamp?', createdAt: 1_700_000_000_000, updatedAt: 1_700_000_001_000 },
      { id: 'c2', title: 'Refund', createdAt: 1_700_000_002_000, updatedAt: 1_700_000_003_000 },
    ]),
  );
  chat(
    'c1',
    { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Where is my lamp?' }] },
    {
      id: 'm2',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'tool-track', toolCallId: 't1', state: 'output-available', input: { id: 7 }, output: { at: 'Linz' } },
        { type: 'text', text: 'It is in Linz.', state: 'done' },
      ],
    },
  );
  chat('c2', { id: 'm3', role: 'user', content: 'Refund it' }, { role: 'tool' });
  localStorage.setItem(`hsafaChat_${agent}.currentChatId`, 'c1');
  localStorage.setItem(`hsafaChat_${agent}.showChat`, 'true');
}

test('contract_000_07 the chats of a user of Hsafa are listed, opened, searched and continued', async () => {
  hsafa('support');
  const server = await started(says('Tomorrow.'));
  const chat = await opened(server, { agent: 'support' });
  assert.equal(chat.chatId, 'c1');
  assert.deepEqual(chat.messages.map(text), ['Where is my lamp?', 'It is in Linz.']);
  const titles = async (options) => (await chat.threads(options)).threads.map(({ title }) => title);
  assert.deepEqual(await titles(), ['Refund', 'Where is my lamp?']);
  assert.deepEqual(await titles({ query: 'LINZ' }), ['Where is my lamp?'], 'messages are searched');
  await chat.sendMessage({ text: 'When does it come?' });
  assert.ok(server.requests.includes('POST /assistant/agents/support?ai-sdk=7'));
  assert.deepEqual(server.posts[0].messages[1].parts[1].output, { at: 'Linz' });
  const kept = JSON.parse(localStorage.getItem('hsafaChat_support.chat.c1'));
  assert.deepEqual([kept.id, kept.agentId, kept.messages.length], ['c1', 'support', 4]);
  const [first] = JSON.parse(localStorage.getItem('hsafaChat_support.chats'));
  assert.deepEqual([first.id, first.title, first.createdAt], ['c1', 'Where is my lamp?', 1_700_000_000_000]);
  await chat.setChatId('c2');
  assert.deepEqual(chat.messages.map(text), ['Refund it'], 'a message of an older version is read, and others are left out');
  assert.equal(localStorage.getItem('hsafaChat_support.currentChatId'), 'c2');
});

test('contract_000_07 the keys are those of Hsafa, or have the prefix of the page', async () => {
  const server = await started(says('Hi'), says('Hi'));
  const chat = await opened(server, { agent: 'a1', chatId: 'x' });
  await chat.sendMessage({ text: 'Hello' });
  assert.deepEqual(localStorage.keys().sort(), [
    'hsafaChat_a1.chat.x',
    'hsafaChat_a1.chats',
    'hsafaChat_a1.currentChatId',
  ]);
  const other = await opened(server, { storagePrefix: 'shop_', persist: 'session' });
  await other.sendMessage({ text: 'Hello' });
  assert.deepEqual(sessionStorage.keys().sort()[1], 'shop_assistant.chats');
});

test('contract_000_05 a chat is there again after a reload, with its branches; another one is not', async () => {
  const server = await started(says('One'), says('Two'), says('Three'));
  const chat = await opened(server, { persist: 'session' });
  await chat.sendMessage({ text: 'First' });
  await chat.regenerate();
  chat.close();
  const again = await opened(server, { persist: 'session' });
  assert.deepEqual([again.chatId, again.messages.map(text)], [chat.chatId, ['First', 'Two']]);
  assert.deepEqual(again.branches(again.messages[1].id), { count: 2, current: 1 });
  await again.selectBranch(again.messages[1].id, 0);
  assert.deepEqual(again.messages.map(text), ['First', 'One']);
  await again.renameThread(again.chatId, 'Named');
  assert.equal((await again.threads()).threads[0].title, 'Named');
  await again.deleteThread(again.chatId);
  assert.deepEqual([again.messages.length, (await again.threads()).threads.length], [0, 0]);
  await again.sendMessage({ text: 'Next' });
  again.newChat();
  again.close();
  const last = await opened(server, { persist: 'session' });
  assert.equal(last.messages.length, 0, 'the user began a new one');
});

test('a stored chat of another form is not opened, its text is kept, and the error names the place', async () => {
  const server = await started(says('Hello'));
  const broken = JSON.stringify({ messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 7 }] }] });
  localStorage.setItem('hsafaChat_assistant.chat.c1', broken);
  const errors = [];
  const chat = await opened(server, { chatId: 'c1', onError: ({ kind, message }) => errors.push([kind, message]) });
  assert.deepEqual(errors, [['unreadable', 'The stored chat cannot be read: messages[0].parts[0].text: expected a string']]);
  assert.deepEqual([chat.chatId, chat.messages.length, chat.error.canRetry], ['c1', 0, false]);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual([chat.status, chat.messages.map(text)], ['ready', ['Hi', 'Hello']]);
  assert.equal(localStorage.getItem('hsafaChat_assistant.chat.c1.refused'), broken);
  await chat.deleteThread('c1');
  assert.deepEqual(localStorage.keys(), ['hsafaChat_assistant.chats']);
});

for (const [what, stored] of [
  ['no JSON', '{"messages":['],
  ['no list of messages', '{"messages":5}'],
  ['an answer without a list of parts', '{"messages":[{"id":"a","role":"assistant","parts":{}}]}'],
  ['an alternative of another form', '{"messages":[],"branches":[["",[{"first":"a","leaf":"a","messages":[1]}]]]}'],
  ['branches of another form', '{"messages":[],"branches":[7]}'],
  ['ids that are no list', '{"messages":[],"cut":5}'],
]) {
  test(`a stored chat with ${what} does not end the chat`, async () => {
    const server = await started(says('Hello'));
    localStorage.setItem('hsafaChat_assistant.chat.c1', stored);
    const chat = await opened(server, { chatId: 'c1' });
    assert.equal(chat.status, 'error');
    assert.equal(localStorage.getItem('hsafaChat_assistant.chat.c1.refused'), stored);
    await chat.sendMessage({ text: 'Hi' });
    assert.deepEqual(chat.messages.map(text), ['Hi', 'Hello']);
  });
}

test('a chat whose browser lets no page read its storage answers, and lists no chats', async () => {
  const server = await started(says('Hello'));
  localStorage.getItem = () => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  const chat = await opened(server);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual(chat.messages.map(text), ['Hi', 'Hello']);
  assert.deepEqual((await chat.threads()).threads, []);
});

test('a full storage loses the oldest chats first', async () => {
  const server = await started(...Array(3).fill(says('x'.repeat(400))));
  const chat = await opened(server);
  const put = localStorage.setItem;
  const size = () => localStorage.keys().reduce((sum, key) => sum + localStorage.getItem(key).length, 0);
  localStorage.setItem = (key, value) => {
    if (size() - (localStorage.getItem(key)?.length ?? 0) + value.length > 2_000) throw new Error('full');
    put(key, value);
  };
  const made = [];
  for (const question of ['a', 'b', 'c']) {
    await chat.sendMessage({ text: question });
    made.push(chat.chatId);
    if (question !== 'c') chat.newChat();
  }
  assert.deepEqual((await chat.threads()).threads.map(({ id }) => id), made.slice(1).reverse());
});

/** A tool of the page that ends with the page, such as a navigation. */
test('an answer goes on in the next page if a tool of the page has loaded it', async () => {
  const call = answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'navigate', input: {} });
  const server = await started(call, says('You are there.'));
  const chat = await opened(server, { persist: 'session' });
  chat.registerTool({ name: 'navigate', description: 'Opens a page' }, () => new Promise(() => {}));
  void chat.sendMessage({ text: 'Open it' });
  await until(chat, () => chat.messages.at(-1)?.parts.some((part) => part.state === 'input-available'));
  chat.close();
  const next = await opened(server, { persist: 'session' });
  await until(next, () => text(next.messages.at(-1)) === 'You are there.');
  assert.match(server.posts[1].messages.at(-1).parts.at(-1).errorText, /loaded again/);
});

test('a WebMCP descriptor runs by its own execute, and a tool that nothing runs is refused', async () => {
  const call = answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'greet', input: { name: 'Ada' } });
  const server = await started(call, says('Done.'));
  const chat = await opened(server, {});
  const greet = { name: 'greet', description: 'Greets', inputSchema: { properties: { name: {} } } };
  assert.throws(() => chat.registerTool(greet), { name: 'TypeError', message: /greet/ });
  assert.throws(() => page.registerTool(greet), { name: 'TypeError', message: /greet/ });
  const remove = page.registerTool({ ...greet, execute: ({ name }) => ({ greeting: `Hello ${name}` }) });
  await chat.sendMessage({ text: 'Greet' });
  await until(chat, () => text(chat.messages.at(-1)) === 'Done.');
  remove();
  const [{ tools }, second] = server.posts;
  assert.deepEqual(tools, [{ ...greet, inputSchema: { type: 'object', ...greet.inputSchema } }]);
  assert.deepEqual(second.messages.at(-1).parts.find(({ toolCallId }) => toolCallId).output, { greeting: 'Hello Ada' });
});

const offer = (chat, name, handler = () => `${name} is done`) => chat.registerTool({ name, description: 'Does it' }, handler);
const uses = (...names) => answers(...names.map((toolName) => ({ type: 'tool-input-available', toolCallId: toolName, toolName, input: {} })));
const outputs = ({ posts }) => posts[1].messages.at(-1).parts.flatMap(({ output }) => output ?? []);

test('a handler that is registered after the answer runs the call', async () => {
  const server = await started(uses('open'), says('Open.'));
  const chat = await opened(server);
  await chat.sendMessage({ text: 'Open it' });
  assert.equal(chat.status, 'ready');
  offer(chat, 'open');
  await until(chat, () => text(chat.messages.at(-1)) === 'Open.');
  assert.deepEqual(outputs(server), ['open is done']);
});

test('a handler that is registered while another one runs runs its call after that', async () => {
  const server = await started(uses('open', 'fill'), says('Filled.'));
  const chat = await opened(server);
  offer(chat, 'open', async () => {
    await until(chat, () => chat.messages.at(-1).parts.at(-1).type === 'tool-fill');
    offer(chat, 'fill');
  });
  await chat.sendMessage({ text: 'Fill it' });
  await until(chat, () => text(chat.messages.at(-1)) === 'Filled.');
  assert.deepEqual(outputs(server), ['fill is done']);
});

test('a call that waited for its handler runs in the next page', async () => {
  const server = await started(uses('open'), says('Open.'));
  const chat = await opened(server, { persist: 'session' });
  await chat.sendMessage({ text: 'Open it' });
  chat.close();
  const next = createChat({ api: server.api, persist: 'session' });
  ends.push(() => next.close());
  offer(next, 'open');
  await until(next, () => text(next.messages.at(-1)) === 'Open.');
  assert.deepEqual(outputs(server), ['open is done']);
});

test('contract_001_26 contract_001_27 tools and context of the page and the chat go with a post', async () => {
  const server = await started(says('1'), says('2'));
  const chat = await opened(server, { body: { shop: 'vienna' } });
  const reader = () => ({ items: 2 });
  const removals = [
    page.registerContext('cart', reader),
    page.registerContext('broken', () => undefined.member),
    page.registerTool({ name: 'navigate', description: 'Opens a page' }, () => {}),
    chat.registerTool({ name: 'fill', description: 'Fills', inputSchema: { properties: { to: {} } } }, () => {}),
  ];
  const { error } = console;
  console.error = () => {};
  chat.addContext({ type: 'feature-flag', data: { beta: true }, timestamp: 1 });
  await chat.sendMessage({ text: 'One' });
  removals[2]();
  await chat.sendMessage({ text: 'Two' });
  console.error = error;
  for (const remove of removals) remove();
  const [first, second] = server.posts;
  assert.deepEqual(first.context.map(({ type, data }) => [type, data]), [
    ['feature-flag', { beta: true }],
    ['cart', { items: 2 }],
  ]);
  assert.deepEqual(second.context.map(({ type }) => type), ['cart']);
  assert.deepEqual(first.tools, [
    { name: 'navigate', description: 'Opens a page', inputSchema: { type: 'object' } },
    { name: 'fill', description: 'Fills', inputSchema: { type: 'object', properties: { to: {} } } },
  ]);
  assert.deepEqual(second.tools.map(({ name }) => name), ['fill']);
  assert.equal(first.shop, 'vienna');
  assert.deepEqual([first.id, first.trigger], [chat.chatId, 'submit-message']);
});

test('of the context that was added, the newest thousand goes to a server, which takes no more', async () => {
  const server = await started(fails(400), says('Hello'), says('Again'));
  const chat = await opened(server);
  const add = (from, to) => {
    for (let at = from; at < to; at += 1) chat.addContext({ type: 'visit', id: `v${at}`, data: at });
  };
  add(0, 1_000);
  await chat.sendMessage({ text: 'Hi' });
  add(1_000, 1_001);
  await chat.regenerate();
  add(0, 1_001);
  await chat.sendMessage({ text: 'More' });
  const sent = server.posts.map(({ context }) => [context.length, context[0].id, context.at(-1).id]);
  assert.deepEqual(sent, [[1_000, 'v0', 'v999'], [1_000, 'v1', 'v1000'], [1_000, 'v1', 'v1000']]);
});

test('context that was added is not lost with a request that fails', async () => {
  const server = await started(fails(400), says('Hi'));
  const chat = await opened(server);
  chat.addContext({ type: 'flag', data: 1 });
  await chat.sendMessage({ text: 'One' });
  await chat.sendMessage({ text: 'Two' });
  assert.deepEqual(server.posts.map(({ context }) => context.map(({ type }) => type)), [['flag'], ['flag']]);
});

test('a file of the user is sent as a data URL where no server keeps files', async () => {
  const server = await started(says('A chart.'));
  const chat = await opened(server);
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
  await chat.sendMessage({ text: 'What is it?', files: [new File([bytes], 'chart.png', { type: 'image/png' })] });
  const [file, question] = server.posts[0].messages[0].parts;
  assert.deepEqual([file.type, file.mediaType, file.filename, question.text], ['file', 'image/png', 'chart.png', 'What is it?']);
  assert.deepEqual(new Uint8Array(await (await fetch(file.url)).arrayBuffer()), bytes);
});

test('headers and credentials go with each request', async () => {
  let seen;
  const turn = (response, _, { headers }) => {
    seen = headers;
    says('Hi')(response);
  };
  const server = await started(turn, turn);
  const chat = await opened(server, { headers: async () => ({ authorization: 'Bearer t' }) });
  await chat.sendMessage({ text: 'One' });
  assert.deepEqual([seen.authorization, seen['content-type']], ['Bearer t', 'application/json']);
  await chat.fetch(chat.api, { method: 'POST', headers: { 'x-app': 'shop' }, body: '{}' });
  assert.deepEqual([seen.authorization, seen['x-app']], ['Bearer t', 'shop']);
});

test('the type of a body and the headers of a request come before those of the chat, in any letters', async () => {
  const seen = [];
  const turn = (response, _, { headers }) => {
    seen.push([headers['content-type'], headers['x-app']]);
    says('Hi')(response);
  };
  const server = await started(turn, turn);
  const chat = await opened(server, { headers: { 'Content-Type': 'application/json', 'X-App': 'shop' } });
  await chat.sendMessage({ text: 'One' });
  await chat.fetch(chat.api, { method: 'POST', headers: new Headers({ 'x-app': 'desk', 'content-type': 'text/json' }), body: '{}' });
  assert.deepEqual(seen, [['application/json', 'shop'], ['text/json', 'desk']]);
});

test('a file that cannot be read leaves the answer before it complete', async () => {
  const server = await started(says('First.'));
  const chat = await opened(server);
  await chat.sendMessage({ text: 'One' });
  const file = Object.assign(new File(['x'], 'a.txt'), { arrayBuffer: () => Promise.reject(new Error('gone')) });
  await chat.sendMessage({ text: 'Two', files: [file] });
  assert.deepEqual([chat.status, chat.isIncomplete(chat.messages.at(-1).id)], ['error', false]);
  assert.deepEqual(chat.messages.map(({ role }) => role), ['user', 'assistant']);
});

/** Replaces `fetch` for addresses with `path`. Returns the addresses that were requested. */
function intercepted(t, path, answer) {
  const requested = [];
  const real = globalThis.fetch;
  t.mock.method(globalThis, 'fetch', (url, init) => {
    if (!String(url).includes(path)) return real(url, init);
    requested.push(`${init.method} ${url}`);
    return answer(init);
  });
  return requested;
}

test('stop ends an upload that hangs', async (t) => {
  const server = await started(says('First.'));
  server.isStored = true;
  const chat = await opened(server);
  intercepted(t, '/files', ({ signal }) => new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason))));
  const sent = chat.sendMessage({ text: 'Read it', files: [new File(['x'], 'a.txt')] });
  await until(chat, () => chat.status === 'submitted');
  await new Promise((next) => setTimeout(next));
  chat.stop();
  await sent;
  assert.deepEqual([chat.status, chat.messages.length, server.posts.length], ['ready', 0, 0]);
});

test('a chat that could not be deleted is not deleted later', async (t) => {
  const server = await started();
  server.isStored = true;
  const chat = await opened(server);
  const requested = intercepted(t, '/threads/', () => Promise.reject(new TypeError('offline')));
  await assert.rejects(chat.deleteThread('c1'));
  assert.equal(requested.filter((one) => one.startsWith('DELETE')).length, 1);
});

/** The locks of a browser, which its tabs share. */
function locks() {
  const held = new Set();
  return {
    async request(name, _options, run) {
      if (held.has(name)) return run(null);
      held.add(name);
      await run({ name });
      held.delete(name);
    },
  };
}

const ASKS = answers(
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'refund_order', input: {} },
  { type: 'tool-approval-request', toolCallId: 'c1', approvalId: 'a1' },
);
const call = (chat) => chat.messages.at(-1).parts.find(({ toolCallId }) => toolCallId === 'c1');

for (const hasLocks of [true, false]) {
  test(`two tabs that answer one approval post it once, ${hasLocks ? 'at the same moment' : 'one after the other'}`, async () => {
    if (hasLocks) Object.defineProperty(globalThis, 'navigator', { value: { locks: locks() }, configurable: true });
    const server = await started(ASKS, says('Refunded.'), says('Refunded twice.'));
    const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
    await one.sendMessage({ text: 'Refund it' });
    await two.setChatId(one.chatId);
    assert.equal(two.isOpen(call(two)), true);
    if (hasLocks) await Promise.all([one.approve(call(one), true), two.approve(call(two), true)]);
    else {
      const sent = one.approve(call(one), true);
      await until(two, () => call(two).state === 'approval-responded', 'the decision shows in the other tab');
      await Promise.all([sent, two.approve(call(two), false)]);
    }
    for (const chat of [one, two]) await until(chat, () => text(chat.messages.at(-1)) === 'Refunded.' && chat.status === 'ready');
    assert.equal(server.posts.length, 2, 'the question and one decision');
    assert.equal(call(two).approval.approved, true);
    assert.equal(server.posts[1].messageId, one.messages.at(-1).id, 'the post continues the answer');
    if (hasLocks) delete globalThis.navigator;
  });
}

test('a decision shows in the other tab before all calls of the answer are decided', async () => {
  const asks = ['c1', 'c2'].flatMap((toolCallId) => [
    { type: 'tool-input-available', toolCallId, toolName: 'refund_order', input: {} },
    { type: 'tool-approval-request', toolCallId, approvalId: `a${toolCallId}` },
  ]);
  const server = await started(answers(...asks), says('Refunded.'));
  const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
  await one.sendMessage({ text: 'Refund both' });
  await two.setChatId(one.chatId);
  await one.approve(call(one), false, { reason: 'Too late' });
  await until(two, () => call(two)?.approval?.approved === false && call(two).approval.reason === 'Too late');
  assert.equal(two.isOpen(call(two)), false);
  assert.equal(server.posts.length, 1, 'the other call waits');
  await two.approve(two.messages.at(-1).parts.at(-1), true);
  const decisions = server.posts[1].messages.at(-1).parts.flatMap(({ approval }) => approval?.approved ?? []);
  assert.deepEqual(decisions, [false, true]);
});

test('edited arguments go with the decision, beside those that the server has asked about', async () => {
  const server = await started(ASKS, says('Refunded.'));
  const chat = await opened(server);
  await chat.sendMessage({ text: 'Refund it' });
  await chat.approve(call(chat), true, { input: { amount: 5 } });
  const part = server.posts[1].messages.at(-1).parts.find(({ toolCallId }) => toolCallId === 'c1');
  assert.deepEqual([part.input, part.approval], [{}, { id: 'a1', approved: true, arguments: { amount: 5 } }]);
});

test('another tab shows an answer while it arrives, stops it, and forgets a chat that was deleted', async () => {
  let given;
  const response = new Promise((resolve) => (given = resolve));
  const half = [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Half' },
  ];
  const server = await started(says('Hi'), begins(given, ...half));
  const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
  await one.sendMessage({ text: 'Hello' });
  await two.setChatId(one.chatId);
  const sent = one.sendMessage({ text: 'More' });
  await until(two, () => two.status === 'streaming' && text(two.messages.at(-1)) === 'Half');
  await two.sendMessage({ text: 'Too early' });
  const closed = (await response).once('close', () => {});
  two.stop();
  await sent;
  await until(two, () => two.status === 'ready');
  assert.ok(closed);
  assert.equal(two.isIncomplete(two.messages.at(-1).id), true);
  assert.equal(server.posts.length, 2);
  await one.deleteThread(one.chatId);
  await until(two, () => two.messages.length === 0);
});

for (const [what, leave] of [
  ['a new chat', (chat) => chat.newChat()],
  ['another chat', (chat) => chat.setChatId('c9')],
]) {
  test(`${what} in one tab does not stop the answer of another tab`, async () => {
    let given;
    const response = new Promise((resolve) => (given = resolve));
    const half = [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Half' },
    ];
    const server = await started(says('Hi'), begins(given, ...half));
    const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
    await one.sendMessage({ text: 'Hello' });
    await two.setChatId(one.chatId);
    const sent = one.sendMessage({ text: 'More' });
    await until(two, () => two.status === 'streaming' && text(two.messages.at(-1)) === 'Half');
    await leave(two);
    await new Promise((next) => setTimeout(next, 100));
    (await response).end(sse({ type: 'text-delta', id: 't', delta: ' and half' }, { type: 'text-end', id: 't' }, { type: 'finish' }));
    await sent;
    assert.deepEqual([text(one.messages.at(-1)), one.isIncomplete(one.messages.at(-1).id)], ['Half and half', false]);
    assert.equal(two.messages.length, 0);
  });
}

const HALF = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Two' },
];
/** Lets the time end soon after which a silent tab counts as closed. */
function impatient() {
  const { setTimeout } = globalThis;
  mock.method(globalThis, 'setTimeout', (run, ms, ...values) => setTimeout(run, ms === 5_000 ? 600 : ms, ...values));
  ends.push(() => mock.restoreAll());
}

test('an answer of another tab that is closed meanwhile is incomplete, and can be asked for again', async () => {
  impatient();
  const server = await started(says('Hi'), begins(() => {}, ...HALF), says('Whole'));
  const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
  await one.sendMessage({ text: 'Hello' });
  await two.setChatId(one.chatId);
  void one.sendMessage({ text: 'More' });
  await until(two, () => two.status === 'streaming' && text(two.messages.at(-1)) === 'Two');
  one.close();
  await until(two, () => two.status === 'ready');
  assert.equal(two.isIncomplete(two.messages.at(-1).id), true);
  await two.regenerate();
  assert.deepEqual(two.messages.map(text), ['Hello', 'Hi', 'More', 'Whole']);
  assert.equal(two.isIncomplete(two.messages.at(-1).id), false);
});

test('a question that the server has refused in another tab has no answer, and can be asked again', async () => {
  const server = await started(says('Hi'), fails(400, {}, '{"error":{"message":"No."}}'), says('Yes'));
  const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
  await one.sendMessage({ text: 'Hello' });
  await two.setChatId(one.chatId);
  await one.sendMessage({ text: 'More' });
  await until(two, () => text(two.messages.at(-1)) === 'More' && two.status !== 'submitted');
  // The reason is in the other tab.
  assert.deepEqual([two.status, two.error], ['ready', undefined]);
  await two.regenerate();
  assert.deepEqual(two.messages.map(text), ['Hello', 'Hi', 'More', 'Yes']);
});

test('a tab that shows the answer of another tab keeps the other versions of the chat', async () => {
  const server = await started(says('One'), says('Two'));
  const [one, two] = [await opened(server), await opened(server, {}, (await tab()).createChat)];
  await one.sendMessage({ text: 'Hello' });
  await two.setChatId(one.chatId);
  await one.regenerate();
  await until(two, () => two.status === 'ready' && text(two.messages.at(-1)) === 'Two');
  assert.deepEqual(two.branches(two.messages[1].id), { count: 2, current: 1 });
  const again = await opened(server, { chatId: one.chatId }, (await tab()).createChat);
  assert.deepEqual(again.branches(again.messages[1].id), { count: 2, current: 1 });
  await two.selectBranch(two.messages[1].id, 0);
  assert.deepEqual(two.messages.map(text), ['Hello', 'One']);
});

/** The events of a window, which Node.js does not have. */
function windowEvents() {
  const events = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener']) globalThis[name] = events[name].bind(events);
  ends.push(() => {
    for (const name of ['addEventListener', 'removeEventListener']) delete globalThis[name];
  });
  return events;
}

for (const [what, turn] of [
  ['a page', says('Two')],
  ['a page that was left within an answer', begins(() => {}, ...HALF)],
]) {
  test(`${what} to which the user comes back shows and keeps what later pages have added to the chat`, async () => {
    const events = windowEvents();
    // Safari gives a page that it keeps no messages of others.
    const { BroadcastChannel } = globalThis;
    delete globalThis.BroadcastChannel;
    ends.push(() => (globalThis.BroadcastChannel = BroadcastChannel));
    const server = await started(turn, says('Four'), says('Six'));
    const options = { persist: 'session' };
    const first = await opened(server, options);
    void first.sendMessage({ text: 'One' });
    await until(first, () => text(first.messages[1]) === 'Two' && first.status === (what === 'a page' ? 'ready' : 'streaming'));
    events.dispatchEvent(new Event('pagehide'));
    const second = await opened(server, options);
    await second.sendMessage({ text: 'Three' });
    second.close();
    events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    assert.deepEqual(first.messages.map(text).slice(2), ['Three', 'Four']);
    assert.equal(first.status, 'ready');
    await first.sendMessage({ text: 'Five' });
    const third = await opened(server, options);
    assert.deepEqual(third.messages.map(text).slice(2), ['Three', 'Four', 'Five', 'Six']);
  });
}

test('contract_000_16 unknown chunks and any line ends are read', async () => {
  const server = await started((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = sse({ type: 'start', messageId: 'm' }, { type: 'future', x: 1 }, { type: 'text-start', id: 't' });
    response.write(events.replaceAll('\n', '\r\n'));
    response.write(': keep-alive\r\rdata:{"type":"text-delta",\rdata: "id":"t","delta":"Grüße"}\r\r');
    response.end(`${sse({ type: 'text-end', id: 't' }, { type: 'finish' })}data: [DONE]\n\n`);
  });
  const chat = await opened(server);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual([chat.messages[1].id, text(chat.messages[1]), chat.status], ['m', 'Grüße', 'ready']);
});

test('an action of a component changes its state, and one that fails rejects', async () => {
  const state = (rev, extra) => ({ type: 'data-ui-state', id: 'c1', data: { component: 'cart', rev, state: { count: 1 }, seal: `s${rev}`, ...extra } });
  const shown = answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'ui_cart', input: {} }, state(1));
  const event = (type, data) => ({ type: 'data-ui-event', data: { instanceId: 'c1', type, data }, transient: true });
  const acts = (...chunks) => (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sse(...chunks));
  const server = await started(
    shown,
    acts(state(2, { server: { ordered: true } }), event('result', { ok: true }), { type: 'finish' }),
    acts(event('error', 'The shop is closed.'), { type: 'finish' }),
  );
  const chat = await opened(server);
  await chat.sendMessage({ text: 'Show the cart' });
  chat.setState('c1', { count: 2 });
  assert.deepEqual(chat.state('c1'), { count: 2 });
  await chat.dispatch('c1', 'order', { express: true });
  assert.equal(server.requests.at(-1), 'POST /assistant/ui/c1/order?ai-sdk=7');
  assert.deepEqual(server.posts.at(-1), {
    chatId: chat.chatId, component: 'cart', rev: 1, state: { count: 2 }, seal: 's1', payload: { express: true },
  });
  const parts = chat.messages[1].parts.filter(({ type }) => type.startsWith('data-'));
  assert.deepEqual(parts.map(({ data }) => [data.rev, data.server]), [[2, { ordered: true }]]);
  await assert.rejects(chat.dispatch('c1', 'order'), { kind: 'failed', message: 'The shop is closed.' });
  assert.equal(chat.status, 'ready', 'the conversation is not concerned');
});

test('a file goes to a server with files, and one that is refused is not sent with the question', async () => {
  const server = await started(says('A chart.'));
  server.isStored = true;
  const part = { type: 'file', url: '/assistant/files/file_1', mediaType: 'image/png', filename: 'a b.png' };
  server.files['/assistant/files?filename=a%20b.png'] = [JSON.stringify({ files: [part] }), 'application/json'];
  const chat = await opened(server);
  await chat.sendMessage({ text: 'What is it?', files: [new File(['x'], 'a b.png', { type: 'image/png' })] });
  assert.deepEqual(server.posts[0].messages[0].parts, [part, { type: 'text', text: 'What is it?' }]);
  await chat.sendMessage({ text: 'And this?', files: [new File(['x'], 'big.png', { type: 'image/png' })] });
  assert.deepEqual([chat.error.kind, chat.error.status, chat.error.message], ['refused', 413, 'The file is too large.']);
  assert.equal(chat.messages.length, 2);
});

test('the replay of an answer takes the place of what the loaded messages have of it', async () => {
  const server = await started();
  server.isStored = true;
  const json = (value) => [JSON.stringify(value), 'application/json'];
  const half = { id: 'm2', role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: 'Half', state: 'done' }] };
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }, half];
  const delta = { type: 'text-delta', id: 't', delta: 'Half and half' };
  const chunks = [{ type: 'start', messageId: 'm2' }, { type: 'start-step' }, { type: 'text-start', id: 't' }, delta];
  Object.assign(server.files, {
    '/assistant/threads/c1': json({ id: 'c1', run: { state: 'running' } }),
    '/assistant/threads/c1/messages': json({ messages, more: false }),
    '/assistant/c1/stream?ai-sdk=7': [sse(...chunks, { type: 'text-end', id: 't' }, { type: 'finish' }), 'text/event-stream'],
  });
  const chat = await opened(server, { chatId: 'c1' });
  await until(chat, () => chat.status === 'ready');
  assert.deepEqual(chat.messages.map(text), ['Hi', 'Half and half']);
});

test('a stored chat that is deleted while its answer is cut becomes a new chat', async () => {
  const cut = begins((response) => setTimeout(() => response.destroy()), { type: 'text-start', id: 't' });
  const server = await started(cut, says('Hi'));
  server.isStored = true;
  const json = (value) => [JSON.stringify(value), 'application/json'];
  Object.assign(server.files, {
    '/assistant/threads/c1': json({ id: 'c1' }),
    '/assistant/threads/c1/messages': json({ messages: [], more: false }),
  });
  const chat = await opened(server, { chatId: 'c1' });
  await until(chat, () => chat.status === 'ready');
  server.files = {};
  await chat.sendMessage({ text: 'Hello' });
  assert.deepEqual([chat.status, chat.messages.length], ['ready', 0]);
  assert.notEqual(chat.chatId, 'c1');
  await chat.sendMessage({ text: 'Hello again' });
  assert.deepEqual(chat.messages.map(text), ['Hello again', 'Hi']);
});

test('a long chat shows its newest messages first, and then the older ones', async () => {
  const server = await started();
  server.isStored = true;
  const json = (value) => [JSON.stringify(value), 'application/json'];
  const page = (from, count) => ({
    messages: Array.from({ length: count }, (_, at) => ({ id: `m${from + at}`, role: 'user', parts: [{ type: 'text', text: `${from + at}` }] })),
    more: from > 0,
  });
  Object.assign(server.files, {
    '/assistant/threads/c1': json({ id: 'c1' }),
    '/assistant/threads/c1/messages': json(page(1_100, 100)),
    '/assistant/threads/c1/messages?limit=1000&before=m1100': json(page(100, 1_000)),
    '/assistant/threads/c1/messages?limit=1000&before=m100': json(page(0, 100)),
  });
  const lengths = new Set();
  const chat = createChat({ api: server.api, persist: 'none', chatId: 'c1' });
  ends.push(() => chat.close());
  chat.subscribe(() => lengths.add(chat.messages.length));
  await until(chat, () => chat.messages.length === 1_200);
  assert.deepEqual([...lengths].filter(Boolean), [100, 1_100, 1_200]);
  assert.deepEqual(chat.messages.map(text), Array.from({ length: 1_200 }, (_, at) => `${at}`));
});

test('an answer that a filter or its length ended has the reason', async () => {
  const finish = (finishReason) => (response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(sse({ type: 'start' }, { type: 'finish', finishReason, messageMetadata: { usage: { outputTokens: 0 } } }));
  const server = await started(...['content-filter', 'length', 'stop'].map(finish));
  const chat = await opened(server);
  for (const reason of ['content-filter', 'length', undefined]) {
    await chat.sendMessage({ text: 'Go on' });
    const { parts, metadata } = chat.messages.at(-1);
    assert.deepEqual([chat.status, parts, metadata.finishReason, metadata.usage], ['ready', [], reason, { outputTokens: 0 }]);
  }
});

test('contract_003 each kind of chunk becomes the part that the AI SDK makes of it', async () => {
  const call = (id, ...rest) => [
    { type: 'tool-input-start', toolCallId: id, toolName: 'add', title: 'Add' },
    { type: 'tool-input-delta', toolCallId: id, inputTextDelta: '{"a":' },
    { type: 'tool-input-delta', toolCallId: id, inputTextDelta: '1}' },
    ...rest.map((chunk) => ({ toolCallId: id, ...chunk })),
  ];
  const input = { type: 'tool-input-available', toolName: 'add', input: { a: 1 }, providerMetadata: { o: { seal: 's' } } };
  const server = await started(
    answers(
      ...call('done', input, { type: 'tool-output-available', output: 1, preliminary: true }, { type: 'tool-output-available', output: 2 }),
      ...call('failed', input, { type: 'tool-output-available', output: 1, preliminary: true }, { type: 'tool-output-error', errorText: 'Broken' }),
      ...call('wrong', { type: 'tool-input-error', toolName: 'add', input: '{', errorText: 'No JSON' }),
      ...call('denied', input, { type: 'tool-approval-request', approvalId: 'x', reason: 'Add?' }),
      { type: 'tool-approval-response', approvalId: 'x', approved: false, reason: 'No' },
      ...call('refused', input, { type: 'tool-output-denied' }),
      ...call('again', { type: 'tool-output-available', output: 3 }),
      { type: 'tool-input-available', toolCallId: 'dyn', toolName: 'far', dynamic: true, input: {} },
      { type: 'source-url', sourceId: 's1', url: 'https://a.example' },
      { type: 'data-note', id: 'n', data: 1 },
      { type: 'data-note', id: 'n', data: 2 },
      { type: 'data-toast', data: 3, transient: true },
      { type: 'message-metadata', messageMetadata: { a: { b: 1 } } },
      { type: 'message-metadata', messageMetadata: { a: { c: 2 } } },
    ),
  );
  const chat = await opened(server);
  await chat.sendMessage({ text: 'Add' });
  const { parts, metadata } = JSON.parse(JSON.stringify(chat.messages[1]));
  const tool = { type: 'tool-add', title: 'Add', input: { a: 1 } };
  const sealed = { ...tool, callProviderMetadata: { o: { seal: 's' } } };
  assert.deepEqual(parts, [
    { type: 'step-start' },
    { ...sealed, toolCallId: 'done', state: 'output-available', output: 2 },
    { ...sealed, toolCallId: 'failed', state: 'output-error', errorText: 'Broken' },
    { ...tool, input: '{', toolCallId: 'wrong', state: 'output-error', errorText: 'No JSON' },
    {
      ...sealed,
      toolCallId: 'denied',
      state: 'approval-responded',
      approval: { id: 'x', requestReason: 'Add?', approved: false, reason: 'No' },
    },
    { ...sealed, toolCallId: 'refused', state: 'output-denied' },
    { ...tool, toolCallId: 'again', state: 'output-available', output: 3 },
    { type: 'dynamic-tool', toolName: 'far', toolCallId: 'dyn', state: 'input-available', input: {} },
    { type: 'source-url', sourceId: 's1', url: 'https://a.example' },
    { type: 'data-note', id: 'n', data: 2 },
  ]);
  assert.deepEqual(metadata, { a: { b: 1, c: 2 } });
});

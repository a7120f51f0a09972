// The headless chat with a server that stores its chats and fails: what is not lost, and what does not happen twice.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { answer, begins, createChat, FakeStorage, fails, pauses, question, says, serveStored, sse, tab, text, textPart, until } from '../testing/chat.mjs';

beforeEach(() => {
  globalThis.sessionStorage = new FakeStorage();
});

async function served(t, ...turns) {
  const server = await serveStored(...turns);
  t.after(server.stop);
  const open = async (options, create = createChat) => {
    const chat = create({ api: server.api, persist: 'none', chatId: 'c1', ...options });
    t.after(() => chat.close());
    await chat.ready;
    return chat;
  };
  return { server, store: server.store, open };
}

const STREAM = { 'content-type': 'text/event-stream' };
/** An answer without a second try. */
const LATER = { 'retry-after': '3600' };
const REFUSED = fails(429, { ...LATER, 'content-type': 'application/json' }, '{"error":{"message":"Slow down."}}');
const FIRST = [question('q1', 'One'), answer('a1', textPart('First'))];
const texts = ({ messages }) => messages.map(text);
function resolvers() {
  let resolve;
  return { promise: new Promise((done) => (resolve = done)), resolve: (value) => resolve(value) };
}

/** Resolves as soon as `test` returns a truthy value, for what a chat does not report. */
const eventually = (test) => {
  const subscribe = (look) => clearInterval.bind(undefined, setInterval(look, 10));
  return until({ messages: [], subscribe }, test);
};
/** Resolves when requests and answers that are under way have arrived. */
const quiet = () => new Promise((done) => setTimeout(done, 150));

test('a stored chat that the host sends on to its page that signs in is loaded once the user has signed in', async (t) => {
  const { server, store, open } = await served(t);
  store.messages = FIRST;
  const to = (location) => Object.defineProperty(server.files, '/assistant/threads/c1', {
    get: () => location ? (response) => response.writeHead(302, { location }).end() : [JSON.stringify({ id: 'c1' }), 'application/json'],
    configurable: true,
  });
  server.files['/login'] = ['<h1>Please sign in</h1>', 'text/html'];
  to('/login');
  const chat = await open();
  assert.deepEqual([chat.status, chat.error.kind, chat.error.status], ['error', 'refused', 401]);
  to('');
  await chat.regenerate();
  assert.deepEqual(texts(chat), ['One', 'First']);
});

test('a question that was not sent stays, with its error, when another tab opens the chat', async (t) => {
  const { server, store, open } = await served(t, REFUSED, says('Second'));
  store.messages = FIRST;
  const one = await open();
  await one.sendMessage({ text: 'Two' });
  const statuses = [];
  one.subscribe(() => statuses.push(one.status));
  const two = await open({}, (await tab()).createChat);
  await two.setChatId('c1');
  await until(one, () => statuses.includes('submitted') && statuses.at(-1) !== 'submitted');
  assert.deepEqual([texts(one), one.status, one.error?.status], [['One', 'First', 'Two'], 'error', 429]);
  await one.regenerate();
  assert.deepEqual([texts(one), server.posts.length], [['One', 'First', 'Two', 'Second'], 2]);
});

for (const [what, messages] of [['a stored chat', FIRST], ['a new chat', []]]) {
  test(`a question of ${what} that was not sent is there after a reload, and is sent when the user tries again`, async (t) => {
    const { server, store, open } = await served(t, REFUSED, says('Second'));
    store.messages = messages;
    const chat = await open({ persist: 'session' });
    await chat.sendMessage({ text: 'Two' });
    chat.close();
    const again = await open({ persist: 'session' });
    await until(again, () => again.status === 'error');
    assert.deepEqual([texts(again), again.error.canRetry], [[...messages.map(text), 'Two'], true]);
    await again.regenerate();
    assert.deepEqual([texts(again).slice(-2), server.posts.length], [['Two', 'Second'], 2]);
    again.close();
    store.messages = [...messages, question(again.messages.at(-2).id, 'Two'), answer('a2', textPart('Second'))];
    assert.deepEqual(texts(await open({ persist: 'session' })), store.messages.map(text));
  });
}

for (const [what, refusal] of [
  ['was refused because of it', fails(409, { 'content-type': 'application/json' }, '{"error":{"code":"chat_busy","message":"Busy."}}')],
  ['did not reach the server', fails(503, LATER)],
]) {
  test(`a question that ${what} follows the running answer, and is sent then`, async (t) => {
    const { server, store, open } = await served(t, refusal, says('Second'));
    const chat = await open();
    store.messages = FIRST.slice(0, 1);
    store.run = { state: 'running' };
    store.stream = (response) => {
      response.writeHead(200, STREAM);
      const begin = [{ type: 'start', messageId: 'a1' }, { type: 'start-step' }, { type: 'text-start', id: 't' }];
      response.end(sse(...begin, { type: 'text-delta', id: 't', delta: 'First' }, { type: 'text-end', id: 't' }, { type: 'finish' }));
      Object.assign(store, { messages: FIRST, run: undefined });
    };
    const sent = chat.sendMessage({ text: 'Two' });
    await until(chat, () => texts(chat).includes('Two'));
    const seen = [];
    chat.subscribe(() => seen.push(texts(chat).includes('Two')));
    await sent;
    if (chat.status === 'error') await chat.regenerate();
    assert.deepEqual([texts(chat), server.posts.length, chat.status], [['One', 'First', 'Two', 'Second'], 2, 'ready']);
    assert.ok(seen.every(Boolean), 'the question is shown all the time');
  });
}

const OPEN = { type: 'tool-paint', toolCallId: 'p1', state: 'input-available', input: {} };
const CALL = { type: 'tool-input-available', toolCallId: 'p1', toolName: 'paint', input: {} };
/** A chat that waits for a tool of the page. */
const waits = (store) => Object.assign(store, { messages: [FIRST[0], answer('a1', OPEN)], run: { state: 'waiting' } });
const result = ({ messages }) => messages.at(-1).parts.find(({ toolCallId }) => toolCallId === 'p1');

/** Offers a tool that ends with the test's word. */
function offer(chat) {
  const runs = [];
  chat.registerTool({ name: 'paint', description: 'Paints' }, () => new Promise((end) => runs.push(end)));
  return runs;
}

for (const [what, replay] of [
  ['waits for it', undefined],
  ['is replayed', [{ type: 'tool-input-start', toolCallId: 'p1', toolName: 'paint' }, { type: 'tool-input-delta', toolCallId: 'p1', inputTextDelta: '{}' }]],
]) {
  test(`the result of a tool of the page whose connection was lost is posted once, if the run ${what}`, async (t) => {
    const { promise: response, resolve: given } = resolvers();
    const { server, store, open } = await served(t, begins(given, CALL), says('Painted.'));
    const chat = await open();
    const runs = offer(chat);
    const sent = chat.sendMessage({ text: 'Paint' });
    await eventually(() => runs.length);
    waits(store).messages = [chat.messages[0], answer(chat.messages[1].id, OPEN)];
    store.stream = replay && ((answered) => {
      answered.writeHead(200, STREAM).end(sse({ type: 'start', messageId: store.messages[1].id }, { type: 'start-step' }, ...replay, { type: 'finish' }));
    });
    (await response).destroy();
    await eventually(() => server.requests.some((one) => one.endsWith('/c1/stream?ai-sdk=7')));
    await quiet();
    assert.equal(server.posts.length, 1, 'the tool has not ended');
    runs[0]('red');
    await sent;
    assert.deepEqual([server.posts.length, runs.length, text(chat.messages.at(-1))], [2, 1, 'Painted.']);
    assert.equal(result(server.posts[1]).output, 'red');
  });
}

test('a tool of the page whose result did not reach the server does not run again when the user tries again', async (t) => {
  const { promise: response, resolve: given } = resolvers();
  const { server, store, open } = await served(t, begins(given, CALL), fails(503, LATER), says('Painted.'));
  const chat = await open();
  const runs = offer(chat);
  const sent = chat.sendMessage({ text: 'Paint' });
  await eventually(() => runs.length);
  waits(store).messages = [chat.messages[0], answer(chat.messages[1].id, OPEN)];
  runs[0]('red');
  (await response).end(sse({ type: 'finish-step' }, { type: 'finish' }));
  await sent;
  assert.equal(chat.status, 'error');
  const again = chat.regenerate();
  await eventually(() => runs.length > 1 || chat.status === 'ready');
  assert.equal(runs.length, 1);
  await again;
  assert.deepEqual([server.posts.length, result(server.posts[2]).output, text(chat.messages.at(-1))], [3, 'red', 'Painted.']);
});

test('a tool of the page whose result did not reach the server does not run again after a reload', async (t) => {
  const { promise: response, resolve: given } = resolvers();
  const { server, store, open } = await served(t, begins(given, CALL), fails(503, { 'retry-after': '60' }), says('I see.'));
  const chat = await open({ persist: 'session' });
  const runs = offer(chat);
  void chat.sendMessage({ text: 'Paint' });
  await eventually(() => runs.length);
  waits(store).messages = [chat.messages[0], answer(chat.messages[1].id, OPEN)];
  runs[0]('red');
  (await response).end(sse({ type: 'finish-step' }, { type: 'finish' }));
  await until(chat, () => chat.error);
  chat.close();
  const next = createChat({ api: server.api, persist: 'session', chatId: 'c1' });
  t.after(() => next.close());
  const later = offer(next);
  await eventually(() => later.length || text(next.messages.at(-1)) === 'I see.');
  assert.equal(later.length, 0);
  assert.match(result(server.posts[2]).errorText, /result is not known/);
});

/** Serves a long chat, whose older messages come when the test lets them. */
async function long(t, ...turns) {
  const { server, store, open } = await served(t, ...turns);
  const all = Array.from({ length: 300 }, (_, at) => (at % 2 ? answer(`m${at}`, textPart(`${at}`)) : question(`m${at}`, `${at}`)));
  Object.assign(store, { messages: all.slice(200), more: true });
  const asked = [];
  server.files['/assistant/threads/c1/messages?limit=1000&before=m200'] = (response) => asked.push(response);
  const give = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ messages: all.slice(0, 200), more: false }));
  const chat = await open();
  await eventually(() => chat.status === 'ready' && asked.length);
  return { server, chat, all, asked, give };
}

test('a message that is sent while older messages are loaded does not end that, and a refusal neither', async (t) => {
  const { chat, all, asked, give } = await long(t, says('New'));
  pauses(t.mock);
  await chat.sendMessage({ text: 'Newer' });
  asked[0].writeHead(503).end();
  await eventually(() => asked.length > 1);
  give(asked[1]);
  await until(chat, () => chat.messages.length === 302);
  assert.deepEqual(texts(chat), [...all.map(text), 'Newer', 'New']);
});

test('an edit of the first shown message waits for the messages before it', async (t) => {
  const { server, chat, asked, give } = await long(t, says('New'));
  const edited = chat.edit('m200', 'Edited');
  await quiet();
  assert.equal(server.posts.length, 0);
  give(asked[0]);
  await edited;
  assert.deepEqual(server.posts[0].messages.map(text), ['198', '199', 'Edited']);
  assert.deepEqual([chat.messages.length, texts(chat).slice(-3)], [202, ['199', 'Edited', 'New']]);
});

test('an edit of the first shown message says so if the messages before it cannot be loaded', async (t) => {
  const { server, chat, asked } = await long(t);
  asked[0].writeHead(403).end();
  await chat.edit('m200', 'Edited');
  assert.deepEqual([chat.status, chat.error.status, server.posts.length, chat.messages.length], ['error', 403, 0, 100]);
});

test('older messages are loaded page by page if the page asks for them', async (t) => {
  const { server, store, open } = await served(t, says('New'));
  const all = Array.from({ length: 300 }, (_, at) => (at % 2 ? answer(`m${at}`, textPart(`${at}`)) : question(`m${at}`, `${at}`)));
  Object.assign(store, { messages: all.slice(200), more: true });
  const asked = [];
  let isRefused = true;
  for (const at of [200, 100]) {
    server.files[`/assistant/threads/c1/messages?limit=100&before=m${at}`] = (response) => {
      if (isRefused) return response.writeHead(403).end();
      asked.push(at);
      const page = { messages: all.slice(at - 100, at), more: at > 100 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
    };
  }
  const chat = await open({ older: 'asked' });
  await quiet();
  await chat.loadOlder();
  assert.deepEqual([asked, chat.messages.length], [[], 100]);
  isRefused = false;
  await Promise.all([chat.loadOlder(), chat.loadOlder()]);
  assert.deepEqual([asked, chat.messages.length], [[200], 200]);
  // The branch of the first shown message needs the one before it.
  await chat.edit('m100', 'Edited');
  assert.deepEqual([asked, texts(chat).slice(-3)], [[200, 100], ['99', 'Edited', 'New']]);
  assert.deepEqual(server.posts[0].messages.map(text), ['98', '99', 'Edited']);
  await chat.loadOlder();
  assert.deepEqual([asked.length, chat.messages.length], [2, 102]);
});

const CART = { type: 'data-ui-state', id: 'cart', data: { component: 'cart', rev: 1, state: { count: 1, note: '' }, seal: 's1' } };
const SHOWN = [FIRST[0], answer('a1', CART)];

test('the state of a component reaches a server that refuses it for a while', async (t) => {
  const { server, store, open } = await served(t);
  store.messages = SHOWN;
  const puts = [];
  server.files['/assistant/ui/cart/state'] = (response, body) => {
    puts.push(body.state);
    if (puts.length === 1) return fails(503)(response);
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...body, rev: body.rev + 1, seal: 's2' }));
  };
  const chat = await open();
  pauses(t.mock);
  chat.setState('cart', { count: 2 });
  await until(chat, () => chat.messages[1].parts[1].data.rev === 2);
  assert.deepEqual([puts.length, puts.at(-1), chat.state('cart')], [2, { count: 2, note: '' }, { count: 2, note: '' }]);
});

test('a state that the server refuses is reported, and the next change sends it again', async (t) => {
  const { server, store, open } = await served(t);
  store.messages = SHOWN;
  const puts = [];
  server.files['/assistant/ui/cart/state'] = (response, body) => {
    puts.push(body.state);
    return fails(puts.length === 1 ? 400 : 204)(response);
  };
  const errors = [];
  const chat = await open({ onError: ({ status }) => errors.push(status) });
  chat.setState('cart', { count: 2 });
  await until(chat, () => errors.length);
  chat.setState('cart', { note: 'Red' });
  await eventually(() => puts.length === 2);
  assert.deepEqual([errors[0], puts[1]], [400, { count: 2, note: 'Red' }]);
});

test('a state that is sent while the chat is loaded again stays, with its new revision', async (t) => {
  const { server, store, open } = await served(t);
  store.messages = SHOWN;
  const puts = [];
  const bodies = [];
  server.files['/assistant/ui/cart/state'] = async (response, body) => {
    bodies.push(body);
    await new Promise((resolve) => puts.push(resolve));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...body, rev: body.rev + 1, seal: 's2' }));
  };
  const chat = await open();
  chat.setState('cart', { count: 2 });
  await eventually(() => puts.length);
  store.messages = [...SHOWN, question('q2', 'Two')];
  // Another tab opens the chat.
  const two = await open({}, (await tab()).createChat);
  await two.setChatId('c1');
  await until(chat, () => chat.messages.length === 3 && chat.status === 'ready');
  puts[0]();
  await until(chat, () => chat.messages[1].parts[1].data.rev === 2);
  assert.deepEqual(chat.state('cart'), { count: 2, note: '' });
  chat.setState('cart', { note: 'Red' });
  await eventually(() => puts.length === 2);
  assert.deepEqual([bodies[1].rev, bodies[1].seal, bodies[1].state], [2, 's2', { count: 2, note: 'Red' }]);
  puts[1]();
});

test('a state that is sent late has nothing of the same component in another chat', async (t) => {
  const { server, store, open } = await served(t);
  store.messages = SHOWN;
  const json = (value) => [JSON.stringify(value), 'application/json'];
  server.files['/assistant/threads/c2'] = json({ id: 'c2' });
  server.files['/assistant/threads/c2/messages'] = json({ messages: SHOWN, more: false });
  const puts = [];
  const bodies = [];
  server.files['/assistant/ui/cart/state'] = async (response, body) => {
    bodies.push(body);
    await new Promise((resolve) => puts.push(resolve));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...body, rev: body.rev + 1 }));
  };
  const chat = await open();
  chat.setState('cart', { count: 2 });
  await eventually(() => puts.length);
  await chat.setChatId('c2');
  chat.setState('cart', { note: 'Red' });
  puts[0]();
  await eventually(() => puts.length === 2);
  assert.deepEqual([bodies[1].chatId, bodies[1].state, chat.state('cart')], ['c2', { count: 1, note: 'Red' }, { count: 1, note: 'Red' }]);
  puts[1]();
});

test('a question of a chat that is closed before it is opened is not posted', async (t) => {
  const { server } = await served(t, says('Here.'));
  const asked = resolvers();
  const held = resolvers();
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', async (url, init) => {
    if (!String(url).includes('startIndex')) return fetch(url, init);
    asked.resolve();
    await held.promise;
    return fetch(url, init);
  });
  const chat = createChat({ api: server.api, persist: 'none' });
  const sent = chat.sendMessage({ text: 'Hi' });
  await asked.promise;
  chat.close();
  held.resolve();
  await sent;
  assert.equal(server.posts.length, 0);
});

test('a tool of the page that ends after its chat was closed changes nothing', async (t) => {
  const { server, open } = await served(t, begins(() => {}, CALL));
  const chat = await open();
  // The other chat hears what this one posts.
  await open({}, (await tab()).createChat);
  const runs = offer(chat);
  void chat.sendMessage({ text: 'Paint' });
  await eventually(() => runs.length);
  chat.close();
  runs[0]('red');
  await quiet();
  assert.equal(server.posts.length, 1);
});

test('a stored chat is loaded again when the user comes back to a page that did not run meanwhile', async (t) => {
  const events = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener']) {
    globalThis[name] = events[name].bind(events);
    t.after(() => delete globalThis[name]);
  }
  const { store, open } = await served(t);
  store.messages = FIRST;
  const chat = await open();
  store.messages = [...FIRST, question('q2', 'Two'), answer('a2', textPart('Second'))];
  events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await until(chat, () => chat.status === 'ready' && chat.messages.length > 2);
  assert.deepEqual(texts(chat), ['One', 'First', 'Two', 'Second']);
});

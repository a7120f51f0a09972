// The headless chat when the network fails: retries, streams that are cut, and what is never posted twice.

import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';

import { answers, begins, createChat, fails, pauses, place, says, serve, sse, text, until } from '../testing/chat.mjs';

/** Ends the servers and chats of a test, and its fake timers. */
const ends = [];
afterEach(async () => {
  mock.timers.reset();
  mock.restoreAll();
  for (const end of ends.splice(0).reverse()) await end();
});

async function connected(...turns) {
  const server = await serve(...turns);
  const chat = createChat({ api: server.api, persist: 'none' });
  ends.push(server.stop, () => chat.close());
  await chat.ready;
  return { server, chat };
}

const DELTA = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Half' },
];
const SERVER_TOOL = { type: 'tool-input-available', toolCallId: 'c1', toolName: 'refund_order', input: {} };
const SIGN_IN = ['<h1>Please sign in</h1>', 'text/html; charset=utf-8'];

/** Returns the turn that sends chunks, and a promise of its response. */
function held(...chunks) {
  let given;
  const response = new Promise((resolve) => (given = resolve));
  return { turn: begins(given, ...chunks), response };
}

/** Lets the page be visible or hidden. */
function page(hidden) {
  globalThis.document = { hidden };
  ends.push(() => delete globalThis.document);
}

test('a visible page pauses after an event that it waited for, and a hidden page never', async () => {
  const words = ['one ', 'two ', 'three'];
  const slowly = begins(async (response) => {
    for (const delta of words) {
      await new Promise((next) => setTimeout(next, 20));
      response.write(sse({ type: 'text-delta', id: 't', delta }));
    }
    response.end(sse({ type: 'text-end', id: 't' }, { type: 'finish' }));
  }, { type: 'text-start', id: 't' });
  const { chat } = await connected(slowly, slowly);
  const waits = pauses(mock);
  for (const hidden of [true, false]) {
    page(hidden);
    await chat.sendMessage({ text: 'Hi' });
    assert.equal(text(chat.messages.at(-1)), words.join(''));
    assert.equal(waits.includes(40), !hidden);
  }
});

test('events that have arrived are read without a pause', async () => {
  const { chat } = await connected();
  page(false);
  const deltas = Array.from({ length: 400 }, (_, number) => ({ type: 'text-delta', id: 't', delta: `${number} ` }));
  mock.method(globalThis, 'fetch', async () => {
    const events = [{ type: 'start' }, { type: 'text-start', id: 't' }, ...deltas, { type: 'text-end', id: 't' }, { type: 'finish' }];
    const body = new ReadableStream({
      start(controller) {
        for (const event of events) controller.enqueue(new TextEncoder().encode(sse(event)));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const waits = pauses(mock);
  await chat.sendMessage({ text: 'Hi' });
  assert.ok(text(chat.messages.at(-1)).endsWith(' 399 '));
  assert.ok(waits.length < 20, `${waits.length} pauses`);
});

test('contract_001_23 a request is sent again after 0.5, 1, 2, 4 and 8 seconds', async () => {
  const refused = fails(503);
  const { server, chat } = await connected(refused, refused, refused, refused, refused, says('Hello'));
  const waits = pauses(mock);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(text(chat.messages.at(-1)), 'Hello');
  assert.equal(server.posts.length, 6);
});

test('contract_001_23 after five more tries the user reads that no server answers', async () => {
  const { server, chat } = await connected(...Array(7).fill(fails(502)));
  const waits = pauses(mock);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual([chat.status, chat.error.kind, chat.error.canRetry], ['error', 'offline', true]);
  assert.deepEqual([server.posts.length, waits.length], [6, 5]);
  server.turns.splice(0, 9, says('Back'));
  await chat.regenerate();
  assert.equal(text(chat.messages.at(-1)), 'Back');
  assert.equal(chat.messages.length, 2);
});

test('contract_001_23 a closed port is tried again, and the pauses have jitter', async () => {
  const { server, chat } = await connected();
  await server.stop();
  ends.shift();
  const waits = pauses(mock);
  let random = 0;
  Math.random.mock.mockImplementation(() => (random = random ? 0 : 0.999_999));
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.error.kind, 'offline');
  assert.deepEqual(waits.map(Math.round), [600, 800, 2_400, 3_200, 9_600]);
});

test('while a request is sent again the user sees why, can stop it, and an answer ends the error', async () => {
  const { server, chat } = await connected(fails(503), says('Hello'), fails(503));
  pauses(mock);
  const sent = chat.sendMessage({ text: 'Hi' });
  const error = await until(chat, () => chat.status === 'submitted' && chat.error);
  assert.deepEqual([error.kind, error.status], ['offline', 503]);
  await sent;
  assert.deepEqual([chat.status, chat.error, server.posts.length], ['ready', undefined, 2]);
  const second = chat.sendMessage({ text: 'Again' });
  await until(chat, () => chat.error);
  chat.stop();
  await second;
  assert.deepEqual([chat.status, chat.error, server.posts.length], ['ready', undefined, 3]);
});

test('a server that does not say if it stores chats gets the question after a while', async () => {
  const server = await serve(says('Hello'));
  const { fetch } = globalThis;
  const time = new AbortController();
  mock.method(AbortSignal, 'timeout', () => time.signal);
  const asked = new Promise((resolve) => {
    mock.method(globalThis, 'fetch', (url, init) => {
      if (String(url).includes('startIndex')) resolve();
      return String(url).includes('startIndex') && !time.signal.aborted ? hangs(init.signal) : fetch(url, init);
    });
  });
  const hangs = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const chat = createChat({ api: server.api, persist: 'none' });
  ends.push(server.stop, () => chat.close());
  void asked.then(() => time.abort());
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual(chat.messages.map(text), ['Hi', 'Hello']);
});

test('a browser that is connected again sends at once', async () => {
  const events = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener']) globalThis[name] = events[name].bind(events);
  ends.push(() => {
    for (const name of ['addEventListener', 'removeEventListener']) delete globalThis[name];
  });
  const { chat } = await connected(fails(503), says('Hello'));
  const { setTimeout } = globalThis;
  // A pause of the chat never ends by itself.
  mock.method(globalThis, 'setTimeout', (run, ms) => (new Error().stack.includes(place) ? undefined : setTimeout(run, ms)));
  const sent = chat.sendMessage({ text: 'Hi' });
  await until(chat, () => chat.error);
  events.dispatchEvent(new Event('online'));
  await sent;
  assert.equal(text(chat.messages.at(-1)), 'Hello');
});

test('contract_001_23 Retry-After sets the pause, and a long one ends the tries', async () => {
  const later = (seconds) => fails(429, { 'retry-after': seconds, 'content-type': 'application/json' }, '{"error":{"message":"Slow down."}}');
  const { server, chat } = await connected(later('7'), says('Hello'), later('3600'));
  const waits = pauses(mock);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual(waits, [7_000]);
  await chat.sendMessage({ text: 'Again' });
  assert.deepEqual([chat.error.kind, chat.error.status, chat.error.message], ['refused', 429, 'Slow down.']);
  assert.equal(server.posts.length, 3);
});

for (const status of [400, 401, 403, 404, 409, 410, 413, 422]) {
  test(`contract_001_23 a request with status ${status} is not sent again`, async () => {
    const { server, chat } = await connected(fails(status, { 'content-type': 'application/json' }, '{"error":{"message":"No."}}'));
    await chat.sendMessage({ text: 'Hi' });
    assert.equal(server.posts.length, 1);
    const { kind, message, canRetry } = chat.error;
    assert.deepEqual({ kind, message, canRetry, status: chat.error.status }, { kind: 'refused', message: 'No.', canRetry: status === 401, status });
  });
}

test('a post that the host sends on to its page that signs in can be sent again once the user has signed in', async () => {
  const { server, chat } = await connected(fails(302, { location: '/login' }), says('Hello'));
  server.files['/login'] = SIGN_IN;
  await chat.sendMessage({ text: 'Hi' });
  const { kind, status, canRetry } = chat.error;
  assert.deepEqual([server.posts.length, kind, status, canRetry], [1, 'refused', 401, true]);
  await chat.regenerate();
  assert.equal(text(chat.messages.at(-1)), 'Hello');
});

test('a message that is too large is sent once, also if the server ends the connection before it has arrived', async () => {
  const { server, chat } = await connected(...Array(6).fill((response) => response.destroy()));
  pauses(mock);
  await chat.sendMessage({ text: 'x'.repeat(9 * 1024 * 1024) });
  assert.deepEqual([server.posts.length, chat.error.status, chat.messages.length], [1, 413, 0]);
});

test('a page in the place of an answer is none of the assistant', async () => {
  const { server, chat } = await connected(...Array(6).fill((response) => response.writeHead(200, { 'content-type': SIGN_IN[1] }).end(SIGN_IN[0])));
  pauses(mock);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual([server.posts.length, chat.error.kind], [6, 'offline']);
});

test('an event that is no JSON ends the answer with a sentence for people', async () => {
  const { chat } = await connected((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: <h1>\n\n'));
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual([chat.error.kind, chat.error.cause.name], ['offline', 'SyntaxError']);
  assert.match(chat.error.message, /^The server does not answer\./);
});

for (const [age, isResumed] of [
  [990, true],
  [1_010, false],
]) {
  test(`contract_001_25 a stream whose last event came ${age} ms ago is ${isResumed ? '' : 'not '}resumed`, async () => {
    const first = held(...DELTA);
    const { server, chat } = await connected(first.turn, says('Whole'));
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const sent = chat.sendMessage({ text: 'Hi' });
    const response = await first.response;
    await until(chat, () => text(chat.messages.at(-1)) === 'Half');
    mock.timers.tick(age);
    response.destroy();
    await sent;
    assert.equal(server.posts.length, isResumed ? 2 : 1);
    if (isResumed) {
      assert.deepEqual([chat.status, chat.messages.map(text)], ['ready', ['Hi', 'Whole']]);
      assert.deepEqual(server.posts[1].messages.map(text), ['Hi']);
    } else {
      assert.deepEqual([chat.status, chat.error.kind, chat.error.canRetry], ['error', 'interrupted', true]);
      assert.equal(text(chat.messages.at(-1)), 'Half', 'what has arrived stays');
      assert.equal(chat.isIncomplete(chat.messages.at(-1).id), true);
      await chat.regenerate();
      assert.deepEqual(chat.messages.map(text), ['Hi', 'Whole']);
    }
  });
}

test('contract_001_25 a stream that ends without its last chunk is one that was cut', async () => {
  const first = held(...DELTA);
  const { server, chat } = await connected(first.turn, says('Whole'));
  const sent = chat.sendMessage({ text: 'Hi' });
  (await first.response).end();
  await sent;
  assert.deepEqual([server.posts.length, chat.messages.map(text)], [2, ['Hi', 'Whole']]);
});

test('an answer in which a server tool had begun is never posted again by itself', async () => {
  const first = held(SERVER_TOOL);
  const { server, chat } = await connected(first.turn);
  const sent = chat.sendMessage({ text: 'Refund it' });
  const response = await first.response;
  await until(chat, () => chat.messages.at(-1).parts.some((part) => part.toolCallId === 'c1'));
  response.destroy();
  await sent;
  assert.deepEqual([server.posts.length, chat.error.kind, chat.error.canRetry], [1, 'interrupted', true]);
});

test('an approved call is not posted again by itself if no answer arrives', async () => {
  const asks = answers(SERVER_TOOL, { type: 'tool-approval-request', toolCallId: 'c1', approvalId: 'a1' });
  const { server, chat } = await connected(asks, (response) => response.destroy());
  await chat.sendMessage({ text: 'Refund it' });
  const part = chat.messages.at(-1).parts.find(({ toolCallId }) => toolCallId === 'c1');
  assert.equal(chat.isOpen(part), true);
  await chat.approve(part, true);
  assert.deepEqual([server.posts.length, chat.error.kind], [2, 'offline']);
  assert.equal(server.posts[1].messages.at(-1).parts.at(-1).approval.approved, true);
});

test('a stream that is always cut is not posted for ever', async () => {
  const cut = (response) => begins((open) => open.end(), ...DELTA)(response);
  const { server, chat } = await connected(...Array(20).fill(cut));
  pauses(mock);
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.error.kind, 'interrupted');
  assert.equal(server.posts.length, 6);
});

test('the error of a run is shown, and what had arrived stays', async () => {
  const { chat } = await connected((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse({ type: 'start' }, ...DELTA, { type: 'error', errorText: 'The model failed.' }));
  });
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual([chat.status, chat.error.kind, chat.error.message], ['error', 'failed', 'The model failed.']);
  assert.equal(text(chat.messages.at(-1)), 'Half');
});

test('contract_001_07 stop ends the request, and the text stays', async () => {
  const first = held(...DELTA);
  const { server, chat } = await connected(first.turn);
  const sent = chat.sendMessage({ text: 'Hi' });
  const response = await first.response;
  await until(chat, () => text(chat.messages.at(-1)) === 'Half');
  const closed = new Promise((resolve) => response.once('close', resolve));
  const stopped = server.stopped();
  chat.stop();
  await Promise.all([sent, closed]);
  assert.deepEqual([chat.status, text(chat.messages.at(-1))], ['ready', 'Half']);
  assert.equal(chat.isIncomplete(chat.messages.at(-1).id), true);
  assert.ok((await stopped).endsWith(`/${chat.chatId}/stop`));
});

test('stop ends an answer whose tool of the page does not end, and its late result goes nowhere', async () => {
  const { server, chat } = await connected(answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'ask', input: {} }), says('Next.'));
  let finish;
  chat.registerTool({ name: 'ask', description: 'Asks' }, () => new Promise((done) => (finish = done)));
  const sent = chat.sendMessage({ text: 'Hi' });
  await until(chat, () => finish);
  // The stream has ended by then, and the answer waits for the tool alone.
  await new Promise((next) => setTimeout(next, 100));
  chat.stop();
  await sent;
  assert.deepEqual([chat.status, chat.isIncomplete(chat.messages.at(-1).id)], ['ready', true]);
  await chat.sendMessage({ text: 'And now?' });
  finish('late');
  assert.equal(text(chat.messages.at(-1)), 'Next.');
  assert.doesNotMatch(JSON.stringify([chat.messages, server.posts]), /late/);
});

test('stop ends a question whose headers do not come', async () => {
  const server = await serve(says('Hello.'));
  let isOut = false;
  let asked = () => {};
  const headers = () => (isOut ? new Promise(() => asked()) : {});
  const chat = createChat({ api: server.api, persist: 'none', headers });
  ends.push(server.stop, () => chat.close());
  await chat.ready;
  isOut = true;
  const isAsked = new Promise((resolve) => (asked = resolve));
  const sent = chat.sendMessage({ text: 'Hi' });
  await isAsked;
  isOut = false;
  chat.stop();
  await sent;
  assert.equal(chat.status, 'ready');
  await chat.sendMessage({ text: 'And now?' });
  assert.equal(text(chat.messages.at(-1)), 'Hello.');
});

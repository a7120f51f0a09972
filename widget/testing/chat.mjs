// The headless chat for tests in Node.js, and servers for it to meet.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'omniassist-chat-'));
process.once('exit', () => rmSync(folder, { recursive: true }));
const file = join(folder, 'chat.mjs');
const settings = {
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  bundle: true,
  entryPoints: ['src/chat/index.ts'],
  format: 'esm',
  logLevel: 'warning',
  target: 'es2022',
};
await build({ ...settings, outfile: file });

/** Returns the module with a registry of its own, as each tab has one. */
let tabs = 0;
export const tab = () => import(`${pathToFileURL(file)}?tab=${(tabs += 1)}`);
/** The modules as a server serves them, by path: `/index.js`, and what it loads later. */
export async function modules() {
  const { outputFiles } = await build({ ...settings, minify: true, outdir: '/', splitting: true, write: false });
  return Object.fromEntries(outputFiles.map((one) => [one.path, [one.text, 'text/javascript']]));
}
/** The beginning of the module's place in a stack. */
export const place = pathToFileURL(file).href;

export const { ChatStorage, createChat, page } = await tab();

/** Resolves as soon as `test` returns a truthy value after a change of the chat, with that value. */
export function until(chat, test, what = String(test), ms = 8_000) {
  return new Promise((resolve, reject) => {
    const check = () => {
      const value = test();
      if (!value) return;
      clearTimeout(timer);
      end();
      resolve(value);
    };
    const end = chat.subscribe(check);
    const timer = setTimeout(() => {
      end();
      const { status, error, messages } = chat;
      reject(new Error(`not within ${ms} ms: ${what}\n${status} ${error}\n${JSON.stringify(messages.at(-1))}`));
    }, ms);
    check();
  });
}

export const text = (message) =>
  message?.parts.filter(({ type }) => type === 'text').map((part) => part.text).join('\n');

/** Writes chunks as server-sent events. */
export const sse = (...chunks) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

const HEAD = { 'content-type': 'text/event-stream' };

/**
 * Serves an assistant without a store. `turns` answer its posts one after the other: each gets the response and the body.
 * `posts` has the bodies of the posts. `isStored` lets it say that it stores chats. `files` maps paths to texts and types, which it serves with `headers`,
 * or to functions that get the response and the body.
 */
export async function serve(...turns) {
  const posts = [];
  const requests = [];
  const served = { files: {}, headers: {} };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    requests.push(`${request.method} ${request.url}`);
    const entry = served.files[request.url];
    if (typeof entry === 'function') return entry(response, body && JSON.parse(body));
    const [file, type] = entry ?? [];
    if (file) return response.writeHead(200, { 'content-type': type, ...served.headers }).end(file);
    if (request.url.includes('/files')) {
      response.writeHead(413, { 'content-type': 'application/json' });
      return response.end('{"error":{"message":"The file is too large."}}');
    }
    if (request.url.includes('/stream')) return response.writeHead(served.isStored && request.url.includes('?startIndex') ? 200 : 204).end();
    if (request.url.includes('/threads?')) {
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{"threads":[],"nextCursor":null}');
    }
    if (request.url.endsWith('/stop')) {
      server.emit('stop', request.url);
      return response.writeHead(204).end();
    }
    if (['GET', 'HEAD'].includes(request.method)) return response.writeHead(404).end();
    const posted = JSON.parse(body);
    posts.push(posted);
    server.emit('post', posted);
    const turn = turns.shift();
    if (!turn) return response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"no turn"}');
    return turn(response, posted, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(served, {
    api: `http://127.0.0.1:${server.address().port}/assistant`,
    posts,
    requests,
    turns,
    server,
    posted: () => once(server, 'post'),
    /** Resolves with the address of the next request to stop. */
    stopped: async () => (await once(server, 'stop'))[0],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

/**
 * Serves an assistant that stores one chat, `c1`. `store` has its messages and its run, and the function that answers for the
 * stream of the run: by default there is none. Without messages, there is no chat.
 */
export async function serveStored(...turns) {
  const served = await serve(...turns);
  const json = (value) => [JSON.stringify(value), 'application/json'];
  const store = { messages: [], run: undefined, stream: undefined, more: false };
  const files = {
    get '/assistant/threads/c1'() {
      return store.messages.length ? json({ id: 'c1', run: store.run }) : undefined;
    },
    get '/assistant/threads/c1/messages'() {
      return json({ messages: store.messages, more: store.more });
    },
    get '/assistant/c1/stream?ai-sdk=7'() {
      return store.stream;
    },
  };
  return Object.assign(served, { store, files, isStored: true });
}

/** Messages of a chat. */
export const question = (id, words) => ({ id, role: 'user', parts: [{ type: 'text', text: words }] });
export const answer = (id, ...parts) => ({ id, role: 'assistant', parts: [{ type: 'step-start' }, ...parts] });
export const textPart = (words) => ({ type: 'text', text: words, state: 'done' });

/** Lets the pauses of the chats end at once, and returns their lengths. `mock` is that of the test. */
export function pauses(mock) {
  mock.method(Math, 'random', () => 0.5);
  const waits = [];
  const { setTimeout } = globalThis;
  mock.method(globalThis, 'setTimeout', (run, ms, ...values) => {
    const isOfChat = new Error().stack.includes(place);
    if (isOfChat) waits.push(ms);
    return setTimeout(run, isOfChat ? 0 : ms, ...values);
  });
  return waits;
}

/** Turns of an assistant. */
export const answers = (...chunks) => (response) => {
  response.writeHead(200, HEAD);
  response.end(sse({ type: 'start' }, { type: 'start-step' }, ...chunks, { type: 'finish-step' }, { type: 'finish' }));
};
export const says = (words) =>
  answers({ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: words }, { type: 'text-end', id: 't' });
export const fails = (status, headers = {}, body = '') => (response) => response.writeHead(status, headers).end(body);
/** Sends chunks, and leaves the response to the test. */
export const begins = (given, ...chunks) => (response) => {
  response.writeHead(200, HEAD);
  response.write(sse({ type: 'start' }, { type: 'start-step' }, ...chunks));
  given(response);
};

/** A storage of a browser. */
export class FakeStorage {
  #items = new Map();
  getItem = (key) => this.#items.get(key) ?? null;
  setItem = (key, value) => void this.#items.set(key, String(value));
  removeItem = (key) => void this.#items.delete(key);
  keys = () => [...this.#items.keys()];
}

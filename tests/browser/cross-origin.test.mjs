// Pages of other origins that try to run, stop and read an assistant through the browser of a visitor. The server is
// shared-cart, which has no guard of its own and accepts anonymous requests.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { after, before, test } from 'node:test';

import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startSharedCart } from '../lib/shared-cart.mjs';
import { openBrowser } from './page.mjs';

const HOSTS = 'MAP evil.test 127.0.0.1, MAP rebound.test 127.0.0.1';
const asking = { messages: [{ id: 'm1', role: 'user', content: 'Fill the cart' }] };

let model;
let app;
let browser;
/** A server without a guard, which serves an empty page and accepts every request. */
let elsewhere;

before(async () => {
  model = await startFakeOpenAi({ answer: { text: 'Of course.' } });
  app = await startSharedCart(openai(model.baseUrl));
  browser = await openBrowser(HOSTS);
  elsewhere = await startOpenServer();
});
after(async () => {
  await browser?.close();
  await elsewhere?.stop();
  await app?.stop();
  await model?.stop();
});

async function startOpenServer() {
  const posts = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') posts.push(request.headers['content-type'] ?? 'none');
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>elsewhere</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    posts,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Starts a proxy to the app that records requests and statuses, since a browser hides them from the page. */
async function startWatchedWay() {
  const { port } = new URL(app.origin);
  const seen = [];
  const sockets = new Set();
  const server = createTcpServer((client) => {
    const onward = connect(port, '127.0.0.1');
    for (const socket of [client, onward]) sockets.add(socket.on('error', () => {}));
    // A browser sends the next request on a connection only after the answer to the previous one.
    let exchange;
    client.on('data', (bytes) => {
      const method = /^(GET|POST|OPTIONS) /.exec(bytes.toString('latin1'))?.[1];
      if (method) seen.push((exchange = { method }));
    });
    onward.on('data', (bytes) => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1'))?.[1];
      if (status) exchange.status ??= Number(status);
    });
    client.pipe(onward).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    exchanges: () => seen.map(({ method, status }) => `${method} ${status}`),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs in the page. Sends requests to another origin in all ways, and returns the readable part of each answer. */
async function attack([target, asking]) {
  const json = JSON.stringify(asking);
  const text = { method: 'POST', body: json };
  const typed = { method: 'POST', body: json, headers: { 'content-type': 'application/json' } };
  const read = async (path, init) => {
    const response = await fetch(target + path, init);
    return response.type === 'opaque' ? null : response.text();
  };
  const loaded = (element) =>
    new Promise((resolve) => {
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve(null);
      document.body.append(element);
    });
  const ways = {
    'fetch JSON': () => read('/', typed),
    'fetch JSON with cookies': () => read('/', { ...typed, credentials: 'include' }),
    'fetch JSON, not to be read': () => read('/', { ...typed, mode: 'no-cors' }),
    'fetch text': () => read('/', text),
    'fetch text, not to be read': () => read('/', { ...text, mode: 'no-cors' }),
    'fetch AG-UI': () => read('/ag-ui', text),
    'fetch as OpenAI': () => read('/v1/chat/completions', { ...typed, headers: { ...typed.headers, authorization: 'Bearer x' } }),
    'fetch CopilotKit': () => read('/copilotkit', { ...text, body: '{"method":"info"}' }),
    stop: () => read('/chat-1/stop', { method: 'POST' }),
    'stop, not to be read': () => read('/chat-1/stop', { method: 'POST', mode: 'no-cors' }),
    manifest: () => read('/manifest.json'),
    'manifest, not to be read': () => read('/manifest.json', { mode: 'no-cors' }),
    types: () => read('/types.d.ts', { credentials: 'include' }),
    beacon: async () => (navigator.sendBeacon(`${target}/`, json), null),
    'beacon of a form': async () => (navigator.sendBeacon(`${target}/`, new URLSearchParams({ x: json })), null),
    request: () =>
      new Promise((resolve) => {
        const request = new XMLHttpRequest();
        request.open('POST', `${target}/`);
        request.onloadend = () => resolve(request.responseText || null);
        request.send(json);
      }),
    script: () => loaded(Object.assign(document.createElement('script'), { src: `${target}/manifest.json` })),
    image: () => loaded(Object.assign(document.createElement('img'), { src: `${target}/manifest.json` })),
    stylesheet: () =>
      loaded(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: `${target}/types.d.ts` })),
    events: () =>
      new Promise((resolve) => {
        const events = new EventSource(`${target}/chat-1/stream`);
        events.onmessage = ({ data }) => resolve(data);
        events.onerror = () => (events.close(), resolve(null));
      }),
    form: () => {
      const frame = Object.assign(document.createElement('iframe'), { name: 'form' });
      document.body.append(frame);
      const form = document.createElement('form');
      Object.assign(form, { action: `${target}/`, method: 'post', enctype: 'text/plain', target: 'form' });
      const field = document.createElement('input');
      Object.assign(field, { name: `${json.slice(0, -1)},"x":"`, value: '"}' });
      form.append(field);
      document.body.append(form);
      const answered = new Promise((resolve) => (frame.onload = resolve));
      form.submit();
      return answered.then(() => {
        try {
          return frame.contentDocument.body.innerText;
        } catch {
          return null;
        }
      });
    },
  };
  const seen = {};
  for (const [name, way] of Object.entries(ways)) seen[name] = await way().catch(() => null);
  return seen;
}

/** Opens a page of an origin and runs the attack in it. Returns the parts of the answers that it could read. */
async function attackFrom(origin, target) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(origin);
    const seen = await page.evaluate(attack, [target, asking]);
    // Beacons have no answer to wait for.
    await page.waitForTimeout(500);
    return seen;
  } finally {
    await context.close();
  }
}

const origins = {
  'another site': () => `http://evil.test:${elsewhere.port}`,
  'another name of this machine': () => `http://localhost:${elsewhere.port}`,
  'the same host at another port': () => `http://127.0.0.1:${elsewhere.port}`,
};

for (const [name, origin] of Object.entries(origins)) {
  test(`a page of ${name} can neither run the assistant nor read it`, { timeout: 60_000 }, async () => {
    const way = await startWatchedWay();
    try {
      const seen = await attackFrom(origin(), way.origin);
      for (const [how, read] of Object.entries(seen)) assert.equal(read, null, `${how}: ${read}`);
      assert.equal(model.requests.length, 0, 'the model received no request');
      const exchanges = way.exchanges();
      const refused = exchanges.filter((exchange) => /^(POST|OPTIONS) 403$/.test(exchange));
      assert.ok(refused.length >= 12, `the browser sent: ${exchanges}`);
      // GET requests are answered, but the page cannot read the answers.
      assert.deepEqual(new Set(exchanges), new Set(['POST 403', 'OPTIONS 403', 'GET 200', 'GET 204']));
      console.log(`${name}: ${Object.keys(seen).length} ways, none read anything; ${refused.length} refused of ${exchanges.length}`);
    } finally {
      await way.stop();
    }
  });
}

test('the same page succeeds with a server without a guard', { timeout: 60_000 }, async () => {
  const open = await startOpenServer();
  try {
    await attackFrom(`http://evil.test:${elsewhere.port}`, `http://127.0.0.1:${open.port}`);
    for (const kind of ['text/plain', 'application/x-www-form-urlencoded', 'none']) {
      assert.ok(open.posts.some((type) => type.startsWith(kind)), `${kind} of ${open.posts}`);
    }
  } finally {
    await open.stop();
  }
});

test('a page that points its own host name to the server is refused', { timeout: 60_000 }, async () => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const rebound = app.origin.replace('127.0.0.1', 'rebound.test');
    const response = await page.goto(`${rebound}/manifest.json`);
    assert.equal(response.status(), 421);
    assert.doesNotMatch(await response.text(), /tools/);
    // The page now has the same origin, so the browser lets it read and post.
    const read = await page.evaluate(async (asking) => {
      const init = { method: 'POST', body: JSON.stringify(asking), headers: { 'content-type': 'application/json' } };
      const answers = [await fetch('/', init), await fetch('/types.d.ts'), await fetch('/chat-1/stop', { method: 'POST' })];
      return Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
    }, asking);
    for (const [status, text] of read) {
      assert.equal(status, 421);
      assert.match(text, /host_not_allowed/);
    }
    assert.equal(model.requests.length, 0);
  } finally {
    await context.close();
  }
});

test('pages of the own origin are accepted', { timeout: 60_000 }, async () => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    for (const origin of [app.origin, app.origin.replace('127.0.0.1', 'localhost')]) {
      model.script({ text: 'Of course.' });
      assert.equal((await page.goto(`${origin}/manifest.json`)).status(), 200);
      const text = await page.evaluate(async (asking) => {
        const init = { method: 'POST', body: JSON.stringify(asking), headers: { 'content-type': 'application/json' } };
        return (await fetch('/', init)).text();
      }, asking);
      assert.match(text, /"type":"finish"/);
      assert.equal(model.requests.length, 1);
    }
  } finally {
    await context.close();
  }
});

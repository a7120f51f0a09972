// The headless chat in two tabs of Chromium, which share locks, channels and storage.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answer, answers, fails, modules, question, says, serve, serveStored } from '../testing/chat.mjs';
import { openBrowser } from '../testing/page.mjs';

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const PAGE = '<!doctype html><title>Chat</title><script type="module" src="/page.js"></script>';
const SCRIPT = `import { createChat } from '/index.js';
globalThis.chat = createChat({ api: '/assistant', persist: 'local' });
await chat.ready;
globalThis.isReady = true;`;
const ASKS = answers(
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'refund_order', input: {} },
  { type: 'tool-approval-request', toolCallId: 'c1', approvalId: 'a1' },
);

const served = async (t, ...turns) => servedBy(t, await serve(...turns));

/** Serves a page with an assistant. Returns a function that opens a tab, and what the tabs complained about. */
async function servedBy(t, server) {
  t.after(server.stop);
  Object.assign(server.files, {
    '/': [PAGE, 'text/html'],
    '/favicon.ico': [' ', 'image/x-icon'],
    '/page.js': [SCRIPT, 'text/javascript'],
    ...(await modules()),
  });
  server.headers = { 'content-security-policy': POLICY };
  const browser = await openBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  const problems = [];
  const open = async () => {
    const tab = await context.newPage();
    tab.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    tab.on('pageerror', (error) => problems.push(String(error)));
    await tab.goto(new URL('/', server.api).href);
    await tab.waitForFunction(() => globalThis.isReady);
    return tab;
  };
  return { server, context, problems, open };
}

test('two tabs that answer one approval at the same moment post it once, and both show the rest', async (t) => {
  const { server, problems, open } = await served(t, ASKS, says('Refunded.'), says('Refunded twice.'));
  const one = await open();
  await one.evaluate(() => chat.sendMessage({ text: 'Refund it' }));
  const two = await open();
  assert.equal(await two.evaluate(() => chat.isOpen(chat.messages.at(-1).parts.at(-1))), true, 'it opens the same chat');
  const approve = (tab, approved) => tab.evaluate((yes) => chat.approve(chat.messages.at(-1).parts.at(-1), yes), approved);
  // Both tabs begin in the same millisecond, before one can tell the other.
  const at = Date.now() + 400;
  const together = (tab) =>
    tab.evaluate(async (moment) => {
      await new Promise((resolve) => setTimeout(resolve, moment - Date.now() - 50));
      while (Date.now() < moment);
      await chat.approve(chat.messages.at(-1).parts.at(-1), true);
    }, at);
  await Promise.all([together(one), together(two)]);
  for (const tab of [one, two]) {
    await tab.waitForFunction(() => chat.status === 'ready' && chat.messages.at(-1).parts.at(-1).text === 'Refunded.');
  }
  assert.equal(server.posts.length, 2, 'the question and one decision');
  await approve(two, false);
  await two.reload();
  await two.waitForFunction(() => globalThis.isReady);
  assert.equal(await two.evaluate(() => chat.messages.at(-1).parts.at(-1).text), 'Refunded.');
  assert.equal(server.posts.length, 2);
  assert.deepEqual(problems, []);
});

test('a tab that opens a chat leaves the tool of the page to the tab that runs it', async (t) => {
  const call = answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'paint', input: {} });
  const { server, problems, open } = await served(t, call, says('Painted.'), says('Painted twice.'));
  const one = await open();
  await one.evaluate(() => {
    globalThis.finish = undefined;
    chat.registerTool({ name: 'paint', description: 'Paints' }, () => new Promise((done) => (globalThis.finish = done)));
    void chat.sendMessage({ text: 'Paint it' });
  });
  await one.waitForFunction(() => globalThis.finish);
  const two = await open();
  await two.evaluate(() => chat.registerTool({ name: 'paint', description: 'Paints' }, () => 'twice'));
  // The other tab shows that the first one is still at it.
  await two.waitForFunction(() => chat.status === 'streaming');
  assert.equal(await one.evaluate(() => chat.messages.at(-1).parts.at(-1).state), 'input-available');
  await one.evaluate(() => finish('once'));
  for (const tab of [one, two]) await tab.waitForFunction(() => chat.status === 'ready' && chat.messages.at(-1).parts.at(-1).text === 'Painted.');
  assert.deepEqual([server.posts.length, server.posts[1].messages.at(-1).parts.at(-1).output], [2, 'once']);
  assert.deepEqual(problems, []);
});

test('an answer goes on in the page that a tool has loaded, which has the claim of the page before', async (t) => {
  const call = answers({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'open', input: {} });
  const { server, problems, open } = await served(t, call, says('There.'));
  const tab = await open();
  await tab.evaluate(() => {
    const load = () => (setTimeout(() => location.reload(), 100), new Promise(() => {}));
    chat.registerTool({ name: 'open', description: 'Opens a page' }, load);
    void chat.sendMessage({ text: 'Open it' });
  });
  await tab.waitForEvent('load');
  await tab.waitForFunction(() => globalThis.chat?.status === 'ready' && chat.messages.at(-1)?.parts.at(-1).text === 'There.');
  assert.match(server.posts[1].messages.at(-1).parts.at(-1).errorText, /loaded again/);
  assert.deepEqual(problems, []);
});

test('a chat whose engine cannot be loaded says so, and loads it when the user tries again', async (t) => {
  const { context, server, open } = await served(t, says('Hello.'));
  // The server does not answer for the engine, nor later for the module that the page has.
  const isLost = (request) => /client-/.test(request.url()) || request.method() === 'HEAD';
  await context.route('**/*.js', (route) => (isLost(route.request()) ? route.abort() : route.continue()));
  const tab = await open();
  const { error } = await tab.evaluate(async () => {
    await chat.sendMessage({ text: 'Hi' });
    return { error: { status: chat.status, kind: chat.error.kind, canRetry: chat.error.canRetry } };
  });
  assert.deepEqual(error, { status: 'error', kind: 'offline', canRetry: true });
  await context.unrouteAll();
  await tab.evaluate(() => chat.sendMessage({ text: 'Hi' }));
  assert.deepEqual(await tab.evaluate(() => [chat.status, chat.messages.at(-1).parts.at(-1).text]), ['ready', 'Hello.']);
  assert.equal(server.posts.length, 1);
});

test('a tab keeps the claims of settled calls until it shows another chat', async (t) => {
  const { open } = await served(t, ASKS, says('Refunded.'), ASKS);
  const tab = await open();
  const held = () => tab.evaluate(async () => (await navigator.locks.query()).held.length);
  await tab.evaluate(async () => {
    await chat.sendMessage({ text: 'Refund it' });
    await chat.approve(chat.messages.at(-1).parts.at(-1), true);
  });
  assert.equal(await held(), 1);
  await tab.evaluate(() => chat.newChat());
  assert.equal(await held(), 0);
  await tab.evaluate(() => chat.close());
});

test('a state of a component that is larger than browsers send after the page is closed reaches the server', { timeout: 30_000 }, async (t) => {
  const server = await serveStored();
  const { open } = await servedBy(t, server);
  const state = { type: 'data-ui-state', id: 'cart', data: { component: 'cart', rev: 1, state: {}, seal: 's1' } };
  server.store.messages = [question('q1', 'One'), answer('a1', state)];
  const put = new Promise((resolve) => {
    server.files['/assistant/ui/cart/state'] = (response, body) => {
      resolve(body.state);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...body, rev: 2 }));
    };
  });
  const tab = await open();
  await tab.evaluate(async () => {
    await chat.setChatId('c1');
    chat.setState('cart', { note: 'x'.repeat(70_000) });
  });
  assert.equal((await put).note.length, 70_000);
});

test('a request that the host sends on to a page of another origin that signs in says that the user is not signed in', async (t) => {
  const login = await serve();
  t.after(login.stop);
  const sendsOn = fails(302, { location: `${login.api}/login` });
  const { server, open } = await served(t, sendsOn, says('Hello.'));
  server.files['/assistant'] = sendsOn;
  const tab = await open();
  await tab.evaluate(() => chat.sendMessage({ text: 'Hi' }));
  const error = () => tab.evaluate(() => [chat.status, chat.error?.status, chat.error?.canRetry]);
  assert.deepEqual([await error(), server.posts.length], [['error', 401, true], 1]);
  await tab.evaluate(() => chat.regenerate());
  assert.equal(await tab.evaluate(() => chat.messages.at(-1).parts.at(-1).text), 'Hello.');
});

// Apps of an MCP server in headless Chromium, through the assistant's own routes and the host of the widget.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const folder = fileURLToPath(new URL('.', import.meta.url));
const out = `${folder}out/`;
const QUIET = ['--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let host;
let browser;

before(async () => {
  await bundle();
  host = await start();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    chromiumSandbox: process.getuid?.() !== 0,
    args: QUIET,
  });
});
after(async () => {
  await browser?.close();
  host?.stop();
});

/** Builds the page, and the document of the official app. */
async function bundle() {
  mkdirSync(out, { recursive: true });
  const shared = { bundle: true, format: 'esm', target: 'es2022', logLevel: 'warning', absWorkingDir: folder };
  await build({ ...shared, entryPoints: ['page.js'], outfile: `${out}page.js` });
  const app = await build({ ...shared, entryPoints: ['dashboard.js'], minify: true, write: false });
  const code = app.outputFiles[0].text.replaceAll('</script', '<\\/script');
  const html = readFileSync(`${folder}dashboard.html`, 'utf8').replace('/* app */', () => code);
  writeFileSync(`${out}dashboard.html`, html);
  for (const name of ['page.html', 'hostile.html']) writeFileSync(`${out}${name}`, readFileSync(folder + name));
}

/** Starts the server, which prints its address. It ends with its standard input. */
async function start() {
  const binary = process.env.MCP_SERVED_BIN;
  assert.ok(binary, 'MCP_SERVED_BIN names the built server');
  const child = spawn(binary, ['apps', `${folder}server.mjs`, out], { stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  const origin = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended (${code}): ${printed}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const address = printed.match(/listening on (http:\/\/127\.0\.0\.1:\d+)/)?.[1];
      if (address) resolve(address);
    });
  });
  return { origin, stop: () => child.kill() };
}

/** Opens the page in a context that `prepare` has changed. `arrived` has the requests to other hosts. */
async function open(t, prepare) {
  const context = await browser.newContext();
  t.after(() => context.close());
  await prepare?.(context);
  const arrived = [];
  await context.route(/\.test\//, async (route) => {
    const url = new URL(route.request().url());
    arrived.push(url.host + url.pathname);
    const svg = url.pathname.endsWith('.svg');
    await route.fulfill({
      contentType: svg ? 'image/svg+xml' : 'text/plain',
      headers: { 'access-control-allow-origin': '*' },
      body: svg ? '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' : 'data',
    });
  });
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${host.origin}/page.html`);
  await page.waitForFunction(() => window.show);
  return { context, page, arrived, errors };
}

const SECRETS = { cookie: /session=secret/, dom: /The title/, storage: /the secret/, own: /status 200/ };

/** Returns the attacks that did not work. */
function blocked(results, arrived) {
  const worked = Object.entries(SECRETS).filter(([name, secret]) => secret.test(results[name])).map(([name]) => name);
  for (const [name, path] of [['foreign', '/fetch'], ['image', '/image.svg'], ['popup', '/popup'], ['navigation', '/navigation']]) {
    if (arrived.includes(`evil.test${path}`)) worked.push(name);
  }
  return ['cookie', 'dom', 'storage', 'own', 'foreign', 'image', 'popup', 'navigation'].filter((name) => !worked.includes(name));
}

const ALL = ['cookie', 'dom', 'storage', 'own', 'foreign', 'image', 'popup', 'navigation'];
const DOCUMENT = '/assistant/apps/shop/shop/hostile.html';

/** Waits for the end of the attacks, and for the requests that they may have caused. */
async function attacked(frame) {
  await frame.waitForFunction(() => window.results?.navigation !== undefined || window.done, undefined, { timeout: 10_000 }).catch(() => {});
  const results = await frame.evaluate(() => window.results).catch(() => ({}));
  await new Promise((resolve) => setTimeout(resolve, 300));
  return results;
}

test('a hostile app in a frame: 8 of 8 attacks are blocked', async (t) => {
  const { page, arrived } = await open(t);
  await page.evaluate(() => window.show('shop_hostile'));
  const frame = await (await page.waitForSelector('iframe')).contentFrame();
  const results = await attacked(frame);
  assert.deepEqual(blocked(results, arrived), ALL, JSON.stringify({ results, arrived }));
  assert.equal(results.declared, 'status 200');
  assert.equal(results.picture, 'loaded');
  assert.equal(await page.title(), 'The title of the page');
});

test('a hostile app that is opened directly: 8 of 8 attacks are blocked', async (t) => {
  const { context, page, arrived } = await open(t);
  const opened = context.waitForEvent('page');
  await page.evaluate((url) => void window.open(url), DOCUMENT);
  const results = await attacked(await opened);
  assert.deepEqual(blocked(results, arrived), ALL, JSON.stringify({ results, arrived }));
  assert.equal(results.declared, 'status 200');
  assert.equal(await page.title(), 'The title of the page');
});

test('the same document without the policy: 8 of 8 attacks work, in a frame and opened directly', async (t) => {
  for (const way of ['frame', 'direct']) {
    // The results leave the page before it is navigated away.
    let results;
    const { context, page, arrived } = await open(t, async (context) => {
      await context.exposeFunction('report', (given) => (results = given));
      await context.addInitScript(() => {
        let kept;
        Object.defineProperty(window, 'results', { get: () => kept, set: (given) => window.report((kept = given)) });
      });
    });
    const opened = way === 'direct' ? context.waitForEvent('page') : undefined;
    if (way === 'direct') await page.evaluate(() => void window.open('/hostile.html'));
    else {
      await page.evaluate(() => {
        const frame = document.createElement('iframe');
        frame.src = '/hostile.html';
        document.body.append(frame);
      });
    }
    await opened;
    const began = Date.now();
    while (!arrived.includes('evil.test/navigation') && Date.now() - began < 10_000) await new Promise((done) => setTimeout(done, 50));
    assert.deepEqual(blocked(results, arrived), [], `${way}: ${JSON.stringify({ results, arrived })}`);
  }
});

test('hostile hosts never reach the policy', async () => {
  const response = await fetch(host.origin + DOCUMENT, { headers: { cookie: 'session=secret' } });
  const policy = response.headers.get('content-security-policy');
  assert.match(policy, /^sandbox allow-scripts allow-forms; default-src 'none'; /);
  assert.match(policy, /; connect-src https:\/\/api\.declared\.test; /);
  assert.match(policy, /; img-src data: https:\/\/cdn\.declared\.test; /);
  assert.doesNotMatch(policy, /\*|unsafe-eval|x\.test|evil|http:/);
  assert.equal(response.headers.get('x-evil'), null);
});

test('an app of the official SDK: input, result, calls, approval, questions, end', async (t) => {
  const { page, errors } = await open(t);
  await page.evaluate(() => window.show('shop_dashboard {"region":"North"}'));
  const app = page.frameLocator('iframe');
  const shows = async (id, expected) => {
    const began = Date.now();
    let text;
    do {
      text = await app.locator(`#${id}`).textContent();
      if (typeof expected === 'string' ? text === expected : expected.test(text)) return text;
      await new Promise((done) => setTimeout(done, 20));
    } while (Date.now() - began < 10_000);
    assert.fail(`#${id}: ${text}`);
  };
  const click = (id) => app.locator(`#${id}`).click();
  const last = () => page.evaluate(() => window.log.at(-1));
  const answer = (...given) => page.evaluate((given) => void window.answers.push(...given), given);

  await shows('host', 'omniassist');
  await shows('theme', 'dark');
  await shows('partial', '{"region":"Nor"}');
  await shows('input', '{"region":"North"}');
  const result = JSON.parse(await shows('result', /42/));
  assert.deepEqual(result.structuredContent, { region: 'North', total: 42 });
  assert.equal(result.content[0].text, 'Sales in North');
  assert.equal(result._meta.cursor, 'page-2', 'the model does not read it, the app does');
  const height = await page.locator('iframe').evaluate((frame) => frame.clientHeight);
  assert.ok(height > 0 && height !== 240, `the document has set the height: ${height}`);

  await click('refresh');
  await shows('answer', /"text":"refreshed"/);
  await click('note');
  await shows('answer', /a note/);
  await click('internal');
  await shows('answer', /Apps may not call this tool/);
  await answer(false, true);
  await click('pay');
  await shows('answer', /denied/);
  const [kind, { approval, ...question }] = await last();
  assert.deepEqual([kind, question], ['ask', { kind: 'tool-call' }]);
  assert.equal(approval.toolName, 'shop_pay');
  assert.deepEqual(approval.input, { cents: 700 });
  await click('pay');
  await shows('answer', /"text":"paid 700"/);

  await answer(false, true);
  await click('link');
  await shows('answer', /isError/);
  assert.deepEqual(await last(), ['ask', { kind: 'open-link', url: 'https://example.test/report' }]);
  await click('link');
  await shows('answer', '{}');
  assert.deepEqual(await last(), ['open', 'https://example.test/report']);
  await click('script');
  await shows('answer', /isError/);
  assert.deepEqual(await last(), ['open', 'https://example.test/report'], 'it is not even asked');
  await answer(true);
  await click('message');
  await shows('answer', '{}');
  assert.deepEqual(await last(), ['message', 'Show May']);
  await click('context');
  await shows('answer', '{}');
  assert.deepEqual(await last(), ['context', { structuredContent: { month: 'May' } }]);
  await page.evaluate(() => window.app.setTheme('light'));
  await shows('theme', 'light');
  await page.evaluate(() => window.app.toolCancelled('stopped'));
  await shows('cancelled', 'stopped');

  await page.evaluate(() => window.app.close());
  assert.deepEqual(await last(), ['context', { content: [{ type: 'text', text: 'bye' }] }], 'it could end its work');
  assert.equal(await page.locator('iframe').count(), 0);
  assert.deepEqual(errors, []);
});

test('an app that shows another document, and one that asks for its end, are removed', async (t) => {
  for (const way of ['away', 'leave']) {
    const { page } = await open(t);
    await page.evaluate(() => window.show('shop_dashboard {"region":"North"}'));
    await page.frameLocator('iframe').locator(`#${way}`).click();
    await page.waitForFunction(() => window.log.some(([kind]) => kind === 'closed'));
    assert.equal(await page.locator('iframe').count(), 0, way);
  }
});

test('messages of other windows, and addresses that a URL would change, do nothing', async (t) => {
  const { page } = await open(t);
  await page.evaluate(() => window.show('shop_dashboard {"region":"North"}'));
  await page.frameLocator('iframe').locator('#result').filter({ hasText: '42' }).waitFor();
  // The page itself, and a second document without an origin that no host watches.
  await page.evaluate((url) => {
    window.answers.push(true);
    const call = { jsonrpc: '2.0', id: 'x', method: 'ui/open-link', params: { url: 'https://evil.test/' } };
    window.postMessage(call, '*');
    const other = document.createElement('iframe');
    other.id = 'other';
    other.src = url;
    document.body.append(other);
  }, DOCUMENT);
  await attacked(await (await page.waitForSelector('#other')).contentFrame());
  assert.deepEqual(await page.evaluate(() => window.log), []);
  for (const uri of ['https://shop/x', 'ui://', 'ui://../../files/a', 'ui://a/./b', 'ui://a//b', 'ui://a/']) {
    assert.equal(await page.evaluate((uri) => window.wrong(uri), uri), 'TypeError', uri);
  }
});

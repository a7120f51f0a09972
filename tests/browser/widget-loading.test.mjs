// The modules of the widget as a browser loads them: in a page under the strictest policy, behind a proxy that records
// what the browser requests.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { DEMO, startQuickstart } from '../lib/quickstart.mjs';
import { html, startProxy } from '../lib/shop.mjs';
import { openBrowser } from './page.mjs';

const ASSETS = new URL('../../omniassist-server/assets/widget/assets.json', import.meta.url);

let app;
let browser;
let proxy;
/** The URL of the entry, and its hash. */
let entry;
let integrity;

before(async () => {
  const { folder, files } = JSON.parse(await readFile(ASSETS, 'utf8'));
  entry = `/assistant/w/${folder}/widget.js`;
  integrity = `sha384-${files[0].sha384}`;
  app = await startQuickstart(DEMO);
  browser = await openBrowser();
  proxy = await startProxy(app.origin);
});
after(async () => {
  await browser?.close();
  await proxy?.stop();
  await app?.stop();
});

/** Opens a page with this tag and this module. Returns the page, and what it logs. */
async function open(tag, module = '') {
  Object.assign(proxy.pages, {
    '/': html(`${tag}<script type="module" src="/page.js"></script>`),
    '/page.js': module,
  });
  proxy.seen.length = 0;
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(15_000);
  const problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(proxy.origin);
  return { page, problems };
}

const tagOf = (hash) => `<script type="module" src="${entry}" integrity="${hash}" crossorigin></script>`;

test('both URLs give the same module, compressed, without a report of the policy', async () => {
  const module = `import * as stable from '/assistant/widget.js'; import * as hashed from '${entry}';
    window.loaded = { isOne: stable.registerTool === hashed.registerTool, names: Object.keys(stable) };`;
  const { page, problems } = await open('<script type="module" src="/assistant/widget.js"></script>', module);
  const { isOne, names } = await (await page.waitForFunction(() => window.loaded)).jsonValue();
  assert.ok(isOne, 'a tool that is registered by one is known to the other');
  assert.ok(names.includes('registerTool') && names.includes('registerComponent'), String(names));
  const modules = proxy.seen.filter(({ url }) => url.startsWith('/assistant/w/'));
  assert.equal(new Set(modules.map(({ url }) => url)).size, modules.length, 'each is requested once');
  assert.ok(modules.length > 0 && modules.every(({ coding }) => coding === 'br'), JSON.stringify(modules));

  // Chromium asks for the short module again, and keeps the others.
  proxy.seen.length = 0;
  await page.goto('about:blank');
  await page.goto(proxy.origin);
  await page.waitForFunction(() => window.loaded);
  const again = proxy.seen.map(({ url, status }) => `${status} ${url}`);
  assert.deepEqual(again, ['304 /assistant/widget.js']);
  assert.deepEqual(problems, []);
  await page.context().close();
});

test('the tag with the hash loads the module, and another hash does not', async () => {
  const module = `import { registerTool } from '/assistant/widget.js'; window.loaded = typeof registerTool;`;
  const right = await open(tagOf(integrity), module);
  assert.equal(await (await right.page.waitForFunction(() => window.loaded)).jsonValue(), 'function');
  assert.deepEqual(right.problems, []);
  await right.page.context().close();

  const changed = integrity.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const wrong = await open(tagOf(changed), 'window.loaded = true;');
  await wrong.page.waitForFunction(() => window.loaded);
  assert.match(wrong.problems.join(), /integrity/);
  await wrong.page.context().close();
});

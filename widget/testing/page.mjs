// A page under the strictest policy that the components support, in headless Chromium.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { documentOf, HTML, SCRIPT, serve, SVG, watch } from './serving.mjs';

const IMAGE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="240"><rect width="640" height="240" fill="#f6a15b"/><circle cx="470" cy="150" r="60" fill="#ffe2b0"/><path d="M0 170h640v70H0z" fill="#28536b"/></svg>';
const PAGE = documentOf(
  'Components',
  '<main><h1>Components</h1><div id="root"></div></main><script type="module" src="/page.js"></script>',
);
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Serves the page. `requests` has the paths that were requested besides it. */
async function servePage() {
  const requests = [];
  const file = (path) => readFile(new URL(path, import.meta.url));
  const files = {
    '/': [HTML, PAGE],
    '/page.js': [SCRIPT, await file('client.js')],
    '/components.js': [SCRIPT, await file('../../omniassist-server/assets/components.js')],
  };
  const server = await serve((path, { url, headers }) => {
    if (files[path]) return files[path];
    requests.push(url);
    // Any image is there, so that a wrong address shows in `requests` only.
    return path === '/image.svg' || headers['sec-fetch-dest'] === 'image' ? [SVG, IMAGE] : undefined;
  });
  return Object.assign(server, { requests });
}

export async function openBrowser(...flags) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    // The sandbox of Chromium refuses to run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [...QUIET, ...flags],
  });
}

/**
 * Returns a function that adds a test with a page of its own. The page must log no error, and the policy must block
 * nothing. No request may leave the origin.
 */
export function suite() {
  let browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());
  return (name, run, options = {}) =>
    test(name, { timeout: 120_000 }, async () => {
      const view = await openPage(browser, options);
      try {
        await run(view);
        await view.settle();
        assert.deepEqual([...view.problems, ...view.server.reports], []);
      } finally {
        await view.close();
      }
    });
}

export async function openPage(browser, { width = 1280, scheme = 'light', contrast } = {}) {
  const server = await servePage();
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    forcedColors: contrast,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems = watch(page, server);
  await page.goto(server.origin);
  await page.waitForFunction(() => window.ready);
  return {
    page,
    server,
    problems,
    root: page.locator('#root'),
    show: (part, hooks) => page.evaluate(([part, hooks]) => window.show(part, hooks), [part, hooks]),
    change: (part) => page.evaluate((part) => (window.change(part), window.frame()), part),
    text: () => page.evaluate(() => window.text()),
    tree: () => page.evaluate(() => window.tree()),
    log: () => page.evaluate(() => window.log),
    settle: () => page.evaluate(() => window.frame().then(window.frame)),
    async close() {
      await context.close();
      server.stop();
    },
  };
}

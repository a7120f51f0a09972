// A page with the views of messages under the strictest policy, in headless Chromium. The tests of a file share it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { data } from '../build-data.mjs';
import { openBrowser } from './page.mjs';
import { documentOf, HTML, SCRIPT, serve, SVG, watch } from './serving.mjs';

const PAGE = documentOf(
  'Chat',
  '<main><h1>Chat</h1><div id="root"></div></main><script type="module" src="/parts-client.js"></script>',
);
const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="24"><rect width="64" height="24"/></svg>';

async function scripts() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('parts-client.js', import.meta.url))],
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir: '/',
    write: false,
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'warning',
    plugins: [data],
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [path, text]));
}

/** Serves the page. `requests` has what was requested besides its scripts. */
async function servePage() {
  const files = await scripts();
  const requests = [];
  const server = await serve((path, { url }) => {
    if (path === '/') return [HTML, PAGE];
    if (files[path]) return [SCRIPT, files[path]];
    requests.push(url);
    return path === '/image.svg' ? [SVG, IMAGE] : undefined;
  });
  return Object.assign(server, { requests });
}

/**
 * Returns a function that adds a test. Its view has `page`, `problems`, `open` and `calls`. The page must log no error, the policy must
 * block nothing, and no request may leave the origin.
 */
export function partsSuite() {
  const view = {};
  let browser;
  let problems = [];
  before(async () => {
    [view.server, browser] = await Promise.all([servePage(), openBrowser()]);
    const context = await browser.newContext({
      viewport: { width: 420, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(5_000);
    problems = watch(page, view.server);
    await page.goto(view.server.origin);
    await page.waitForFunction(() => window.ready);
    Object.assign(view, {
      page,
      problems,
      root: page.locator('#root'),
      open: (options) => page.evaluate((options) => window.open(options), options),
      calls: () => page.evaluate(() => window.calls),
      change: (change) => page.evaluate((change) => window.change(change), change),
    });
  });
  after(async () => {
    await browser?.close();
    view.server?.stop();
  });
  return (name, run) =>
    test(name, { timeout: 30_000 }, async () => {
      problems.length = view.server.reports.length = view.server.requests.length = 0;
      await run(view);
      await view.page.evaluate(() => window.frame().then(window.frame));
      assert.deepEqual([...problems, ...view.server.reports], []);
    });
}

/** A call of a tool in an answer. */
export const call = (part, metadata) => ({
  messages: [
    { id: 'q', role: 'user', parts: [{ type: 'text', text: 'Refund 1002' }] },
    {
      id: 'a',
      role: 'assistant',
      metadata: metadata && { omniassist: metadata },
      parts: [{ type: 'tool-refund_order', toolCallId: 't1', state: 'input-available', input: {}, ...part }],
    },
  ],
});

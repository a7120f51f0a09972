// Pages with forms of several frameworks, and the tools that the page runs, in headless Chromium.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { styles } from '../build-data.mjs';
import { openBrowser } from './page.mjs';
import { documentOf, HTML, POLICY, SCRIPT, serve } from './serving.mjs';

// Vue makes a policy for its templates at load, even if it has none.
const POLICIES = { vue: POLICY.replace("trusted-types 'none'", 'trusted-types vue') };
const folder = fileURLToPath(new URL('page/', import.meta.url));

async function bundle(app) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    bundle: true,
    charset: 'utf8',
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    entryPoints: [`${app}.ts`],
    format: 'esm',
    logLevel: 'warning',
    plugins: [styles],
    target: 'es2022',
    write: false,
  });
  return outputFiles[0].text;
}

/**
 * Serves a page. `submits` has the forms that it submitted, and `loads` the pages that were requested. `turns` has the
 * chunks with which an assistant answers, and `posts` what it was asked.
 */
async function servePage(app, script) {
  const [submits, loads, posts, turns] = [[], [], [], []];
  const html = documentOf('Start', '<div id="root"></div><script type="module" src="/page.js"></script>');
  const posted = async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const isChat = request.url.split('?')[0] === '/assistant';
    (isChat ? posts : submits).push(`${request.url} ${body}`);
    if (!isChat) return response.writeHead(204).end();
    const chunks = turns.shift() ?? [];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
  };
  const server = await serve(
    (path, { method, url }) => {
      if (method === 'POST') return undefined;
      if (path === '/page.js') return [SCRIPT, script];
      loads.push(url);
      return [HTML, html];
    },
    { policy: POLICIES[app], rest: posted },
  );
  return Object.assign(server, { submits, loads, posts, turns });
}

let browser;
before(async () => {
  browser = await openBrowser('--enable-blink-features=WebMCP');
});
after(() => browser?.close());

const scripts = new Map();

/**
 * Adds tests, each with a page of its own, whose script is `testing/page/APP.ts`. The page must log no error, and the
 * policy must block nothing. No form may be submitted. `expects` is an error that the page logs on purpose.
 */
export function suite(app, define) {
  describe(app, { concurrency: 4 }, () => {
    define((name, run, options) =>
      test(name, { timeout: 60_000 }, async () => {
        if (!scripts.has(app)) scripts.set(app, bundle(app));
        await visit(app, await scripts.get(app), run, options);
      }));
  });
}

/** Adds elements to the form that is opened to the assistant. Each one is its tag, its attributes and its children. */
export const add = (view, ...nodes) =>
  view.page.evaluate((nodes) => {
    const made = (node) => (typeof node === 'string' ? node : window.make(node[0], node[1], ...node.slice(2).map(made)));
    document.querySelector('#ticket').append(...nodes.map(made));
  }, nodes);

async function visit(app, script, run, { path = '/', init, expects, ...settings } = {}) {
  const server = await servePage(app, script);
  const tabs = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...settings });
  const page = await tabs.newPage();
  page.setDefaultTimeout(15_000);
  const problems = [];
  const problem = (text) => void (expects?.test(text) || problems.push(text));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problem(message.text()));
  page.on('pageerror', (error) => problem(String(error)));
  if (init) await page.addInitScript(init);
  try {
    await page.goto(server.origin + path);
    await page.waitForFunction(() => window.ready);
    await run({
      page,
      server,
      tabs,
      /** Runs a tool as the chat does. Returns its output, or `{ error }`. */
      call: (tool, input, agrees) =>
        page.evaluate(([tool, input, agrees]) => window.call(tool, input, agrees), [tool, input, agrees]),
      /** Returns the context of the next send. */
      context: () => page.evaluate(() => window.takeContext()),
      asked: () => page.evaluate(() => window.asked),
    });
    assert.deepEqual([...problems, ...server.reports], []);
    assert.deepEqual(server.submits, [], 'no form was submitted');
  } finally {
    await tabs.close();
    server.stop();
  }
}

// A page with the widget, under the strictest policy that it supports, in headless Chromium. `/assistant` is a real
// quickstart, or nothing for tests that drive the chat.

import assert from 'node:assert/strict';
import { request as requestTo } from 'node:http';
import { after, before, test } from 'node:test';
import { bundle, DRIVEN } from './bundle.mjs';
import { openBrowser } from './page.mjs';
import { documentOf, HTML, SCRIPT, serve, watch } from './serving.mjs';

export { POLICY } from './serving.mjs';

/** The longest time from a change of an answer that arrives to its drawing: `LONGEST_MS` of `src/ui/frame.ts`, and a frame. */
const LONGEST_PAUSE_MS = 170;

/** The two lines of the widget. */
export const LINES = (attributes = '') =>
  `<script type="module" src="/assistant/widget.js"></script>\n<omniassist-chat ${attributes}></omniassist-chat>`;

/** Passes a request on. The other server accepts requests of its own origin only. */
function forward(request, response, target) {
  const { host } = new URL(target);
  const headers = { ...request.headers, host };
  if (headers.origin) headers.origin = target;
  if (headers.referer) headers.referer = `${target}/`;
  const passed = requestTo(target + request.url, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
}

/**
 * Opens a page. `body` is its markup; the default are the two lines with `attributes`. `target` is the origin of a running
 * assistant; without it, the test drives the chat. `prepare` gets the page before it is loaded.
 */
export async function openWidget(browser, options = {}) {
  const {
    attributes = '',
    body = LINES(attributes),
    lang = 'en',
    target,
    width = 1280,
    height = 800,
    scheme = 'light',
  } = options;
  const modules = await bundle(target ? {} : DRIVEN);
  const html = documentOf('Page', body, lang);
  const script = (path) => (path.startsWith('/assistant/') ? modules.get(path.slice(path.lastIndexOf('/') + 1)) : undefined);
  const server = await serve(
    (path) => (path === '/' ? [HTML, html] : script(path) && [SCRIPT, script(path)]),
    target && { rest: (request, response) => forward(request, response, target) },
  );
  // A context is shared by the tests of a file: a page has a session of its own.
  const context = browser.contexts()[0] ?? (await browser.newContext({ reducedMotion: 'reduce' }));
  const page = await context.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, forcedColors: options.contrast ?? null });
  page.setDefaultTimeout(10_000);
  const problems = watch(page, server);
  await options.prepare?.(page);
  await page.goto(server.origin);
  await page.waitForFunction(() => document.querySelector('omniassist-chat')?.shadowRoot?.childElementCount);
  return {
    page,
    server,
    problems,
    part: (name) => page.locator(`omniassist-chat [part~="${name}"]`),
    input: page.locator('omniassist-chat textarea[part~="input"]').last(),
    /** Changes the driven chat, and waits for the frame that shows it. While an answer arrives, it follows after a pause. */
    change: (change) =>
      page.evaluate(
        async ([change, pause]) => {
          const wasStreaming = window.chat.status === 'streaming';
          window.chat.change(change);
          if (wasStreaming && window.chat.status === 'streaming') await new Promise((next) => setTimeout(next, pause));
          return new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
        },
        [change, LONGEST_PAUSE_MS],
      ),
    frame: () => page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))),
    calls: () => page.evaluate(() => window.chat.calls),
    async close() {
      await page.close();
      server.stop();
    },
  };
}

/**
 * Returns a function that adds a test with a page of its own. No page may log an error, break the policy, or leave its
 * origin.
 */
export function widgetSuite() {
  let browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());
  return (name, options, run, skip = false) =>
    test(name, { timeout: 60_000, skip }, async (context) => {
      const view = await openWidget(browser, typeof options === 'function' ? await options() : options);
      try {
        await run(view, context);
        await view.frame();
        assert.deepEqual([...view.problems, ...view.server.reports], []);
      } finally {
        await view.close();
      }
    });
}

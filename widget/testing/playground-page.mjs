// The page of the playground as the sources build to, in headless Chromium, before a running assistant.

import assert from 'node:assert/strict';
import { request as requestTo } from 'node:http';
import { after, before, test } from 'node:test';
import { data } from '../build-data.mjs';
import { playground } from '../build-playground.mjs';
import { bundle } from './bundle.mjs';
import { openBrowser } from './page.mjs';
import { HTML, SCRIPT, serve, watch } from './serving.mjs';

const built = playground({ bundle: true, format: 'esm', plugins: [data], write: false });

/**
 * Serves the page and the widget. The other requests go to `target`, the origin of an assistant, or to `answer`. `sent` has
 * the bodies of the runs, and `paths` all requests.
 */
async function serveBuilt(target, answer) {
  const files = await built;
  const modules = await bundle();
  const sent = [];
  const paths = [];
  const own = (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (path === '/assistant/playground') return [HTML, files['page.html']];
    if (path === '/assistant/playground/page.js') return [SCRIPT, files['page.js']];
    return modules.has(name) ? [SCRIPT, modules.get(name)] : undefined;
  };
  const rest = async (request, response) => {
    const { pathname } = new URL(request.url, 'http://page.test');
    paths.push(`${request.method} ${pathname}`);
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    if (body && /^\/assistant(\/agents\/[^/]+)?$/.test(pathname)) sent.push(JSON.parse(body));
    if (!target) return answer(response, pathname, sent.at(-1));
    const headers = { ...request.headers, host: new URL(target).host };
    if (headers.origin) headers.origin = target;
    if (headers.referer) headers.referer = `${target}/`;
    const passed = requestTo(target + request.url, { method: request.method, headers }, (answered) => {
      response.writeHead(answered.statusCode, answered.headers);
      answered.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.end(body);
  };
  return { ...(await serve(own, { rest })), sent, paths };
}

/**
 * Returns a function that adds a test with a page of its own, which may log no error and break no policy. `assistant` returns
 * the origin of an assistant or the function that answers for it. With `isServed`, the page is the one that the server has.
 * `refused` is a status that the page may get.
 */
export function playgroundSuite() {
  let browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());
  return (name, assistant, run, refused) =>
    test(name, { timeout: 60_000 }, async () => {
      const given = await assistant();
      const server = await serveBuilt(given.origin, given.answer);
      const origin = given.isServed ? given.origin : server.origin;
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce' });
      page.setDefaultTimeout(10_000);
      const problems = watch(page, { origin });
      await page.addInitScript(() => {
        window.violations = [];
        document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
      });
      try {
        await page.goto(`${origin}/assistant/playground`);
        const input = page.locator('omniassist-chat textarea[part~="input"]').last();
        await input.waitFor();
        const ask = async (question) => {
          await input.fill(question);
          await input.press('Enter');
        };
        await run({ page, ask, origin, problems, sent: server.sent, paths: server.paths });
        const others = problems.filter((problem) => !problem.includes(`with a status of ${refused} `));
        assert.deepEqual([...others, ...(await page.evaluate(() => window.violations))], []);
      } finally {
        await page.close();
        server.stop();
      }
    });
}

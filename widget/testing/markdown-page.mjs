// A page with the Markdown view under the strictest policy, in headless Chromium. The page is shared by the tests of a
// file. An image of the page's own origin is served; each other request is recorded.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { openBrowser } from './page.mjs';
import { documentOf, HTML, POLICY, SCRIPT, serve, watch } from './serving.mjs';

const PAGE = documentOf('Markdown', '<main id="root"></main><script type="module" src="/client.js"></script>');
const folder = fileURLToPath(new URL('.', import.meta.url));

async function scripts(entry) {
  const { outputFiles } = await build({
    entryPoints: [folder + entry],
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir: '/',
    entryNames: 'client',
    write: false,
    target: 'es2022',
    logLevel: 'warning',
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [path, text]));
}

/** Opens the page. `requests` has the paths that it asked for besides its own, and `problems` returns what went wrong. */
export async function openMarkdown({ entry = 'markdown-client.js', policy = POLICY } = {}) {
  const files = await scripts(entry);
  const requests = [];
  const server = await serve(
    (path) => (path === '/' ? [HTML, PAGE] : files[path] && [SCRIPT, files[path]]),
    {
      policy,
      rest(request, response) {
        requests.push(request.url);
        response.writeHead(204).end();
      },
    },
  );
  const browser = await openBrowser();
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  const problems = watch(page, server);
  page.on('popup', () => problems.push('popup'));
  await page.goto(server.origin);
  await page.waitForFunction(() => window.ready);
  return {
    page,
    origin: server.origin,
    requests,
    problems: () => [...problems, ...server.reports],
    async close() {
      await browser.close();
      server.stop();
    },
  };
}

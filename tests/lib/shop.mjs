// An empty page with the two lines of the widget, under the strictest policy that the widget supports.

import { once } from 'node:events';
import { createServer, request as send } from 'node:http';

export const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

export const html = (body) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">${body}</html>`;

/** A module that notes in `window.problems` what fails in the page, and what the policy blocks. */
const NOTE = `window.problems = [];
  for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation']) {
    addEventListener(kind, (event) => problems.push([kind, event.message ?? event.reason ?? event.blockedURI].join(': ')), true);
  }`;

/** The files of a page of a shop, by path. `module` is a module of the page. */
export const shop = (mount = '/assistant', module = '') => ({
  '/': html(`<script type="module" src="/note.js"></script>
<script type="module" src="${mount}/widget.js"></script>
<omniassist-chat mode="popup"></omniassist-chat>
<script type="module" src="/page.js"></script>`),
  '/note.js': NOTE,
  '/page.js': module,
});

/** The headers of a file. */
export const headersOf = (path) => ({
  'content-type': path.endsWith('.js') ? 'text/javascript' : 'text/html',
  'content-security-policy': `${POLICY}; report-uri /policy-reports`,
});

/**
 * Starts a server with files of its own in `pages`, which passes requests below `mount` on to the assistant of `origin`.
 * `seen` has what was asked of the assistant, and the reports of the policy.
 */
export async function startProxy(origin, mount = '/assistant') {
  const pages = {};
  const seen = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const [path] = url.split('?');
    if (path === mount || path.startsWith(`${mount}/`)) {
      const target = new URL(`/assistant${url.slice(mount.length)}`, origin);
      const onward = send(target, { method, headers }, (answer) => {
        const { statusCode } = answer;
        seen.push({ url, status: statusCode, coding: answer.headers['content-encoding'] });
        answer.pipe(response.writeHead(statusCode, answer.headers));
        answer.on('error', () => response.destroy());
      });
      onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
      response.on('close', () => onward.destroy());
      request.pipe(onward);
      return;
    }
    if (url === '/policy-reports') seen.push({ url });
    response.writeHead(url in pages ? 200 : 404, headersOf(path)).end(pages[url]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    pages,
    seen,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

// What the pages of the suites share: their policy, their document, a server, and the record of what goes wrong.

import { createServer } from 'node:http';

/** The strictest policy under which the widget works. */
export const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

export const documentOf = (title, body, lang = 'en') =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head><body>${body}</body></html>`;

export const [HTML, SCRIPT, SVG] = ['text/html', 'text/javascript', 'image/svg+xml'];

/**
 * Serves the type and the text that `answer` returns for a path. Without them the answer is 404, or that of `rest`. `reports`
 * has what the policy blocked.
 */
export async function serve(answer, { policy = POLICY, rest = (_, response) => response.writeHead(404).end() } = {}) {
  const reports = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://page.test');
    if (pathname === '/favicon.ico') return response.writeHead(204).end();
    if (pathname === '/reports') {
      let text = '';
      request.on('data', (chunk) => (text += chunk));
      return request.on('end', () => {
        reports.push(text);
        response.writeHead(204).end();
      });
    }
    const [type, text] = answer(pathname, request) ?? [];
    if (type === undefined) return rest(request, response);
    const headers = { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': `${policy}; report-uri /reports` };
    return response.writeHead(200, headers).end(text);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    reports,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns a list that gets what goes wrong in a page: errors, warnings, dialogs, and requests to other origins. */
export function watch(page, { origin }) {
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error.stack)));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) problems.push(request.url());
  });
  return problems;
}

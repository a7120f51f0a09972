// A page in front of a running server, under the strictest policy that the widget supports.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { data } from '../build-data.mjs';

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Bundles a source of the widget, or the text of a module in `src/`. */
export async function bundle(contents, { external } = {}) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('../src/', import.meta.url)), loader: 'ts' },
    bundle: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    external,
    format: 'esm',
    logLevel: 'warning',
    minify: true,
    plugins: [data],
    target: 'es2022',
    write: false,
  });
  return outputFiles[0].text;
}

/** The label of an item of a tree is its title. One of its rules takes all text in the item for it, also that of the items below. */
const LABELS = { id: 'label-content-name-mismatch', selector: ':not([role=treeitem])' };
export const axe = `${await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')}
  axe.configure(${JSON.stringify({ rules: [LABELS] })});`;

/**
 * Serves a page, and everything else from the server at `target`. `script` is the module of the page, and `body` its content.
 * `cut` breaks all connections, and `refuse` decides if new ones are refused.
 */
export async function serveBefore(target, script, { body = '', dir = 'ltr' } = {}) {
  const html = `<!doctype html><html lang="en" dir="${dir}"><meta charset="utf-8"><title>Suite</title><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><body><main><h1>Suite</h1>${body}</main><script type="module" src="/suite.js"></script></body></html>`;
  const files = { '/suite': ['text/html', html], '/suite.js': ['text/javascript', script], '/favicon.ico': ['image/x-icon', ''] };
  const sockets = new Set();
  let refuses = false;
  const forward = ({ method, url, headers }) => request(new URL(url, target), { method, headers });
  const server = createServer((from, to) => {
    const [type, text] = files[from.url.split('?')[0]] ?? [];
    if (type) {
      to.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY }).end(text);
      return;
    }
    const onward = forward(from);
    onward.on('error', () => to.destroy());
    onward.on('response', (answer) => answer.pipe(to.writeHead(answer.statusCode, answer.headers)));
    to.on('close', () => onward.destroy());
    from.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket.unref());
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (from, socket) => {
    socket.on('error', () => {});
    if (refuses) return socket.destroy();
    const onward = forward(from);
    onward.on('error', () => socket.destroy());
    onward.on('response', () => socket.destroy());
    onward.on('upgrade', (answer, other, first) => {
      const lines = answer.rawHeaders.flatMap((name, at) => (at % 2 ? [] : [`${name}: ${answer.rawHeaders[at + 1]}`]));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      socket.write(first);
      other.on('error', () => {});
      socket.on('close', () => other.destroy());
      other.on('close', () => socket.destroy());
      socket.pipe(other).pipe(socket);
    });
    return onward.end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  // A test that fails does not close its page.
  server.unref();
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    cut,
    refuse(value) {
      refuses = value;
    },
    stop() {
      server.close();
      cut();
    },
  };
}

/**
 * Opens the page of {@link serveBefore}. `close` fails after an error in the console, which has what the policy blocked, and after
 * a request to another origin. `expected` are the errors that a test causes.
 */
export async function openBefore(browser, target, script, { body, dir, search = '', ...options } = {}) {
  const server = await serveBefore(target, script, { body, dir });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems = [];
  const answered = new Promise((done) => page.on('websocket', (socket) => socket.once('framereceived', done)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(server.origin) && !/^(data|blob):/.test(request.url())) problems.push(request.url());
  });
  await page.goto(`${server.origin}/suite${search}`);
  return {
    page,
    server,
    /** The first frame of the server, which ends the agents that it does not know. */
    answered,
    async close({ expected } = {}) {
      await context.close();
      server.stop();
      assert.deepEqual(problems.filter((problem) => !expected?.test(problem)), []);
    },
  };
}

/** Returns the number that a share of the numbers does not exceed. */
export const quantile = (numbers, share) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length * share)];

// The modules that the server contains, in a page: what the minifier made of them still works.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { openBrowser } from '../testing/page.mjs';

const assets = new URL('../../omniassist-server/assets/widget/', import.meta.url);
const { files } = JSON.parse(readFileSync(new URL('assets.json', assets)));
const modules = new Map(files.map(({ name, path }) => [`/assistant/${name}`, readFileSync(new URL(path, assets))]));

const HTML = `<!doctype html><html lang="de"><meta charset="utf-8"><title>Page</title><main>
  <form data-assistant="address"><label>City <input name="city"></label></form>
  <omniassist-agents api="/assistant"></omniassist-agents></main>
  <script type="module" src="/assistant/widget.js"></script><omniassist-chat mode="page"></omniassist-chat>`;
/** An answer with a part for each module of views. */
const ANSWER = [
  { type: 'start', messageId: 'answer' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: '```rust\nlet city = "Bonn";\n```\n' },
  { type: 'text-end', id: 't' },
  { type: 'tool-input-available', toolCallId: 'c', toolName: 'ui_chart', input: { kind: 'bar', labels: ['A'], series: [{ name: 'Sales', values: [1] }] } },
  { type: 'tool-output-available', toolCallId: 'c', output: { instanceId: 'c' } },
  { type: 'source-url', sourceId: 's', url: 'https://source.example/', title: 'A source' },
  { type: 'tool-input-available', toolCallId: 'f', toolName: 'fill_form', input: { fields: [{ field: 'city', value: 'Bonn' }] } },
  { type: 'finish' },
];

const posts = [];
let server;
let browser;
before(async () => {
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://page.test');
    const send = (type, body) => response.writeHead(200, { 'content-type': type }).end(body);
    if (pathname === '/') return send('text/html', HTML);
    if (modules.has(pathname)) return send('text/javascript', modules.get(pathname));
    // The server stores no chats.
    if (request.method !== 'POST') return response.writeHead(204).end();
    posts.push(JSON.parse(Buffer.concat(await request.toArray())));
    const text = { type: 'text-start', id: 'u' };
    const end = [{ type: 'start', messageId: 'answer' }, text, { type: 'text-delta', id: 'u', delta: 'Done.' }, { type: 'finish' }];
    const chunks = posts.length === 1 ? ANSWER : end;
    send('text/event-stream', chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

test('the chat shows an answer by the built modules, in the language of the page', async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(async () => {
    const { page } = await import('/assistant/widget.js');
    await page.tools({ fill: true });
  });
  await page.locator('omniassist-chat textarea').fill('Where?');
  await page.getByRole('button', { name: 'Senden', exact: true }).click();
  await page.locator('.token-keyword', { hasText: 'let' }).waitFor();
  await page.getByRole('img', { name: 'Balkendiagramm' }).waitFor();
  await page.getByText('A source').waitFor();
  await page.getByText('Done.').first().waitFor();
  assert.equal(await page.locator('[name=city]').inputValue(), 'Bonn');
  assert.match(JSON.stringify(posts.at(-1)), /"filled":\{"city":"Bonn"\}/);
  await page.getByRole('button', { name: 'Starten' }).waitFor();
  // Those that this page does not need are whole too.
  for (const name of modules.keys()) await page.evaluate((name) => import(name), name);
  assert.deepEqual(errors, []);
});

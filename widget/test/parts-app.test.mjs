import assert from 'node:assert/strict';
import { partsSuite } from '../testing/parts-page.mjs';

const test = partsSuite();

/** An app that keeps the messages of its host. */
const APP = `<!doctype html><script>
  window.received = [];
  const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  addEventListener('message', ({ data: { id, method, params, result } }) => {
    if (method) received.push([method.split('/').at(-1), params]);
    if (method && id) post({ id, result: {} });
    if (id !== 1 || !result) return;
    received.push(['initialized', result.hostContext]);
    post({ method: 'ui/notifications/initialized' });
  });
  post({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26' } });
</script>`;

/** Shows the app of a call. Returns a function that waits for the next message of the host with a method. */
async function opened({ page, open, root }, { part, result, ...options } = {}) {
  await page.route('**/assistant/apps/**', (route) => route.fulfill({ contentType: 'text/html', body: APP }));
  const call = { type: 'tool-shop_dashboard', toolCallId: 't1', state: 'output-available', input: { region: 'North' }, ...part };
  const data = { type: 'data-mcp-app', id: 't1', data: { server: 'shop', resourceUri: 'ui://shop/dashboard', result } };
  await open({ messages: [{ id: 'a', role: 'assistant', parts: [call, data] }], ...options });
  const frame = await (await root.locator('iframe').elementHandle()).contentFrame();
  await frame.waitForFunction(() => window.received?.some(([method]) => method === 'initialized'));
  return async (wanted) => {
    await frame.waitForFunction((wanted) => window.received.some(([method]) => method === wanted), wanted);
    return frame.evaluate((wanted) => window.received.splice(window.received.findIndex(([method]) => method === wanted), 1)[0][1], wanted);
  };
}
/** The names of the protocol. An app of the official SDK refuses others. */
const NAMES =
  /^--(color-(background|text|border|ring)-(primary|secondary|tertiary|inverse|ghost|info|danger|success|warning|disabled)|font-(sans|mono|weight-(normal|medium|semibold|bold)|(text|heading)-\w+-(size|line-height))|border-(radius-(xs|sm|md|lg|xl|full)|width-regular)|shadow-(hairline|sm|md|lg))$/;
const DONE = { result: { content: [{ type: 'text', text: '42' }] } };
const host = (view, change) => view.page.evaluate(change);

test('an app gets the arguments and the result of its call', async (view) => {
  const next = await opened(view, DONE);
  assert.deepEqual(await next('tool-input'), { arguments: { region: 'North' } });
  assert.deepEqual(await next('tool-result'), DONE.result);
});

test('a message of an app that comes while the assistant answers is refused', async (view) => {
  await opened(view, { ...DONE, status: 'streaming' });
  const frame = await (await view.root.locator('iframe').elementHandle()).contentFrame();
  await frame.evaluate(() => {
    addEventListener('message', ({ data }) => data.id === 7 && (window.answered = data));
    parent.postMessage({ jsonrpc: '2.0', id: 7, method: 'ui/message', params: { role: 'user', content: [{ type: 'text', text: 'Hi' }] } }, '*');
  });
  await view.root.getByRole('button', { name: 'Yes' }).click();
  await frame.waitForFunction(() => window.answered);
  const { result, error } = await frame.evaluate(() => window.answered);
  assert.ok(error || result.isError, JSON.stringify(result));
  assert.deepEqual(await view.calls(), []);
});

test('an app calls a tool with the headers and credentials of the chat', async (view) => {
  await opened(view, DONE);
  await view.page.route('**/assistant/apps/shop/call', (route) => route.fulfill({ json: { output: '43' } }));
  const frame = await (await view.root.locator('iframe').elementHandle()).contentFrame();
  await frame.evaluate(() => {
    addEventListener('message', ({ data }) => data.id === 7 && (window.answered = data));
    parent.postMessage({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'count', arguments: {} } }, '*');
  });
  await frame.waitForFunction(() => window.answered);
  assert.match(JSON.stringify(await frame.evaluate(() => window.answered)), /43/);
  assert.deepEqual((await view.calls()).filter(([name]) => name === 'fetch').map(([, url]) => url), ['/assistant/apps/shop/call']);
});

test('an app begins with the theme of the chat, and learns of each change', async (view) => {
  const changed = async (next) => {
    const { theme, styles } = await next('host-context-changed');
    return [theme, styles.variables['--color-background-primary'], styles.variables['--border-radius-sm']];
  };
  await host(view, () => document.querySelector('#root').setAttribute('theme', 'dark'));
  try {
    const next = await opened(view, DONE);
    const { theme, styles } = await next('initialized');
    assert.equal(theme, 'dark');
    const { '--color-text-danger': danger, '--border-radius-sm': round, '--font-mono': mono } = styles.variables;
    assert.deepEqual([danger, round], ['light-dark(#a8202b, #ff9a9a)', '8px']);
    assert.match(mono, /monospace$/);
    assert.deepEqual(Object.keys(styles.variables).filter((name) => !NAMES.test(name)), []);

    await host(view, () => document.querySelector('#root').setAttribute('theme', 'light'));
    assert.deepEqual(await changed(next), ['light', 'light-dark(#ffffff, #17191d)', '8px']);
    await host(view, () => document.documentElement.style.setProperty('--omni-color-background-primary', 'rgb(1 2 3)'));
    assert.deepEqual(await changed(next), ['light', 'rgb(1 2 3)', '8px']);
    await host(view, () => {
      document.documentElement.removeAttribute('style');
      document.querySelector('#root').removeAttribute('theme');
    });
    assert.deepEqual(await changed(next), ['light', 'light-dark(#ffffff, #17191d)', '8px']);
    // The scheme of the device, which a page without a scheme of its own follows.
    await host(view, () => document.documentElement.style.setProperty('color-scheme', 'light dark'));
    await view.page.emulateMedia({ colorScheme: 'dark' });
    assert.equal((await changed(next))[0], 'dark');
    // A change of something else is not sent.
    await host(view, () => document.body.setAttribute('class', 'scrolled'));
    await host(view, () => document.querySelector('#root').setAttribute('theme', 'light'));
    assert.equal((await changed(next))[0], 'light');
  } finally {
    await view.page.emulateMedia({ colorScheme: null });
    await host(view, () => {
      document.documentElement.removeAttribute('style');
      document.body.removeAttribute('class');
      document.querySelector('#root').removeAttribute('theme');
    });
  }
});

test('an app whose call is stopped learns that', async (view) => {
  const next = await opened(view, { part: { state: 'input-available', providerExecuted: true }, status: 'streaming' });
  await host(view, () => ((window.chat.status = 'ready'), window.refresh(), window.refresh()));
  assert.deepEqual(await next('tool-cancelled'), { reason: 'The answer was stopped.' });
});

test('an app whose call fails learns the reason, and one that waits gets the result once', async (view) => {
  const part = { state: 'input-available', providerExecuted: true };
  const failing = await opened(view, { part, status: 'streaming' });
  await host(view, () => window.change({ state: 'output-error', errorText: 'No such shop.' }, window.chat.messages[0].parts[0]));
  assert.deepEqual(await failing('tool-result'), { content: [{ type: 'text', text: 'No such shop.' }], isError: true });

  const next = await opened(view, { part, status: 'streaming' });
  await host(view, () => window.change({ data: { ...window.chat.messages[0].parts[1].data, result: { content: [] } } }));
  await host(view, () => ((window.chat.status = 'ready'), window.refresh()));
  assert.deepEqual(await next('tool-result'), { content: [] });
  const rest = await view.page.frames().at(-1).evaluate(() => window.received.map(([method]) => method));
  assert.deepEqual(rest.filter((method) => method.startsWith('tool-')), ['tool-input']);
});

/** Sends a request of the app that asks the user, and returns the card of the question. */
async function asked(view, method, params, approval) {
  await opened(view, { ...DONE, composer: true });
  const refused = { error: { approval, pending: { parts: [] } } };
  await view.page.evaluate((refused) => (window.answers.fetch = async () => Response.json(refused, { status: 409 })), refused);
  const frame = await (await view.root.locator('iframe').elementHandle()).contentFrame();
  await frame.evaluate((message) => parent.postMessage({ jsonrpc: '2.0', id: 7, ...message }, '*'), { method, params });
  const card = view.root.locator('[part~=approval]');
  await card.waitFor();
  return card;
}

test('a call of an app that needs an approval shows its server and its arguments', async (view) => {
  const input = { order: 1002, iban: 'XX-1' };
  const card = await asked(view, 'tools/call', { name: 'refund', arguments: input }, { id: 'ap', toolCallId: 'c', toolName: 'refund', input, message: null });
  assert.equal(await card.locator('[part~=ask]').innerText(), 'The app of “shop” wants to run “refund”.');
  assert.deepEqual(await card.locator('dt').allInnerTexts(), ['Order', 'Iban']);
  assert.deepEqual(await card.locator('dd').allInnerTexts(), ['1002', 'XX-1']);
  await card.getByRole('button', { name: 'No' }).click();
});

test('links and messages of an app name its server, and the answer leaves the focus in the chat', async (view) => {
  const link = await asked(view, 'ui/open-link', { url: 'https://a.example/' });
  assert.equal(await link.locator('[part~=ask]').innerText(), 'The app of “shop” wants to open https://a.example/');
  await link.getByRole('button', { name: 'No' }).press('Enter');
  assert.equal(await view.page.evaluate(() => window.focused()), 'Message');

  const message = await asked(view, 'ui/message', { role: 'user', content: [{ type: 'text', text: 'Hi' }] });
  assert.equal(await message.locator('[part~=ask]').innerText(), 'The app of “shop” wants to send this message: Hi');
  await message.getByRole('button', { name: 'No' }).press('Enter');
  assert.equal(await view.page.evaluate(() => window.focused()), 'Message');
});

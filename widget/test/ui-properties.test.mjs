// The properties of a chat in the markup of a page, set before or after its class is defined.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { says, serve } from '../testing/chat.mjs';
import { openBrowser } from '../testing/page.mjs';
import { openWidget } from '../testing/widget-page.mjs';

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser?.close());

const MODULE = '<script type="module" src="/assistant/widget.js"></script>';
const SET = `{
  const chat = document.querySelector('omniassist-chat');
  chat.headers = { authorization: 'Bearer me' };
  chat.texts = { placeholder: 'MINE' };
}`;

/** Opens a page whose script `/set.js` is `script`. `sent` has the `authorization` of each request to the assistant. */
async function opened(t, body, script = '') {
  const assistant = await serve(says('One.'), says('Two.'));
  assistant.files['/set.js'] = [script, 'text/javascript'];
  const sent = [];
  const prepare = (page) =>
    page.on('request', (request) => {
      if (/\/assistant(\?|\/[^/.]+\/)/.test(request.url())) sent.push(request.headers().authorization);
    });
  const view = await openWidget(browser, { body, target: new URL(assistant.api).origin, prepare });
  t.after(async () => {
    await view.close();
    await assistant.stop();
  });
  const open = async () => {
    const launcher = view.page.getByRole('button', { name: 'Open the chat' });
    if (await launcher.isVisible()) await launcher.click();
  };
  const ask = async (text, answer) => {
    await view.input.fill(text);
    await view.input.press('Enter');
    await view.part('messages').getByText(answer).waitFor();
  };
  const set = (property, source) =>
    view.page.evaluate(([property, source]) => {
      document.querySelector('omniassist-chat')[property] =
        source === 'function' ? async () => ({ authorization: `Bearer ${window.token}` }) : source;
    }, [property, source]);
  return { ...view, sent, open, ask, set };
}

for (const mode of ['panel', 'popup']) {
  const chat = `<omniassist-chat mode="${mode}"></omniassist-chat>`;
  for (const [place, body] of [
    ['before the module runs', `${MODULE}${chat}<script src="/set.js"></script>`],
    ['in a module after it', `${MODULE}${chat}<script type="module" src="/set.js"></script>`],
  ])
    test(`properties that are set ${place} apply: ${mode}`, async (t) => {
      const { open, ask, input, sent } = await opened(t, body, SET);
      await open();
      assert.equal(await input.getAttribute('placeholder'), 'MINE');
      await ask('Where is it?', 'One.');
      assert.equal(sent.at(-1), 'Bearer me');
      // The chat may send its first request before a later module runs.
      if (place.startsWith('before')) assert.deepEqual([sent.length > 1, ...new Set(sent)], [true, 'Bearer me']);
    });
}

test('new headers apply to the next request, and a function is called at each', async (t) => {
  const { ask, page, sent, set } = await opened(t, `${MODULE}<omniassist-chat mode="panel"></omniassist-chat>`);
  await set('headers', { authorization: 'Bearer one' });
  await ask('Where is it?', 'One.');
  assert.equal(sent.at(-1), 'Bearer one');
  await page.evaluate(() => (window.token = 'two'));
  await set('headers', 'function');
  await ask('And now?', 'Two.');
  assert.equal(sent.at(-1), 'Bearer two');
});

test('new texts are drawn without a loss of the draft, and the same ones draw nothing anew', async (t) => {
  const { input, set } = await opened(t, `${MODULE}<omniassist-chat mode="panel"></omniassist-chat>`);
  await input.fill('begun');
  await set('texts', { placeholder: 'LATER' });
  await input.and(input.page().getByPlaceholder('LATER')).waitFor();
  assert.equal(await input.inputValue(), 'begun');
  const node = await input.elementHandle();
  await set('texts', { placeholder: 'LATER' });
  assert.ok(await node.evaluate((input) => new Promise((next) => requestAnimationFrame(() => next(input.isConnected)))));
});

test('credentials are those of the moment of the request', async (t) => {
  const { ask, page, set } = await opened(t, `${MODULE}<omniassist-chat mode="panel"></omniassist-chat>`);
  await page.evaluate(() => {
    const { fetch } = window;
    window.modes = [];
    window.fetch = (url, init) => (window.modes.push(new Request(url, init).credentials), fetch(url, init));
  });
  await ask('Where is it?', 'One.');
  await set('credentials', 'include');
  await ask('And now?', 'Two.');
  const modes = await page.evaluate(() => window.modes);
  assert.deepEqual([modes[0], modes.at(-1)], ['same-origin', 'include']);
});

test('a closed window does not count the answers of a chat that is loaded', async (t) => {
  const body = `${MODULE}<omniassist-chat></omniassist-chat><script type="module" src="/set.js"></script>`;
  const { open, ask, page } = await opened(t, body, "document.querySelector('omniassist-chat').chat.ready.then(() => (window.isReady = true));");
  await open();
  await ask('Where is it?', 'One.');
  await page.reload();
  await page.waitForFunction(() => window.isReady);
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  assert.equal(await page.evaluate(() => document.querySelector('omniassist-chat').chat.messages.length), 2);
  assert.equal(await page.getByRole('button', { name: 'Open the chat', exact: true }).isVisible(), true);
});

test('an element that a script makes has the chat of its attributes, also of those after a tool', async (t) => {
  const { page, problems } = await opened(t, `${MODULE}<omniassist-chat mode="panel"></omniassist-chat>`);
  const made = await page.evaluate(async () => {
    const node = document.createElement('omniassist-chat');
    node.registerTool({ name: 'page', description: 'Returns the page' }, () => '/');
    for (const [name, value] of Object.entries({ api: '/other', agent: 'support', chat: 'c1', mode: 'panel' })) node.setAttribute(name, value);
    document.body.append(node);
    node.remove();
    node.setAttribute('agent', 'sales');
    node.setAttribute('mode', 'popup');
    document.body.append(node);
    await new Promise((next) => setTimeout(next, 100));
    node.remove();
    node.setAttribute('open', '');
    document.body.append(node);
    await node.chat.ready;
    return [node.chat.api, node.chat.agent, node.chat.chatId, node.shadowRoot.childElementCount];
  });
  assert.deepEqual(made, ['/other', 'sales', 'c1', 2]);
  await page.waitForFunction(() => [...document.querySelectorAll('omniassist-chat')].at(-1).isOpen);
  // The test server has no other assistant.
  assert.deepEqual(problems.filter((one) => !/404/.test(one)), []);
});

test('two chats of one page whose keys begin differently have their own conversations', async (t) => {
  const chat = (attributes) => `<omniassist-chat mode="panel" ${attributes}></omniassist-chat>`;
  const { page } = await opened(t, `${MODULE}${chat('')}${chat('storage-prefix="other_"')}`);
  const counts = () =>
    page.evaluate(async () => {
      const chats = [...document.querySelectorAll('omniassist-chat')].map(({ chat }) => chat);
      await Promise.all(chats.map(({ ready }) => ready));
      return chats.map(({ messages }) => messages.length);
    });
  await page.evaluate(() => document.querySelector('omniassist-chat').sendMessage({ text: 'Hi' }));
  assert.deepEqual(await counts(), [2, 0]);
  await page.reload();
  assert.deepEqual(await counts(), [2, 0]);
});

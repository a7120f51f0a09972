// The hooks in React and Vue, with the quickstart.

import assert from 'node:assert/strict';
import { after, before, test as testAlways } from 'node:test';

import { startFakeOpenAi } from '../../tests/lib/fake-openai.mjs';
import { openai, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { openBrowser } from '../testing/page.mjs';
import { bundle, openBefore } from '../testing/tree-page.mjs';
import { program } from '../testing/programs.mjs';

program('QUICKSTART_BIN', 'quickstart');
const test = (name, run) => testAlways(name, { timeout: 60_000 }, run);

const SCHEMA = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };
/** The calls that a question leads to. */
const CALLS = {
  Paint: { name: 'paint_wall', args: { colour: 'red' } },
  Badge: { name: 'Badge', args: { label: 'A new badge' } },
  Broken: { name: 'ui', args: { component: 'Broken', props: {} } },
  Address: { name: 'request_input', args: { message: 'Where to?', schema: SCHEMA } },
};
/** The words of the answer to `Long`, which stops in the middle until the test goes on. */
let goOn;

function answer({ input }) {
  const texts = input.map(({ role, content }) => role === 'user' && [content].flat().at(-1));
  const at = texts.findLastIndex(Boolean);
  const question = texts[at].text ?? texts[at];
  const outputs = input.slice(at).filter(({ type }) => type === 'function_call_output');
  if (outputs.length) return { text: `It returned ${JSON.stringify(outputs.at(-1).output)}` };
  if (question === 'Long') {
    let sent = 0;
    return { text: 'one two three four five six', hold: (event) => (/output_text.delta/.test(event) && ++sent === 3 ? new Promise((go) => (goOn = go)) : undefined) };
  }
  const call = CALLS[question];
  return call ? { calls: [{ id: `call_${input.length}`, ...call }] } : { text: `Answer to: ${question}` };
}

const REACT = `
  import { createElement as h, StrictMode, useEffect, useRef, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { HsafaChat, HsafaProvider, renderUserForm, useHsafa, useHsafaAgent, useOmniAssist } from './hooks/react.js';

  const textOf = ({ parts }) => parts.filter(({ type }) => type === 'text').map(({ text }) => text).join('');
  const List = ({ chat }) => h('div', null,
    h('output', null, chat.status),
    h('ol', null, chat.messages.map((message) => h('li', { key: message.id, 'data-role': message.role }, textOf(message)))));
  const Ask = ({ chat, words }) => words.map((text) =>
    h('button', { key: text, onClick: () => void chat.sendMessage({ text }) }, text));

  function Plain() {
    const chat = useOmniAssist({ api: '/assistant', persist: 'none' });
    if (chat.status === 'streaming') window.seen.push(chat.messages.map((message) => message));
    return h('section', { id: 'plain' }, h(Ask, { chat, words: ['Hello', 'Long'] }), h(List, { chat }),
      h('button', { onClick: () => chat.stop() }, 'Stop'));
  }

  window.painted = [];
  window.seen = [];
  const tools = { paint_wall: (input) => (window.painted.push(input), { painted: 'the north wall' }) };
  const components = { Badge: ({ label }) => h('strong', null, label), Broken() { throw new Error('It is broken.'); } };
  function Form({ form }) {
    const place = useRef(null);
    useEffect(() => {
      const node = renderUserForm({ message: form.message, schema: form.schema, onSubmit: form.submit, onCancel: form.cancel });
      place.current.append(node);
      return () => node.remove();
    }, [form.part.toolCallId]);
    return h('div', { ref: place });
  }
  function Agent() {
    const chat = useHsafaAgent({ tools, components });
    window.agent = chat;
    return h('section', { id: 'agent' }, h(Ask, { chat, words: ['Paint', 'Badge', 'Broken', 'Address'] }), h(List, { chat }),
      chat.forms.map((form) => h(Form, { key: form.part.toolCallId, form })), h('aside', null, chat.ui),
      h('p', { id: 'chat' }, chat.chatId));
  }
  function States() {
    const { baseUrl, dir, theme, chats } = useHsafa();
    window.chats = chats;
    return h('p', { id: 'states' }, JSON.stringify({ baseUrl, dir, theme }));
  }
  const settings = { baseUrl: '/assistant', dir: 'rtl', theme: 'dark' };
  const pages = {
    plain: () => h(StrictMode, null, h(Plain)),
    agent: () => h(StrictMode, null, h(HsafaProvider, settings, h(Agent), h(States))),
    chat: () => h(HsafaProvider, settings, h(HsafaChat, { mode: 'panel', HsafaTools: tools, HsafaUI: components }), h(States)),
  };
  const Agents = ({ count }) => Array.from({ length: count }, (_, key) => h(Other, { key }));
  const Other = () => (useHsafaAgent({ agentId: 'handbook' }), null);
  pages.switch = () => h(Switch);
  function Switch() {
    const [state, setState] = useState({ chatId: 'c1', count: 0 });
    window.setState = (change) => setState((last) => ({ ...last, ...change }));
    const { count, ...chat } = state;
    return h(HsafaProvider, settings, h(HsafaChat, chat), h(Agents, { count }), h(States));
  }
  const page = pages[location.search.slice(1)];
  if (['?chat', '?switch'].includes(location.search)) await import('./ui/element.js').then(({ define }) => define());
  createRoot(document.querySelector('#root')).render(page());`;

const VUE = `
  import { createApp, h } from 'vue';
  import { useOmniAssist } from './hooks/vue.js';

  const textOf = ({ parts }) => parts.filter(({ type }) => type === 'text').map(({ text }) => text).join('');
  const app = createApp({
    setup() {
      const chat = useOmniAssist({ api: '/assistant', persist: 'none' });
      chat.getChat().registerTool({ name: 'paint_wall', description: 'Paints' }, () => ({ painted: 'the south wall' }));
      window.chat = chat;
      return () => h('section', null, [
        h('output', chat.status.value),
        h('ol', chat.messages.value.map((message) => h('li', { key: message.id }, textOf(message)))),
        ['Hello', 'Long', 'Paint'].map((text) => h('button', { onClick: () => void chat.sendMessage({ text }) }, text)),
      ]);
    },
  });
  app.mount('#root');
  window.app = app;`;

const HSAFA = `
  import { DefaultChatTransport, readUIMessageStream } from 'ai';
  import { createChatStorage, createHsafaTransport } from './hooks/hsafa.js';

  window.talk = async () => {
    let chatId;
    const transport = createHsafaTransport(DefaultChatTransport, '/assistant', 'handbook', 'chat-9', {
      fetch: (url, init) => ((chatId = JSON.parse(init.body).chatId), fetch(url, init)),
    });
    const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
    const stream = await transport.sendMessages({ trigger: 'submit-message', chatId: 'other', messages });
    let last;
    for await (const message of readUIMessageStream({ stream })) last = message;
    return [last.parts.find(({ type }) => type === 'text').text, chatId];
  };
  window.store = () => {
    const storage = createChatStorage('helper', { prefix: 'mine_' });
    storage.save({ id: 'c1', messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] }, true);
    storage.current = 'c1';
    storage.isShown = true;
    return Object.keys(localStorage).sort();
  };`;

let app;
let browser;
let model;
const scripts = {};
before(async () => {
  [scripts.react, scripts.vue, scripts.hsafa] = await Promise.all([REACT, VUE, HSAFA].map((one) => bundle(one)));
  model = await startFakeOpenAi({ answer });
  [browser, app] = await Promise.all([openBrowser(), startQuickstart(openai('openai', model.baseUrl))]);
});
after(() => Promise.all([browser?.close(), app?.stop(), model?.stop()]));

const open = async (script, search = '') => {
  const view = await openBefore(browser, app.origin, scripts[script], { body: '<div id="root"></div>', search: `?${search}` });
  // Vue tries to make a policy of its own, and works without it.
  const close = (expected = /TrustedTypePolicy named 'vue'/) => view.close({ expected });
  return { ...view, close };
};
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const said = (page, text) => page.locator('li', { hasText: text }).waitFor();
const lines = (page) => page.locator('ol li').allInnerTexts();
const ready = (page) => page.locator('output', { hasText: 'ready' }).waitFor();

for (const script of ['react', 'vue']) {
  test(`contract_000_06 a component of ${script} sends, is drawn while the answer arrives, and is stopped`, async () => {
    const { page, close } = await open(script, 'plain');
    await press(page, 'Hello');
    await said(page, 'Answer to: Hello');
    await ready(page);
    assert.deepEqual(await lines(page), ['Hello', 'Answer to: Hello']);
    await press(page, 'Long');
    await page.locator('li', { hasText: /^one two$|^one tw|^one two th/ }).waitFor();
    assert.equal(await page.locator('output').innerText(), 'streaming');
    if (script === 'react') await press(page, 'Stop');
    else await page.evaluate(() => window.chat.stop());
    await ready(page);
    goOn();
    assert.equal((await lines(page)).length, 4);
    assert.ok(!(await lines(page)).at(-1).includes('six'));
    await close();
  });
}

test('the messages before an answer that arrives stay the same objects', async () => {
  const { page, close } = await open('react', 'plain');
  await press(page, 'Hello');
  await said(page, 'Answer to: Hello');
  await ready(page);
  await page.evaluate(() => void (window.seen = []));
  await press(page, 'Long');
  await page.locator('li', { hasText: /^one two/ }).waitFor();
  goOn();
  await ready(page);
  const counts = await page.evaluate(() => [0, 1, 2, 3].map((at) => new Set(window.seen.map((messages) => messages[at])).size));
  assert.deepEqual(counts.slice(0, 3), [1, 1, 1]);
  assert.ok(counts[3] > 1, 'the answer is another object after each change');
  await close();
});

test('contract_000_11 a tool that a component of vue registers runs', async () => {
  const { page, close } = await open('vue');
  await press(page, 'Paint');
  await said(page, 'the south wall');
  await page.evaluate(() => window.app.unmount());
  await close();
});

test('contract_000_10_11_12_13 HsafaTools run, HsafaUI is drawn or fails, and requestInput is a form', async () => {
  const { page, close } = await open('react', 'agent');
  assert.equal(await page.locator('#states').innerText(), JSON.stringify({ baseUrl: '/assistant', dir: 'rtl', theme: 'dark' }));
  await press(page, 'Paint');
  await said(page, 'the north wall');
  assert.deepEqual(await page.evaluate(() => window.painted), [{ colour: 'red' }]);
  await ready(page);
  await press(page, 'Badge');
  await page.locator('aside strong', { hasText: 'A new badge' }).waitFor();
  await said(page, /rendered.*Badge/);
  await ready(page);
  await press(page, 'Broken');
  await said(page, 'It is broken.');
  await ready(page);
  await press(page, 'Address');
  const form = page.getByRole('group', { name: 'Where to?' });
  await form.getByRole('button', { name: 'Send' }).click();
  assert.equal(await form.getByLabel('City').getAttribute('aria-invalid'), 'true');
  await form.getByLabel('City').fill('Lisbon');
  await page.keyboard.press('Enter');
  await said(page, /It returned .*Lisbon/);
  assert.equal(await form.count(), 0);
  await close(/It is broken|error occurred in/);
});

test('contract_000_05_06 chats are kept under the keys of Hsafa, and setChatId opens another one', async () => {
  const { page, close } = await open('react', 'agent');
  await press(page, 'Paint');
  await said(page, 'the north wall');
  await ready(page);
  const first = await page.locator('#chat').innerText();
  await page.evaluate(() => window.agent.setChatId('another'));
  await page.locator('#chat', { hasText: 'another' }).waitFor();
  assert.deepEqual(await lines(page), []);
  await page.evaluate((first) => window.agent.setChatId(first), first);
  await said(page, 'the north wall');
  const keys = await page.evaluate(() => Object.keys(localStorage).sort());
  assert.deepEqual(keys, ['hsafaChat_assistant.chat.' + first, 'hsafaChat_assistant.chats', 'hsafaChat_assistant.currentChatId']);
  await page.reload();
  await said(page, 'the north wall');
  await close();
});

test('contract_000_01_02_03_04 HsafaChat is the widget, with the settings, the tools and the state of the provider', async () => {
  const { page, close } = await open('react', 'chat');
  const chat = page.locator('omniassist-chat');
  assert.deepEqual(await chat.evaluate((node) => [node.getAttribute('theme'), node.dir, node.getAttribute('api')]), ['dark', 'rtl', '/assistant']);
  await page.getByRole('textbox').fill('Paint');
  await page.keyboard.press('Enter');
  await chat.getByText('the north wall').first().waitFor();
  assert.deepEqual(await page.evaluate(() => window.painted), [{ colour: 'red' }]);
  await page.waitForFunction(() => window.chats.assistant?.streaming === false);
  await page.getByRole('textbox').fill('Badge');
  await page.keyboard.press('Enter');
  await chat.getByText(/rendered.*Badge/).first().waitFor();
  const badge = page.locator('strong', { hasText: 'A new badge' });
  assert.equal(await badge.isVisible(), true);
  const call = await badge.evaluate((node) => node.parentElement.assignedSlot?.closest('[data-role=assistant] [part~=tool]')?.dataset.toolName);
  assert.equal(call, 'Badge', 'the component stands in the message');
  await page.waitForFunction(() => window.chats.assistant?.streaming === false);
  await page.getByRole('textbox').fill('Long');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => window.chats.assistant?.streaming === true);
  await chat.getByText(/^one/).waitFor();
  goOn();
  await page.waitForFunction(() => window.chats.assistant?.streaming === false);
  await chat.evaluate((node) => node.setAttribute('open', ''));
  await page.waitForFunction(() => window.chats.assistant?.open === true);
  await close();
});

test('HsafaChat opens the chat that chatId names, and another one after a change', async () => {
  const { page, close } = await open('react', 'switch');
  const chat = page.locator('omniassist-chat');
  await chat.waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('omniassist-chat').chat.chatId === 'c1');
  await page.evaluate(() => window.setState({ chatId: 'c2' }));
  await page.waitForFunction(() => document.querySelector('omniassist-chat').chat.chatId === 'c2');
  await page.evaluate(() => window.setState({ chatId: undefined }));
  await page.waitForFunction(() => !document.querySelector('omniassist-chat').hasAttribute('chat'));
  await close();
});

test('a window that the user has never opened is closed, also that of another agent', async () => {
  const { page, close } = await open('react', 'switch');
  await page.waitForFunction(() => window.chats?.assistant?.open !== undefined);
  const isOpen = () => page.evaluate(() => document.querySelector('omniassist-chat').hasAttribute('open'));
  assert.equal(await isOpen(), false);
  await page.evaluate(() => window.setState({ agentId: 'handbook' }));
  await page.waitForFunction(() => window.chats.handbook?.open !== undefined);
  assert.equal(await isOpen(), false);
  await close();
});

test('the window of another agent is closed, and that of the first one is open again', async () => {
  const { page, close } = await open('react', 'switch');
  const isOpen = (value) => page.waitForFunction((value) => document.querySelector('omniassist-chat').isOpen === value, value);
  await page.locator('omniassist-chat').waitFor({ state: 'attached' });
  await page.evaluate(() => document.querySelector('omniassist-chat').open());
  await page.waitForFunction(() => window.chats.assistant?.open === true);
  await page.evaluate(() => window.setState({ agentId: 'handbook' }));
  await isOpen(false);
  await page.waitForFunction(() => window.chats.handbook?.open === false);
  await page.evaluate(() => window.setState({ agentId: undefined }));
  await isOpen(true);
  await close();
});

test('the provider knows an agent until its last user is gone', async () => {
  const { page, close } = await open('react', 'switch');
  const known = (value) => page.waitForFunction((value) => Boolean(window.chats?.handbook) === value, value);
  await page.waitForFunction(() => window.setState);
  await page.evaluate(() => window.setState({ count: 2 }));
  await known(true);
  await page.evaluate(() => window.setState({ count: 1 }));
  await page.waitForTimeout(100);
  await known(true);
  await page.evaluate(() => window.setState({ count: 0 }));
  await known(false);
  await close();
});

test('contract_000_07_08 the transport of the AI SDK posts to the agent with the chat id, and the storage has the four keys', async () => {
  const { page, close } = await open('hsafa');
  assert.deepEqual(await page.evaluate(() => window.talk()), ['Answer to: Hello', 'chat-9']);
  assert.deepEqual(await page.evaluate(() => window.store()), [
    'mine_helper.chat.c1', 'mine_helper.chats', 'mine_helper.currentChatId', 'mine_helper.showChat',
  ]);
  // The AI SDK tries if the page allows code from text.
  await close(/'TrustedScript'/);
});

// Contracts that need the whole widget in a page: a user of Hsafa, several chats on one page, and two tabs. A scripted model
// answers.

import assert from 'node:assert/strict';
import { after, before, test as testAlways } from 'node:test';

import { tools } from '../../tests/lib/app.mjs';
import { startFakeOpenAi } from '../../tests/lib/fake-openai.mjs';
import { openai, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { openBrowser } from '../testing/page.mjs';
import { program } from '../testing/programs.mjs';
import { bundle, openBefore } from '../testing/tree-page.mjs';

program('QUICKSTART_BIN', 'quickstart');
const test = (name, run) => testAlways(name, { timeout: 60_000 }, run);

const SCRIPT = `
  import { createElement as h } from 'react';
  import { createRoot } from 'react-dom/client';
  import { HsafaChat, HsafaProvider, useHsafa } from './hooks/react.js';
  import { define } from './ui/element.js';

  define();
  const States = () => ((window.chats = useHsafa().chats), null);
  const pages = {
    tab: () => h(HsafaChat, { mode: 'panel' }),
    hsafa: () => h(HsafaChat, { agentId: 'handbook', mode: 'popup' }),
    two: () => [undefined, 'handbook'].map((agentId) => h(HsafaChat, { key: agentId ?? '', agentId, mode: 'panel' })),
  };
  const page = pages[location.search.slice(1)]();
  createRoot(document.querySelector('#root')).render(h(HsafaProvider, { baseUrl: '/assistant' }, page, h(States)));`;

/** The turn of each question, and the end of an answer that waits. */
let goOn;
function answer({ input }) {
  if (input.at(-1).type === 'function_call_output') return { text: `It returned ${input.at(-1).output}` };
  const question = [input.findLast(({ role }) => role === 'user').content].flat().at(-1);
  const text = question.text ?? question;
  if (text === 'Refund') return { calls: [{ id: 'call_refund', ...tools.refund }] };
  const held = text === 'Long' && new Promise((resolve) => (goOn = resolve));
  return { text: `Answer to: ${text}`, hold: (event) => (held && /"delta"/.test(event) ? held : undefined) };
}

let app;
let browser;
let model;
let script;
before(async () => {
  script = await bundle(SCRIPT);
  model = await startFakeOpenAi({ answer });
  [browser, app] = await Promise.all([openBrowser(), startQuickstart(openai('openai', model.baseUrl))]);
});
after(() => Promise.all([browser?.close(), app?.stop(), model?.stop()]));

const open = (search, target = app) =>
  openBefore(browser, target.origin, script, { body: '<div id="root"></div>', search: `?${search}` });
const log = (of) => of.locator('[part=log]');
async function ask(chat, question) {
  await chat.locator('[part~=composer] [part~=input]').fill(question);
  await chat.locator('[part~=send-button]').click();
}

/** The storage of a user of Hsafa, who left the chat of an agent open. */
function fill(agent) {
  const set = (key, value) => localStorage.setItem(`hsafaChat_${agent}.${key}`, value);
  const chats = { c1: 'Where is my lamp?', c2: 'Refund it' };
  const threads = Object.entries(chats).map(([id, title], at) => ({ id, title, createdAt: at + 1, updatedAt: at + 1 }));
  set('chats', JSON.stringify(threads));
  for (const [id, text] of Object.entries(chats)) {
    const messages = [
      { id: `${id}-1`, role: 'user', parts: [{ type: 'text', text }] },
      { id: `${id}-2`, role: 'assistant', parts: [{ type: 'text', text: `About ${id}.`, state: 'done' }] },
    ];
    set(`chat.${id}`, JSON.stringify({ id, messages, agentId: agent }));
  }
  set('currentChatId', 'c1');
  set('showChat', 'true');
}

test('contract_000_07 the page of a user of Hsafa opens the chat that was open, and keeps it under the same keys', async () => {
  const { page, close } = await open('hsafa');
  const read = (key) => page.evaluate((key) => localStorage.getItem(`hsafaChat_handbook.${key}`), key);
  await page.locator('[part~=launcher]').waitFor();
  await page.evaluate(fill, 'handbook');
  await page.reload();
  await log(page).getByText('About c1.').waitFor();
  await ask(page, 'When does it come?');
  await log(page).getByText('Answer to: When does it come?').waitFor();
  await page.waitForFunction(() => window.chats.handbook?.streaming === false);
  const { messages } = JSON.parse(await read('chat.c1'));
  assert.deepEqual(messages.map(({ role }) => role), ['user', 'assistant', 'user', 'assistant']);
  assert.match(JSON.stringify(model.requests.at(-1).body.input), /About c1\./, 'the model is sent the chat');

  await page.locator('[part~=threads-button]').click();
  await page.locator('[part=thread-row]', { hasText: 'Refund it' }).locator('[part=thread]').click();
  await log(page).getByText('About c2.').waitFor();
  assert.equal(await read('currentChatId'), 'c2');
  await page.locator('[part~=close-button]').click();
  await log(page).waitFor({ state: 'hidden' });
  assert.equal(await read('showChat'), 'false');
  await page.reload();
  await page.waitForFunction(() => window.chats.handbook?.open === false);
  assert.equal(await log(page).isVisible(), false, 'it stays closed');
  const keys = await page.evaluate(() => Object.keys(localStorage).map((key) => key.replace(/^hsafaChat_handbook\./, '')));
  assert.deepEqual(keys.sort(), ['chat.c1', 'chat.c2', 'chats', 'currentChatId', 'showChat']);
  await close();
});

test('contract_000_02 the provider knows which of two chats of a page answers', async () => {
  const { page, close } = await open('two');
  const chat = (agent) => page.locator(`[data-hsafa-chat=${agent}]`);
  const streaming = () => page.evaluate(() => [window.chats.assistant.streaming, window.chats.handbook.streaming]);
  await ask(chat('handbook'), 'Long');
  await page.waitForFunction(() => window.chats.handbook?.streaming);
  assert.deepEqual(await streaming(), [false, true]);
  await ask(chat('assistant'), 'Short');
  await log(chat('assistant')).getByText('Answer to: Short').waitFor();
  await page.waitForFunction(() => !window.chats.assistant.streaming);
  assert.deepEqual(await streaming(), [false, true]);
  goOn();
  await log(chat('handbook')).getByText('Answer to: Long').waitFor();
  await page.waitForFunction(() => !window.chats.handbook.streaming);
  assert.equal(await log(chat('assistant')).getByText('Answer to: Long').count(), 0);
  await close();
});

for (const stored of [false, true]) {
  test(`two tabs in which the user approves a call post it once, ${stored ? 'stored' : 'not stored'}`, async (t) => {
    const own = await startQuickstart(openai('openai', model.baseUrl), { stored });
    t.after(own.stop);
    const { page: one, server, close } = await open('tab', own);
    const posts = [];
    one.context().on('request', (request) => request.method() === 'POST' && posts.push(request.postDataJSON()));
    await ask(one, 'Refund');
    const approve = (tab) => tab.getByRole('button', { name: 'Approve' });
    await approve(one).waitFor();
    const two = await one.context().newPage();
    await two.goto(`${server.origin}/suite?tab`);
    await approve(two).waitFor();
    await Promise.all([one, two].map((tab) => approve(tab).evaluate((button) => button.click())));
    for (const tab of [one, two]) {
      await log(tab).getByText(/It returned .*25\.00/).waitFor();
      assert.equal(await approve(tab).isVisible(), false);
    }
    assert.equal(posts.length, 2, 'the question and one approval');
    const order = await (await fetch(`${own.origin}/api/orders/1002`)).json();
    assert.equal(order.refunded, order.total);
    await close();
  });
}

// The page with a real model behind a real HTTP API. The model may be very small, so the tests check the tool calls for
// simple questions and the results on the page, but not the wording.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { real, startWithRealModel } from '../lib/real-model.mjs';
import { openBrowser, openPage, prose } from './page.mjs';

const ANSWER_MS = 150_000;
const options = { timeout: 2 * ANSWER_MS };

let app;
let browser;

before(async () => {
  app = await startWithRealModel();
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await app?.stop();
});

test('the page shows the name of the model', options, async () => {
  const view = await openPage(browser, app, { ms: ANSWER_MS });
  const name = await view.page.innerText('#model-name');
  assert.ok(name.length > 0 && !/demo/i.test(name), name);
  await view.close();
});

test('a typed question leads to a server tool, and its result is in the answer', options, async () => {
  const { question, tool, order } = real.lookUp;
  const view = await openPage(browser, app, { ms: ANSWER_MS });
  await view.ask(question);
  assert.ok((await view.tool(tool).count()) > 0, await view.answer().innerText());
  assert.equal(await view.tool(tool).first().getAttribute('data-tool-state'), 'output-available');
  const { status } = await (await fetch(`${app.origin}/api/orders/${order}`)).json();
  const text = await prose(view.answer());
  await view.screenshot('real-server-tool');
  assert.ok(text.toLowerCase().includes(status), `"${status}" is in "${text}"`);
  await view.close();
});

test('a tool of the page runs in the page, and its result is posted to the model', options, async () => {
  const { question, tool, page } = real.navigate;
  const view = await openPage(browser, app, { ms: ANSWER_MS });
  await view.ask(question);
  assert.equal(await view.page.getAttribute('#view', 'data-page'), page);
  assert.equal(await view.tool(tool).first().getAttribute('data-tool-state'), 'output-available');
  assert.ok(view.runs.length >= 2, 'the result is posted back');
  assert.ok((await prose(view.answer())).length > 0, 'the model continues');
  await view.screenshot('real-page-tool');
  await view.close();
});

test('stop works, and the next question too', options, async () => {
  const view = await openPage(browser, app, { ms: ANSWER_MS });
  await view.type(real.long.question);
  await view.page.waitForFunction(() =>
      document.querySelector('omniassist-chat').shadowRoot.querySelector('[data-role=assistant] [data-part=text]')?.textContent.length > 20,
  );
  await view.page.click(view.parts.stop);
  await view.settled();
  const text = await prose(view.answer());
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(await prose(view.answer()), text, 'no text arrives after the stop');
  await view.screenshot('real-stop');
  // The cut story is part of what the model reads next, and its length differs from run to run. A small model may then
  // write without end, so only the beginning of its next answer is expected.
  await view.type(real.lookUp.question);
  await view.page.waitForFunction(() => {
    const answers = [...document.querySelector('omniassist-chat').shadowRoot.querySelectorAll('[data-role=assistant]')];
    return answers.length >= 2 && answers.at(-1).querySelector('[data-part=text], [data-tool-name]');
  });
  // The call is without effect where the answer is complete.
  await view.page.evaluate(() => document.querySelector('omniassist-chat').stop());
  await view.settled();
  assert.equal(await view.status(), 'ready');
  await view.close();
});

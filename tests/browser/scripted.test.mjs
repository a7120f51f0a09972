// The page with a scripted model behind a real HTTP API: stops and failures at exact points.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { tools } from '../lib/app.mjs';
import { CANARY, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { openBrowser, openPage, prose } from './page.mjs';

let model;
let app;
let browser;

before(async () => {
  model = await startFakeOpenAi();
  app = await startQuickstart(openai('openai', model.baseUrl));
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await app?.stop();
  await model?.stop();
});

test('stop closes the connection to the model within 250 ms', { timeout: 60_000 }, async () => {
  model.script({ text: 'This answer has no end', end: 'hang' }, { text: 'Here I am.' });
  const view = await openPage(browser, app);
  await view.type('Tell me everything');
  await until(async () => (await prose(view.answers)).includes('no end'), 'the text is shown');
  const pressed = view.page.evaluate(() => {
    document.querySelector('omniassist-chat').shadowRoot.querySelector('[part~=send-button][data-busy]').click();
    return performance.timeOrigin + performance.now();
  });
  await view.settled();
  await until(() => model.requests[0].closedAt, 'the connection closes', 2_000);
  const took = performance.timeOrigin + model.requests[0].closedAt - (await pressed);
  assert.ok(took <= 250, `${took.toFixed(0)} ms`);
  await view.ask('Are you there?');
  assert.equal(await prose(view.answer()), 'Here I am.');
  await view.close();
});

test('the result of a page tool reaches the model', { timeout: 60_000 }, async () => {
  const { navigate } = tools;
  model.script({ calls: [{ id: 'call_n', ...navigate }] }, { text: 'Done.' });
  const view = await openPage(browser, app);
  await view.ask('Open it');
  assert.equal(await view.page.getAttribute('#view', 'data-page'), navigate.args.page);
  const output = model.requests[1].body.input.find((item) => item.type === 'function_call_output');
  assert.equal(output.call_id, 'call_n');
  assert.match(output.output, /Customers/);
  await view.close();
});

test('an error is a sentence, and the next try works', { timeout: 60_000 }, async () => {
  model.script({ before: { status: 400, body: { error: { message: CANARY } } } }, { text: 'Better.' });
  const view = await openPage(browser, app);
  await view.type('Hi');
  await view.settled();
  const text = await view.page.innerText('[part=notice-text]');
  assert.ok(text.length > 10 && !text.includes(CANARY), text);
  await view.screenshot('error');
  await view.page.click(view.parts.retry);
  await view.settled();
  assert.equal(await prose(view.answer()), 'Better.');
  await view.close();
});

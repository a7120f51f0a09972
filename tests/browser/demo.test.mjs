// The page with the demo model, as started by the README's first command.

import assert from 'node:assert/strict';

import { demo } from '../lib/app.mjs';
import { DEMO, startQuickstart } from '../lib/quickstart.mjs';
import { prose, suiteOn } from './page.mjs';

const onPage = suiteOn(() => startQuickstart(DEMO));

onPage('the page shows the name of the model', async ({ page, screenshot }) => {
  assert.match(await page.innerText('#model-name'), /demo/i);
  await page.waitForSelector('#view[data-page=orders] tbody tr');
  await screenshot('start');
});

onPage('a typed question leads to a server tool, and its result is in the answer', async (view, app) => {
  await view.ask(demo.lookUp.question);
  const tool = view.tool(demo.lookUp.tool);
  assert.equal(await tool.getAttribute('data-tool-state'), 'output-available');
  const { status } = await (await fetch(`${app.origin}/api/orders/${demo.lookUp.order}`)).json();
  assert.ok(status.length > 3);
  const text = await prose(view.answer());
  assert.ok(text.includes(status), `"${status}" is in "${text}"`);
  assert.equal(await view.answers.count(), 1);
  await view.screenshot('server-tool');
});

onPage('a tool of the page runs in the page, and its result is posted', async (view) => {
  await view.page.waitForSelector('#view[data-page=orders]');
  await view.ask(demo.navigate.question);
  assert.equal(await view.page.getAttribute('#view', 'data-page'), 'customers');
  assert.equal(await view.tool(demo.navigate.tool).getAttribute('data-tool-state'), 'output-available');
  assert.equal(view.runs.length, 2, 'the result is posted back');
  const posted = view.runs[1].messages.at(-1).parts.find((part) => part.type === `tool-${demo.navigate.tool}`);
  assert.equal(posted.state, 'output-available');
  assert.ok((await prose(view.answer())).length > 0, 'the model continues after the result');
  assert.equal(await view.answers.count(), 1, 'in the same message');
  await view.screenshot('page-tool');
});

onPage('the page fills in a form', async (view) => {
  await view.ask(demo.fillForm.question);
  assert.equal(await view.page.getAttribute('#view', 'data-page'), 'new-ticket');
  assert.equal(await view.page.inputValue('#ticket-subject'), demo.fillForm.subject);
  assert.equal(await view.tool(demo.fillForm.tool).getAttribute('data-tool-state'), 'output-available');
  await view.screenshot('form');
});

onPage('the page shows the progress of a slow tool, and stop stops it', async (view) => {
  await view.type(demo.slow.question);
  await view.page.waitForSelector(`[data-tool-name=${demo.slow.tool}][data-tool-state=progress]`);
  await view.screenshot('progress');
  await view.page.click(view.parts.stop);
  await view.settled();
  assert.equal(await view.tool(demo.slow.tool).getAttribute('data-tool-state'), 'stopped');
  assert.deepEqual(view.stops, [`/assistant/${view.runs[0].id}/stop`], 'the page calls the stop route');
  await view.ask(demo.lookUp.question);
  assert.equal(await view.tool(demo.lookUp.tool).getAttribute('data-tool-state'), 'output-available');
  await view.screenshot('after-stop');
});

onPage('the context of the page is sent with the question', async (view) => {
  await view.page.click('#nav a[href="#tickets"]');
  await view.page.waitForSelector('#view[data-page=tickets]');
  await view.ask(demo.chat.question);
  assert.ok(JSON.stringify(view.runs[0].context).includes('/tickets'));
});

onPage('text of a model or a user is never markup', async (view) => {
  const markup = '<img src=x onerror="document.title=\'pwned\'"> <b id="injected">bold</b>';
  await view.ask(`Fill in the form: ${markup}`);
  assert.equal(await view.page.locator('#injected').count(), 0);
  assert.notEqual(await view.page.title(), 'pwned');
});

onPage('keyboard: Enter sends', async (view) => {
  await view.page.fill(view.parts.input, demo.lookUp.question);
  await view.page.press(view.parts.input, 'Enter');
  await view.page.waitForSelector('[data-role=assistant]');
  await view.settled();
});

// examples/react-chat: the AI SDK's own hook in a page that Vite built. The demo model answers.

import assert from 'node:assert/strict';

import { demo } from '../lib/app.mjs';
import { DEMO, startQuickstart } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { prose, suiteOn } from './page.mjs';

const onPage = suiteOn(() => startBehind('react-chat', () => startQuickstart(DEMO)));

const statusOf = async (app, order) => (await (await fetch(`${app.origin}/api/orders/${order}`)).json()).status;
const inState = (view, tool, state) =>
  view.page.waitForSelector(`article:last-of-type [data-tool-name=${tool}][data-tool-state=${state}]`);
/** Waits until the last text of the last answer contains `word`. */
const says = async (view, word) => {
  await view.page.waitForFunction(
    (text) => document.querySelector('#chat').dataset.status === 'ready'
      && [...document.querySelectorAll('[data-role=assistant]:last-of-type [data-part=text]')].at(-1)?.textContent.includes(text),
    word,
  );
};
/** Asserts that the page shows no error of a call. */
const isClean = async (view) => assert.equal(await view.page.locator('.failure').count(), 0);
/** The end of every answer of the demo. */
const END = 'This is the demo';

onPage('react: text and reasoning', async (view) => {
  await view.type(demo.chat.question);
  await says(view, END);
  assert.equal(await view.answer().locator('[data-part=reasoning]').count(), 1);
  assert.equal(view.runs.length, 1);
  assert.equal(view.runs[0].context[0].data.path, '/orders');
  await view.screenshot('react-text');
});

onPage('react: a server tool', async (view, app) => {
  await view.type(demo.lookUp.question);
  await inState(view, demo.lookUp.tool, 'output-available');
  await says(view, await statusOf(app, demo.lookUp.order));
  await isClean(view);
  await view.screenshot('react-server-tool');
});

onPage('react: a tool of the page', async (view) => {
  await view.type(demo.navigate.question);
  await inState(view, demo.navigate.tool, 'output-available');
  await says(view, END);
  assert.equal(await view.page.getAttribute('#view', 'data-page'), 'customers');
  assert.equal(await view.answers.count(), 1);
  assert.equal(view.runs.length, 2);
  assert.equal(view.runs[1].context[0].data.path, '/customers', 'the next request has the new page in its context');
  await view.page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();
  await view.screenshot('react-page-tool');
});

onPage('react: a form that the page fills in', async (view) => {
  await view.type(demo.fillForm.question);
  await inState(view, demo.fillForm.tool, 'output-available');
  await says(view, END);
  assert.equal(await view.page.getByLabel('Subject').inputValue(), demo.fillForm.subject);
});

onPage('react: an approved refund', async (view, app) => {
  const { question, tool } = demo.refund(1002);
  await view.type(question);
  await inState(view, tool, 'approval-requested');
  await view.page.getByText('25.00 EUR to Frances Allen').waitFor();
  await view.screenshot('react-approval');
  assert.equal(await statusOf(app, 1002), 'delivered');
  await view.page.getByRole('button', { name: 'Approve' }).click();
  await inState(view, tool, 'output-available');
  await says(view, END);
  assert.equal(await statusOf(app, 1002), 'refunded');
  assert.equal(await view.answers.count(), 1);
  await isClean(view);
  await view.screenshot('react-approved');
  // The server accepts the whole history.
  await view.type(demo.lookUp.question);
  await says(view, END);
  assert.equal(await view.answers.count(), 2);
});

onPage('react: a denied refund', async (view, app) => {
  const { question, tool } = demo.refund(1004);
  await view.type(question);
  await inState(view, tool, 'approval-requested');
  await view.page.getByLabel('Reason').fill('Not without the receipt.');
  await view.page.getByRole('button', { name: 'Deny' }).click();
  await inState(view, tool, 'output-denied');
  await says(view, 'Not without the receipt.');
  assert.equal(await statusOf(app, 1004), 'delivered');
  await isClean(view);
  await view.screenshot('react-denied');
});

onPage('react: a form', async (view) => {
  await view.type(demo.complaint.question);
  await inState(view, demo.complaint.tool, 'input-available');
  const form = view.tool(demo.complaint.tool);
  await form.getByLabel('Order').fill('1002');
  await form.getByLabel('Reason').selectOption('late');
  await form.getByLabel('E-mail').fill('ada@example.com');
  await form.getByLabel('Compensation').fill('12.5');
  await form.getByLabel('Please call me back').check();
  await view.screenshot('react-form');
  await form.getByRole('button', { name: 'Send' }).click();
  await inState(view, demo.complaint.tool, 'output-available');
  await says(view, 'ada@example.com');
  const { output } = view.runs[1].messages.at(-1).parts.find((part) => part.type === `tool-${demo.complaint.tool}`);
  const entered = { order_id: 1002, reason: 'late', email: 'ada@example.com', compensation: 12.5, call_back: true };
  assert.deepEqual(output, entered);
  await isClean(view);
  await view.screenshot('react-form-sent');
});

onPage('react: stop, and another answer', async (view) => {
  await view.type(demo.slow.question);
  await view.page.waitForSelector(`[data-tool-name=${demo.slow.tool}] .tool-output`, { state: 'attached' });
  await view.page.click('#chat-stop');
  await view.settled();
  await view.page.getByText('stopped', { exact: true }).waitFor();
  await view.page.click('#chat-again');
  await inState(view, demo.slow.tool, 'output-available');
  await says(view, END);
  assert.equal(view.runs[1].trigger, 'regenerate-message');
  assert.equal(await view.answers.count(), 1);
});

onPage('react: an edited message', async (view, app) => {
  await view.type(demo.lookUp.question);
  await says(view, END);
  await view.page.getByRole('button', { name: 'Edit' }).click();
  await view.page.getByLabel('Your message').fill('Where is order 1013?');
  await view.page.locator('.edit').getByRole('button', { name: 'Send' }).click();
  await says(view, '1013');
  await says(view, await statusOf(app, 1013));
  assert.equal(await view.answers.count(), 1);
  assert.equal(view.runs[1].messageId, view.runs[0].messages[0].id);
});

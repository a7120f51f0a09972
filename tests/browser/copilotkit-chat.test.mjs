// examples/copilotkit-chat: CopilotKit's own chat in a page that Vite built. The demo model answers.

import assert from 'node:assert/strict';

import { demo } from '../lib/app.mjs';
import { DEMO, startQuickstart } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import * as copilotkit from './copilotkit.mjs';
import { asked, call, failure, inState, outputOf, say } from './copilotkit.mjs';
import { suiteOn } from './page.mjs';

const onPage = suiteOn(() => startBehind('copilotkit-chat', () => startQuickstart(DEMO)));

const statusOf = async (app, order) => (await (await fetch(`${app.origin}/api/orders/${order}`)).json()).status;
/** Waits for an answer of the demo with this text. */
const says = (view, text) => copilotkit.says(view, text, 'This is the demo');

onPage('copilotkit: text, and the context of the page', async (view) => {
  await view.screenshot('copilotkit-start');
  await say(view, demo.chat.question);
  await says(view, 'no tool for that');
  const [{ context, tools }] = view.runs;
  assert.deepEqual(context, [{ description: 'current page', value: '{"path":"/orders","title":"Orders"}' }]);
  assert.deepEqual(tools.map((tool) => tool.name), ['navigate', 'fill_form']);
  await view.screenshot('copilotkit-text');
});

onPage('copilotkit: a server tool', async (view, app) => {
  await say(view, demo.lookUp.question);
  await says(view, await statusOf(app, demo.lookUp.order));
  await inState(view, demo.lookUp.tool, 'output');
  assert.match(await outputOf(view, demo.lookUp.tool).textContent(), /1012/);
  await view.screenshot('copilotkit-server-tool');
});

onPage('copilotkit: a component, whose props grow', async (view, app) => {
  await say(view, demo.sales.question);
  await view.page.locator('[data-tool-name=ui_table][data-tool-state=inProgress] tbody tr').first().waitFor();
  await inState(view, demo.sales.shows, 'complete');
  const table = call(view, demo.sales.shows);
  assert.equal(await table.locator('tbody tr').count(), 7);
  const { instanceId, ...result } = JSON.parse(await table.getAttribute('data-result'));
  assert.deepEqual(result, { componentName: 'table', rendered: true });
  await view.screenshot('copilotkit-component');
  await copilotkit.isOver(view);
  await say(view, demo.lookUp.question);
  await says(view, await statusOf(app, demo.lookUp.order));
  assert.equal(view.runs[1].state.ui[instanceId].component, 'table', 'the state is posted back');
});

onPage('copilotkit: a tool of the page', async (view) => {
  await say(view, demo.navigate.question);
  await says(view, 'opened: Customers');
  assert.equal(await view.page.getAttribute('#view', 'data-page'), 'customers');
  assert.equal(view.runs.length, 2);
  assert.match(view.runs[1].context[0].value, /customers/, 'the next request has the new page in its context');
  await view.page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();
  await view.screenshot('copilotkit-page-tool');
});

onPage('copilotkit: a form that the page fills in', async (view) => {
  await say(view, demo.fillForm.question);
  await says(view, demo.fillForm.subject);
  assert.equal(await view.page.getByLabel('Subject').inputValue(), demo.fillForm.subject);
  assert.equal(view.runs.length, 2);
});

onPage('copilotkit: an approved refund', async (view, app) => {
  const { question, tool } = demo.refund(1002);
  await say(view, question);
  await asked(view).waitFor();
  assert.match(await asked(view).innerText(), /Give this money back\?/);
  assert.match(await asked(view).innerText(), /25\.00 EUR to Frances Allen/, 'the question shows amount and customer');
  assert.equal(await view.page.locator(`[data-tool-name=${tool}]`).count(), 1, 'once');
  assert.equal(await statusOf(app, 1002), 'delivered');
  // The two buttons must have different backgrounds.
  const ground = (name) => view.page.getByRole('button', { name }).evaluate((button) => getComputedStyle(button).backgroundColor);
  assert.notEqual(await ground('Approve'), await ground('Deny'));
  await view.screenshot('copilotkit-approval');
  await view.page.getByRole('button', { name: 'Approve' }).click();
  await says(view, 'refunded');
  await inState(view, tool, 'output');
  assert.equal(await statusOf(app, 1002), 'refunded');
  assert.match(await outputOf(view, tool).textContent(), /"refunded": "25.00 EUR"/);
  assert.equal(await asked(view).count(), 0);
  assert.equal(await view.page.locator(`[data-tool-name=${tool}]`).count(), 1);
  await view.screenshot('copilotkit-approved');
  // The server accepts the whole history, in which its own output has a seal.
  await say(view, demo.lookUp.question);
  await says(view, await statusOf(app, demo.lookUp.order));
  const [result, ...others] = view.runs[2].messages.filter((message) => message.role === 'tool');
  assert.equal(others.length, 0, 'the decision is not the result of the call');
  assert.match(result.content, /"refunded":"25.00 EUR"/);
  assert.match(result.encryptedValue, /seal/);
});

onPage('copilotkit: a message while an approval is open', async (view, app) => {
  const { question, tool } = demo.refund(1010);
  await say(view, question);
  await asked(view).waitFor();
  await say(view, demo.lookUp.question);
  await failure(view).filter({ hasText: 'first' }).waitFor();
  await view.screenshot('copilotkit-said-meanwhile');
  assert.equal(view.runs.length, 1);
  await view.page.getByRole('button', { name: 'Approve' }).click();
  await inState(view, tool, 'output');
  await says(view, 'refunded');
  assert.equal(await statusOf(app, 1010), 'refunded');
  assert.equal(await failure(view).count(), 0);
  // The server accepts the resulting history.
  await say(view, demo.lookUp.question);
  await says(view, await statusOf(app, demo.lookUp.order));
  assert.equal(view.runs.length, 3);
});

onPage('copilotkit: a denied refund', async (view, app) => {
  const { question, tool } = demo.refund(1004);
  await say(view, question);
  await view.page.getByLabel('Reason').fill('Not without the receipt.');
  await view.page.getByRole('button', { name: 'Deny' }).click();
  await says(view, 'Not without the receipt.');
  await inState(view, tool, 'denied');
  assert.equal(await statusOf(app, 1004), 'delivered');
  assert.equal(await outputOf(view, tool).textContent(), 'Not without the receipt.');
  await view.screenshot('copilotkit-denied');
});

onPage('copilotkit: a call that fails', async (view) => {
  const { question, tool } = demo.refund(9999);
  await say(view, question);
  await view.page.getByRole('button', { name: 'Approve' }).click();
  await says(view, 'There is no order 9999');
  await inState(view, tool, 'error');
});

onPage('copilotkit: a form', async (view) => {
  await say(view, demo.complaint.question);
  await asked(view).waitFor();
  const form = call(view, demo.complaint.tool);
  await form.getByLabel('Order').fill('1002');
  await form.getByLabel('Reason').selectOption('late');
  await form.getByLabel('E-mail').fill('ada@example.com');
  await form.getByLabel('Compensation').fill('12.5');
  await form.getByLabel('Please call me back').check();
  await view.screenshot('copilotkit-form');
  await form.getByRole('button', { name: 'Send' }).click();
  await says(view, 'ada@example.com');
  const [{ payload, status }] = view.runs[1].resume;
  assert.equal(status, 'resolved');
  const entered = { order_id: 1002, reason: 'late', email: 'ada@example.com', compensation: 12.5, call_back: true };
  assert.deepEqual(payload, entered);
  assert.deepEqual(JSON.parse(await outputOf(view, demo.complaint.tool).textContent()), entered);
  assert.equal(await asked(view).count(), 0);
  await view.screenshot('copilotkit-form-sent');
});

onPage('copilotkit: a form may be declined', async (view) => {
  await say(view, demo.address.question);
  await view.page.getByRole('button', { name: 'Decline' }).click();
  await says(view, 'request input failed');
  assert.equal(view.runs[1].resume[0].status, 'cancelled');
});

onPage('copilotkit: stop', async (view) => {
  await say(view, demo.slow.question);
  await call(view, demo.slow.tool).waitFor();
  await copilotkit.stop(view);
  await inState(view, demo.slow.tool, 'interrupted');
  assert.equal(view.stops.filter((path) => path.includes('/stop/')).length, 1);
  await view.screenshot('copilotkit-stopped');
  await say(view, demo.lookUp.question);
  await says(view, 'Desk');
});

onPage('copilotkit: a page that is reloaded', async (view, app) => {
  await say(view, demo.refund(1006).question);
  await asked(view).waitFor();
  await view.page.reload();
  // This server stores no conversation, so the open approval is gone.
  await say(view, demo.lookUp.question);
  await says(view, await statusOf(app, demo.lookUp.order));
  assert.equal(await asked(view).count(), 0);
  assert.equal(await view.page.getByTestId('copilot-user-message').count(), 1);
  assert.deepEqual(view.runs[1].messages.map((message) => message.content), [demo.lookUp.question]);
  assert.equal(view.runs[1].threadId, view.runs[0].threadId);
});

onPage('copilotkit: a page that is reloaded with its thread', async (view, app) => {
  for (const turn of [0, 1]) {
    if (turn === 1) {
      const connected = view.page.waitForResponse((response) => response.url().endsWith('/connect'));
      await view.page.reload();
      assert.equal((await connected).status(), 200);
    }
    await say(view, demo.lookUp.question);
    await says(view, await statusOf(app, demo.lookUp.order));
    assert.equal(view.runs[turn].threadId, 'thread-7');
    assert.equal(view.runs[turn].messages.length, 1);
  }
}, '/?thread=thread-7');

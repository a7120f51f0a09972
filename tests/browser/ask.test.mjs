// Questions for the user: approvals of calls, and forms. The demo model answers.

import assert from 'node:assert/strict';

import { demo } from '../lib/app.mjs';
import { DEMO, startQuickstart } from '../lib/quickstart.mjs';
import { prose, suiteOn } from './page.mjs';

const onPage = suiteOn(() => startQuickstart(DEMO));

const statusOf = async (app, order) => (await (await fetch(`${app.origin}/api/orders/${order}`)).json()).status;
const stateOf = (view, tool) => view.tool(tool).getAttribute('data-tool-state');

onPage('an approved refund runs, and the model continues', async (view, app) => {
  const refund = demo.refund(1002);
  await view.ask(refund.question);
  assert.equal(await stateOf(view, refund.tool), 'approval-requested');
  assert.equal(await statusOf(app, 1002), 'delivered', 'the refund has not run yet');
  const tool = view.tool(refund.tool);
  const question = await tool.locator('[part=approval] [part=ask]').innerText();
  assert.equal(question, 'Give this money back?\n25.00 EUR to Frances Allen for order 1002 (2 × Notebook, dotted)');
  assert.match(await tool.innerText(), /^Refund order\s+waiting for your approval/);
  await view.screenshot('approval');

  await tool.getByRole('button', { name: 'Approve' }).click();
  await view.settled();
  assert.equal(await stateOf(view, refund.tool), 'output-available');
  assert.equal(await statusOf(app, 1002), 'refunded');
  await view.page.locator('#view tr[data-id="1002"]').getByText('refunded').waitFor();
  assert.match(await prose(view.answer()), /refunded/);
  assert.equal(await view.answers.count(), 1, 'in the same message');
  assert.equal(await view.focused(), 'input');
  await view.screenshot('approved');

  // The server accepts the history, because the page returns all seals.
  await view.ask(demo.lookUp.question);
  assert.equal(await stateOf(view, demo.lookUp.tool), 'output-available');
  const part = view.runs[2].messages[1].parts.find((each) => each.type === `tool-${refund.tool}`);
  assert.ok(part.approval.signature && part.callProviderMetadata.omniassist.seal);
  assert.ok(view.runs[2].messages[1].metadata.omniassist.seals[part.toolCallId]);
});

onPage('a denied refund does not run, and the model reads the reason', async (view, app) => {
  const refund = demo.refund(1004);
  await view.ask(refund.question);
  const tool = view.tool(refund.tool);
  // With the keyboard only.
  await tool.getByLabel('Reason').focus();
  await view.page.keyboard.type('Not without the receipt.');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Enter');
  await view.settled();
  assert.equal(await stateOf(view, refund.tool), 'output-denied');
  assert.equal(await statusOf(app, 1004), 'delivered');
  assert.match(await prose(view.answer()), /Not without the receipt\./);
  assert.match(await tool.innerText(), /Denied by you: Not without the receipt\./);
  await view.screenshot('denied');
});

onPage('after a later message, an approval can no longer be given', async (view, app) => {
  const refund = demo.refund(1006);
  await view.ask(refund.question);
  await view.ask(demo.lookUp.question);
  const asked = view.page.locator(`[data-tool-name=${refund.tool}]`);
  assert.equal(await asked.getAttribute('data-tool-state'), 'unanswered');
  assert.equal(await asked.getByRole('button').count(), 0);
  assert.equal(await statusOf(app, 1006), 'shipped');
  assert.equal(await stateOf(view, demo.lookUp.tool), 'output-available');
});

onPage('one of two refunds is approved and one denied, in one post', async (view, app) => {
  await view.ask('Refund order 1009 and refund order 1010');
  const [first, second] = await view.tool('refund_order').all();
  await first.getByRole('button', { name: 'Approve' }).click();
  assert.equal(view.runs.length, 1, 'the other one is still open');
  await second.getByRole('button', { name: 'Deny' }).click();
  await view.settled();
  assert.equal(view.runs.length, 2);
  assert.equal(await first.getAttribute('data-tool-state'), 'output-available');
  assert.equal(await second.getAttribute('data-tool-state'), 'output-denied');
  assert.equal(await statusOf(app, 1009), 'refunded');
  assert.equal(await statusOf(app, 1010), 'delivered');
});

onPage('the page returns the seals of all calls of a message', async (view) => {
  await view.ask('Where is order 1011 and refund order 1012');
  await view.tool('refund_order').getByRole('button', { name: 'Approve' }).click();
  await view.settled();
  await view.ask(demo.lookUp.question);
  const [, { metadata, parts }] = view.runs[2].messages;
  const calls = parts.filter((part) => part.toolCallId).map((part) => part.toolCallId);
  assert.equal(calls.length, 2);
  assert.deepEqual(Object.keys(metadata.omniassist.seals).sort(), calls.sort());
});

onPage('a form is filled in, and its answer reaches the model', async (view) => {
  await view.ask(demo.complaint.question);
  const form = view.tool(demo.complaint.tool);
  assert.equal(await form.getAttribute('data-tool-state'), 'waiting');
  await view.screenshot('complaint');

  const send = form.getByRole('button', { name: 'Send' });
  await send.click();
  assert.equal(view.runs.length, 1, 'the page checks required fields');
  const order = form.getByLabel('Order');
  assert.equal(await order.getAttribute('aria-invalid'), 'true');
  const described = (await order.getAttribute('aria-describedby')).split(' ');
  const words = await Promise.all(described.map((id) => view.page.innerText(`#${id}`)));
  assert.deepEqual(words, ['Its number, such as 1002', 'Order: enter a value.']);
  await order.fill('1002');
  await form.getByLabel('Reason').selectOption('late');
  await form.getByLabel('Noticed on (optional)').fill('2026-11-20');
  await form.getByLabel('E-mail').fill('no address');
  await send.click();
  assert.equal(view.runs.length, 1);
  await form.getByLabel('E-mail').fill('ada@example.com');
  await form.getByLabel('Please call me back').check();
  await view.screenshot('complaint-filled');
  // Enter in any field sends the form.
  await form.getByLabel('E-mail').press('Enter');
  await view.settled();

  assert.equal(await form.getAttribute('data-tool-state'), 'output-available');
  const posted = view.runs[1].messages.at(-1).parts.find((part) => part.type === `tool-${demo.complaint.tool}`);
  assert.deepEqual(posted.output, {
    order_id: 1002,
    reason: 'late',
    noticed_on: '2026-11-20',
    email: 'ada@example.com',
    call_back: true,
  });
  assert.match(await prose(view.answer()), /ada@example\.com/);
  assert.equal(await form.locator('fieldset').count(), 0, 'the answer is shown in place of the form');
  assert.match(await form.locator('[part=values]').innerText(), /ada@example\.com/);
  await view.screenshot('complaint-sent');
});

onPage('a form may be declined', async (view) => {
  await view.ask(demo.address.question);
  const form = view.tool(demo.address.tool);
  await form.getByRole('button', { name: 'Decline' }).click();
  await view.settled();
  assert.equal(await form.getAttribute('data-tool-state'), 'output-error');
  assert.match(await prose(view.answer()), /declined/);
});

onPage('after a restart without keys, an approval is invalid, and the page does not show it', async (view, app) => {
  const refund = demo.refund(1018);
  await view.ask(refund.question);
  const chat = await view.page.evaluate(() => JSON.stringify(sessionStorage));
  const restarted = await startQuickstart(DEMO);
  try {
    const page = await view.page.context().newPage();
    await page.addInitScript((saved) => Object.assign(sessionStorage, JSON.parse(saved)), chat);
    await page.goto(restarted.origin);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.waitForSelector('[data-role=assistant] [data-part=text]');
    await page.waitForFunction(() => document.querySelector('omniassist-chat').chat.status === 'ready');
    const box = page.locator(`[data-tool-name=${refund.tool}]`).first();
    assert.doesNotMatch(await box.innerText(), /Approved by you/);
    assert.equal(await statusOf(restarted, 1018), await statusOf(app, 1018), 'no refund was paid');
    await page.close();
  } finally {
    await restarted.stop();
  }
});

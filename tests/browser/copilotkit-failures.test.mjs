// examples/copilotkit-chat with a scripted model: streamed text, failures on the page, and the requests to the model.

import assert from 'node:assert/strict';

import { demo, tools } from '../lib/app.mjs';
import { CANARY, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { answers, asked, failure, inState, isOver, say, says, stop } from './copilotkit.mjs';
import { MARKDOWN, PHONE, fitsPhone, followsColourScheme, showsMarkdown, suiteOn, whileOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  const app = await startScripted((model) => startBehind('copilotkit-chat', () => startQuickstart(openai('openai', model.baseUrl))));
  ({ model } = app);
  return app;
});

/** Returns the output of a call in a request to the model. */
const outputOf = (request, id) =>
  request.body.input.find((item) => item.type === 'function_call_output' && item.call_id === id)?.output;

onPage('copilotkit: text is shown as it arrives, and stop reaches the model', async (view) => {
  model.script({ text: 'This answer has no end', end: 'hang' }, { text: 'Here I am.' });
  await say(view, 'Tell me everything');
  await answers(view).filter({ hasText: 'no end' }).waitFor();
  assert.equal(model.requests[0].closedAt, null);
  await stop(view);
  await until(() => model.requests[0].closedAt, 'the connection closes', 2_000);
  assert.equal(await failure(view).count(), 0, 'a stop is not a failure');
  await say(view, 'Are you there?');
  await says(view, 'Here I am.');
});

onPage('copilotkit: a reload closes the connection to the model', async (view) => {
  model.script({ text: 'This answer has no end', end: 'hang' }, { text: 'Here I am.' });
  await say(view, 'Tell me everything');
  await answers(view).filter({ hasText: 'no end' }).waitFor();
  await view.page.reload();
  await until(() => model.requests[0].closedAt, 'the connection closes');
  await say(view, 'Are you there?');
  await says(view, 'Here I am.');
  assert.equal(await answers(view).count(), 1);
  // The closing page may log that its request was cut.
  assert.deepEqual(view.problems.splice(0).filter((line) => !line.includes('network error')), []);
});

onPage('copilotkit: an error is a sentence, and the next try works', async (view) => {
  const refusal = { before: { status: 400, body: { error: { message: CANARY } } } };
  model.script(refusal, { text: 'Half an answer', end: 'error' }, { text: 'Better.' });
  const isSentence = (text) => assert.ok(text.length > 10 && !text.includes(CANARY), text);
  await say(view, 'Hi');
  await failure(view).waitFor();
  isSentence(await failure(view).innerText());
  await say(view, 'Hi again');
  await answers(view).filter({ hasText: 'Half an answer' }).waitFor();
  await isOver(view);
  await failure(view).waitFor();
  isSentence(await failure(view).innerText());
  await view.screenshot('copilotkit-error');
  await say(view, 'And now?');
  await says(view, 'Better.');
  assert.equal(await failure(view).count(), 0);
});

onPage('copilotkit: a refused request shows the message of the server', async (view) => {
  model.script({ text: 'Never asked.' });
  await view.page.route('**/run', (route) => {
    const messages = [{ id: 'm', role: 'user', content: 42 }];
    return route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), messages }) });
  });
  await say(view, 'Hi');
  await failure(view).waitFor();
  assert.match(await failure(view).innerText(), /^expected a string.*content/);
  await view.screenshot('copilotkit-refused');
  const [browser, client, ...others] = view.problems.splice(0);
  assert.match(browser, /status of 400/, 'the browser logs the failed request');
  assert.match(client, /Agent execution failed/, 'the client logs the failed run');
  assert.deepEqual(others, []);
  assert.equal(model.requests.length, 0);
});

onPage('copilotkit: one of two refunds is approved and one denied, in one post', async (view) => {
  const refund = (id, order_id) => ({ id, name: tools.refund.name, args: { order_id } });
  model.script({ calls: [refund('call_yes', 1002), refund('call_no', 1004)] }, { text: 'One of two.' }, { text: 'Twelve.' });
  await say(view, 'Refund both');
  await asked(view).nth(1).waitFor();
  assert.deepEqual(await asked(view).locator('.tool-input').allTextContents(), ['{"order_id":1002}', '{"order_id":1004}']);
  await view.screenshot('copilotkit-two-approvals');
  await asked(view).last().getByRole('button', { name: 'Deny' }).click();
  await inState(view, tools.refund.name, 'answered');
  assert.equal(view.runs.length, 1, 'the first decision is not posted alone');
  await asked(view).getByRole('button', { name: 'Approve' }).click();
  await says(view, 'One of two.');
  assert.equal(view.runs.length, 2);
  assert.deepEqual(view.runs[1].resume.map(({ payload }) => payload.approved), [true, false]);
  assert.match(outputOf(model.requests[1], 'call_yes'), /"refunded":/);
  assert.match(outputOf(model.requests[1], 'call_no'), /denied/);
  await inState(view, tools.refund.name, 'output');
  await inState(view, tools.refund.name, 'denied');

  // The model receives the same outputs in the next run, since the server accepts its own sealed outputs.
  await say(view, demo.lookUp.question);
  await says(view, 'Twelve.');
  for (const id of ['call_yes', 'call_no']) assert.equal(outputOf(model.requests[2], id), outputOf(model.requests[1], id));
});

onPage('copilotkit: the chat continues after an approved call whose run fails or is stopped', async (view) => {
  const refund = (id, order_id) => ({ calls: [{ id, name: tools.refund.name, args: { order_id } }] });
  const ends = [
    { end: { before: { status: 400, body: { error: { message: CANARY } } } }, over: () => failure(view).waitFor() },
    { end: { text: 'Half', end: 'hang' }, over: async () => (await answers(view).filter({ hasText: 'Half' }).waitFor(), stop(view)) },
  ];
  for (const [index, { end, over }] of ends.entries()) {
    model.script(refund(`call_${index}`, 1006 + 20 * index), end, { text: `Better ${index}.` });
    await say(view, 'Refund it');
    await asked(view).getByRole('button', { name: 'Approve' }).click();
    await over();
    await say(view, 'And now?');
    await says(view, `Better ${index}.`);
    assert.equal(await failure(view).count(), 0);
    assert.ok(outputOf(model.requests[2], `call_${index}`).length > 0);
  }
  assert.equal(await asked(view).count(), 0);
});

onPage('copilotkit: after a restart without keys, the user is asked for the approval again', async (view) => {
  const refund = (id) => ({ calls: [{ id, ...tools.refund }] });
  model.script(refund('call_before'), refund('call_after'), { text: 'Refunded.' });
  await say(view, 'Refund order 1002');
  await asked(view).waitFor();
  const restarted = await startQuickstart(openai('openai', model.baseUrl));
  await whileOn(view, restarted, async () => {
    await asked(view).getByRole('button', { name: 'Approve' }).click();
    const failed = view.page.locator('[data-tool-state=error]');
    await failed.locator('.soft', { hasText: 'so that the user is asked again' }).waitFor();
    await asked(view).getByRole('button', { name: 'Approve' }).waitFor();
    assert.equal(await asked(view).count(), 1, 'the first call has no open approval');
    await view.screenshot('copilotkit-asked-again');
    const status = async () => (await (await fetch(`${restarted.origin}/api/orders/1002`)).json()).status;
    assert.equal(await status(), 'delivered', 'the first approval is invalid');
    await asked(view).getByRole('button', { name: 'Approve' }).click();
    await says(view, 'Refunded.');
    assert.equal(await status(), 'refunded');
  });
});

onPage('copilotkit: an output without its seal does not reach the model', async (view) => {
  model.script({ calls: [{ id: 'call_look', ...tools.lookUp }] }, { text: 'There it is.' }, { text: 'I cannot tell.' });
  await say(view, demo.lookUp.question);
  await says(view, 'There it is.');
  assert.match(outputOf(model.requests[1], 'call_look'), /1001/);
  await view.page.route('**/run', (route) => {
    const body = route.request().postDataJSON();
    for (const message of body.messages) if (message.role === 'tool') delete message.encryptedValue;
    return route.continue({ postData: JSON.stringify(body) });
  });
  await say(view, 'Are you sure?');
  await says(view, 'I cannot tell.');
  assert.match(outputOf(model.requests[2], 'call_look'), /no longer be verified/);
});

onPage('copilotkit: Markdown becomes elements, and no image is loaded', async (view) => {
  model.script({ text: MARKDOWN });
  await say(view, 'Show me everything');
  await isOver(view);
  await showsMarkdown(view, answers(view).last());
  await view.screenshot('copilotkit-markdown');
});

onPage('copilotkit: a phone shows the chat, and the page one tap away', async (view) => {
  await view.page.setViewportSize(PHONE);
  await fitsPhone(view, view.page.getByTestId('copilot-chat-textarea'));
  await view.screenshot('copilotkit-phone');
  await view.page.click('#chat-toggle');
  await fitsPhone(view, view.page.getByRole('button', { name: 'Orders' }));
});

onPage('copilotkit: the page follows the colour scheme of the system', followsColourScheme);

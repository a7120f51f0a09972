// examples/react-chat with a scripted model: failures, stops, Markdown, phones and the colour scheme.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { CANARY, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { MARKDOWN, PHONE, fitsPhone, followsColourScheme, prose, showsMarkdown, suiteOn, whileOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  const app = await startScripted((model) => startBehind('react-chat', () => startQuickstart(openai('openai', model.baseUrl))));
  ({ model } = app);
  return app;
});

onPage('react: an error is a sentence, and the next try works', async (view) => {
  model.script({ before: { status: 400, body: { error: { message: CANARY } } } }, { text: 'Better.' });
  await view.type('Hi');
  const error = view.page.locator('#chat-error-text');
  await error.waitFor();
  const text = await error.innerText();
  assert.ok(text.length > 10 && !text.includes(CANARY), text);
  await view.screenshot('react-error');
  await view.page.click('#chat-retry');
  await view.page.getByText('Better.').waitFor();
  assert.equal(await error.count(), 0);
});

onPage('react: a refused request shows the message of the server', async (view) => {
  model.script({ text: 'Never asked.' });
  await view.page.route('**/assistant?*', (route) =>
    route.continue({ postData: JSON.stringify({ messages: [{ id: 'm', role: 'user', content: 42 }] }) }),
  );
  await view.type('Hi');
  const error = view.page.locator('#chat-error-text');
  await error.waitFor();
  assert.match(await error.innerText(), /content/);
  assert.match(view.problems.splice(0).join(), /status of 400/, 'the browser logs the failed request');
});

onPage('react: stop reaches the model', async (view) => {
  model.script({ text: 'This answer has no end', end: 'hang' }, { text: 'Here I am.' });
  await view.type('Tell me everything');
  await until(async () => (await prose(view.answers)).includes('no end'), 'the text is shown');
  await view.page.click('#chat-stop');
  await view.settled();
  await until(() => model.requests[0].closedAt, 'the connection closes', 2_000);
  assert.equal(await view.page.evaluate(() => document.activeElement.id), 'chat-input');
  await view.answer().getByText('Stopped: this answer is incomplete.').waitFor();
  await view.type('Are you there?');
  await view.page.getByText('Here I am.').waitFor();
});

onPage('react: Markdown becomes elements, and no image is loaded', async (view) => {
  model.script({ text: MARKDOWN });
  await view.type('Show me everything');
  await showsMarkdown(view, view.answer());
  await view.screenshot('react-markdown');
});

onPage('react: a phone shows the chat, and scrolls to an approval', async (view) => {
  model.script({ text: MARKDOWN.repeat(3) }, { calls: [{ id: 'call_r', ...tools.refund }] });
  await view.page.setViewportSize(PHONE);
  await fitsPhone(view, view.page.locator('#chat-send'));
  await view.type('Show me everything');
  await view.settled();
  await view.type('Refund order 1002');
  const approve = view.page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await fitsPhone(view, approve);
  await view.screenshot('react-phone');
  await view.page.click('#chat-toggle');
  await fitsPhone(view, view.page.getByRole('button', { name: 'Orders' }));
});

onPage('react: the page follows the colour scheme of the system', followsColourScheme);

onPage('react: a reload keeps the chat', async (view) => {
  model.script({ text: 'The first answer.' }, { text: 'The second answer.' }, { text: 'The third answer.' });
  await view.type('One');
  await view.page.getByText('The first answer.').waitFor();
  await view.settled();
  await view.page.reload();
  await view.page.getByText('The first answer.').waitFor();
  await view.type('Two');
  await view.page.getByText('The second answer.').waitFor();
  assert.equal(view.runs[1].id, view.runs[0].id);
  assert.equal(view.runs[1].messages.length, 3);
  await view.settled();
  await view.page.click('#chat-clear');
  await view.page.reload();
  await view.type('Three');
  await view.page.getByText('The third answer.').waitFor();
  assert.equal(await view.answers.count(), 1);
});

onPage('react: after a restart without keys, the user is asked for the approval again', async (view) => {
  const refund = (id) => ({ calls: [{ id, ...tools.refund }] });
  model.script(refund('call_before'), refund('call_after'), { text: 'Refunded.' });
  await view.type('Refund order 1002');
  await view.page.getByRole('button', { name: 'Approve' }).waitFor();
  const restarted = await startQuickstart(openai('openai', model.baseUrl));
  await whileOn(view, restarted, async () => {
    await view.page.getByRole('button', { name: 'Approve' }).click();
    const failed = view.page.locator('[data-tool-state=output-error]');
    await failed.getByText('so that the user is asked again').waitFor();
    const asked = view.page.locator('[data-tool-state=approval-requested]');
    await asked.waitFor();
    assert.equal(await view.page.getByRole('button', { name: 'Approve' }).count(), 1, 'the first call has no open approval');
    await view.screenshot('react-asked-again');
    const status = async () => (await (await fetch(`${restarted.origin}/api/orders/1002`)).json()).status;
    assert.equal(await status(), 'delivered', 'the first approval is invalid');
    await asked.getByRole('button', { name: 'Approve' }).click();
    await view.page.getByText('Refunded.').waitFor();
    assert.equal(await status(), 'refunded');
  });
});

onPage('react: the page behind Vite reports a dead server', async (view, app) => {
  model.script({ text: 'This answer has no end', end: 'hang' });
  await view.page.waitForSelector('#view tbody tr');
  await view.type('Tell me everything');
  await until(async () => (await prose(view.answers)).includes('no end'), 'the text is shown');
  await app.server.stop();
  await view.settled();
  await view.page.click('#chat-retry');
  await view.page.getByText('The server does not answer. Check').waitFor();
  assert.equal(await view.page.locator('#view tbody tr').count(), 40);
  await view.screenshot('react-dead-server');
  view.problems.splice(0);
});

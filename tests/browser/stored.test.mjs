// The page of the quickstart whose chats are stored: reloads, and a server that is killed and started again. A scripted
// model answers.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { forgive, prose, suiteOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  const app = await startScripted((model) => startQuickstart(openai('openai', model.baseUrl), { stored: true }));
  ({ model } = app);
  return app;
});

const LONG = Array.from({ length: 40 }, (_, number) => `word${number}`).join(' ');
const SLOW = { text: LONG, pace: 30 };

const shows = (view, text) => until(async () => (await prose(view.answers)).includes(text), `"${text}" is shown`);
/** The chats in the list that have a text. */
const rows = (view, hasText) => view.page.locator('[part=thread-row]', { hasText });
/** Deletes a chat of the list, which asks before. */
async function deletes(view, text) {
  const id = await rows(view, text).getAttribute('data-id');
  const row = view.page.locator(`[part=thread-row][data-id="${id}"]`);
  await row.getByRole('button', { name: /^Delete/ }).click();
  await row.getByRole('button', { name: 'Delete', exact: true }).click();
  await row.waitFor({ state: 'detached' });
}
const approval = (view) => view.answer().locator('[part=approval]:not([hidden])');

onPage('an answer goes on after a reload', async (view) => {
  model.script(SLOW);
  await view.type('Tell me everything');
  await shows(view, 'word5');
  await view.page.reload();
  await shows(view, 'word5');
  await view.screenshot('stored-reload');
  await view.settled();
  assert.equal(await prose(view.answers), LONG);
  assert.deepEqual([await view.answers.count(), model.requests.length], [1, 1], 'the model was asked once');
  await view.page.reload();
  await shows(view, LONG);
  assert.equal(await view.answers.count(), 1);
});

onPage('an answer goes on after the server was killed', async (view, app) => {
  model.script({ text: 'Half of it', end: 'hang' }, SLOW);
  await view.type('Tell me everything');
  await shows(view, 'Half of it');
  await app.kill();
  await view.page.waitForSelector(view.parts.error);
  await view.screenshot('stored-killed');
  await app.start();
  await view.completed();
  assert.equal(await prose(view.answers), LONG, 'the model is asked again');
  assert.deepEqual([await view.answers.count(), model.requests.length], [1, 2]);
  assert.equal(await view.page.isVisible(view.parts.error), false);
  await view.screenshot('stored-restarted');
  forgive(view);
});

onPage('an approval that waits survives a reload and a killed server', async (view, app) => {
  const order = 1002;
  model.script({ calls: [{ id: 'call_r', ...tools.refund }] }, { text: 'It is refunded.' });
  await view.ask('Refund it');
  await view.page.reload();
  await approval(view).waitFor();
  await app.kill();
  await app.start();
  await view.page.reload();
  await approval(view).waitFor();
  assert.match(await approval(view).innerText(), /Give this money back\?\n25\.00 EUR/);
  await view.screenshot('stored-approval');
  await approval(view).getByRole('button', { name: 'Approve' }).click();
  await shows(view, 'It is refunded.');
  await view.settled();
  assert.equal(await view.answers.count(), 1);
  const output = model.requests[1].body.input.find((item) => item.type === 'function_call_output');
  assert.match(output.output, /25\.00/);
  const { refunded } = await (await fetch(`${app.origin}/api/orders/${order}`)).json();
  assert.match(refunded, /25\.00/);
  forgive(view);
});

onPage('the list opens a chat that still runs, and deletes it', async (view) => {
  model.script({ text: 'Half of it', end: 'hang' }, { text: 'Hello.' });
  await view.type('The first question');
  await shows(view, 'Half of it');
  await view.page.click(view.parts.clear);
  await view.ask('The second question');
  await view.page.click(view.parts.threads);
  const first = rows(view, 'The first question');
  await first.getByText('answering').waitFor();
  await view.screenshot('stored-list');
  await first.locator('[part=thread]').click();
  await shows(view, 'Half of it');
  await view.page.click(view.parts.stop);
  await view.settled();
  await until(() => model.requests[0].closedAt, 'the request to the model is closed');
  await view.page.click(view.parts.threads);
  await deletes(view, 'The first question');
  assert.equal(await view.answers.count(), 0);
  await view.reload();
  await view.page.click(view.parts.threads);
  await rows(view, 'The second question').waitFor();
  assert.equal(await rows(view, 'The first question').count(), 0);
});

onPage('the list shows chats beyond its first page', async (view, app) => {
  const titles = Array.from({ length: 51 }, (_, number) => `Question ${number}`);
  model.script(...titles.map(() => ({ text: 'Hello.' })));
  for (const title of titles) {
    const message = { id: title, role: 'user', parts: [{ type: 'text', text: title }] };
    const headers = { 'content-type': 'application/json' };
    await (await fetch(app.api, { method: 'POST', headers, body: JSON.stringify({ id: title, message }) })).text();
  }
  await view.loaded();
  await view.page.click(view.parts.threads);
  const oldest = rows(view, /^Question 0/);
  await rows(view, /^Question 50/).waitFor();
  assert.equal(await oldest.count(), 0);
  const more = view.page.getByRole('button', { name: 'More chats' });
  await more.click();
  await oldest.waitFor();
  assert.equal(await more.count(), 0, 'there are no more');
  // The list keeps its length when a chat is deleted.
  await deletes(view, /^Question 25/);
  assert.equal(await oldest.count(), 1);
});

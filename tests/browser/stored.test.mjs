// The page of the quickstart whose chats are stored: reloads, and a server that is killed and started again. A scripted
// model answers.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { forgive, prose, suiteOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  model = await startFakeOpenAi();
  const app = await startQuickstart(openai('openai', model.baseUrl), { stored: true });
  return { ...app, stop: () => app.stop().finally(model.stop) };
});

const LONG = Array.from({ length: 40 }, (_, number) => `word${number}`).join(' ');
const SLOW = { text: LONG, pace: 30 };

const shows = (view, text) => until(async () => (await prose(view.answers)).includes(text), `"${text}" is shown`);
const approval = (view) => view.answer().locator('.approval:not([hidden])');

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
  await view.page.waitForSelector('#chat-error:not([hidden])');
  await view.screenshot('stored-killed');
  await app.start();
  await view.settled();
  assert.equal(await prose(view.answers), LONG, 'the model is asked again');
  assert.deepEqual([await view.answers.count(), model.requests.length], [1, 2]);
  assert.equal(await view.page.isVisible('#chat-error'), false);
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
  await view.page.click('#chat-clear');
  await view.ask('The second question');
  await view.page.click('#threads summary');
  const first = view.page.locator('#threads-list li', { hasText: 'The first question' });
  await first.getByText('answering').waitFor();
  await view.screenshot('stored-list');
  await first.getByRole('button', { name: 'The first question', exact: true }).click();
  await shows(view, 'Half of it');
  await view.page.click('#chat-stop');
  await view.settled();
  await until(() => model.requests[0].closedAt, 'the request to the model is closed');
  view.page.on('dialog', (dialog) => dialog.accept());
  await first.getByRole('button', { name: /^Delete/ }).click();
  await first.waitFor({ state: 'detached' });
  assert.equal(await view.answers.count(), 0);
  await view.page.reload();
  assert.equal(await view.page.locator('#threads-list li').count(), 0);
});

onPage('the list shows chats beyond its first page', async (view, app) => {
  const titles = Array.from({ length: 51 }, (_, number) => `Question ${number}`);
  model.script(...titles.map(() => ({ text: 'Hello.' })));
  for (const title of titles) {
    const message = { id: title, role: 'user', parts: [{ type: 'text', text: title }] };
    const headers = { 'content-type': 'application/json' };
    await (await fetch(app.api, { method: 'POST', headers, body: JSON.stringify({ id: title, message }) })).text();
  }
  await view.page.click('#threads summary');
  const oldest = view.page.locator('#threads-list li', { hasText: /^Question 0/ });
  await view.page.locator('#threads-list li', { hasText: /^Question 50/ }).waitFor();
  assert.equal(await oldest.count(), 0);
  await view.page.click('#threads-more');
  await oldest.waitFor();
  assert.equal(await view.page.locator('#threads-more').count(), 0, 'there are no more');
  // The list keeps its length when a chat is deleted.
  view.page.once('dialog', (dialog) => dialog.accept());
  await view.page.locator('#threads-list li', { hasText: /^Question 25/ }).getByRole('button', { name: 'Delete' }).click();
  await until(async () => !(await view.page.locator('#threads-list').innerText()).includes('Question 25'), 'it is deleted');
  assert.equal(await oldest.count(), 1);
});

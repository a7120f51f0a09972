// The page of the quickstart on a phone, in a dark colour scheme, after a reload and after failures. A scripted model
// answers.

import assert from 'node:assert/strict';

import { startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { MARKDOWN, PHONE, fitsPhone, followsColourScheme, prose, showsMarkdown, suiteOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  const app = await startScripted((model) => startQuickstart(openai('openai', model.baseUrl)));
  ({ model } = app);
  return { ...app, server: app };
});

const HALF = { text: 'Half an answer', end: 'error' };

onPage('Markdown becomes elements, and no image is loaded', async (view) => {
  model.script({ text: MARKDOWN });
  await view.ask('Show me everything');
  await showsMarkdown(view, view.answer());
  assert.equal(await view.answer().getByRole('heading').innerText(), 'A title');
  const link = view.answer().getByRole('link', { name: 'A site' });
  assert.deepEqual(
    [await link.getAttribute('rel'), await link.getAttribute('target')],
    ['noopener noreferrer', '_blank'],
  );
  await view.screenshot('markdown');
});

onPage('the chat is one tap away on a phone', async (view) => {
  model.script({ text: MARKDOWN });
  await view.page.setViewportSize(PHONE);
  await view.page.reload();
  await view.page.waitForSelector('#view tbody tr');
  await fitsPhone(view, view.page.locator('[part~=launcher]'));
  await view.screenshot('phone-page');
  await view.page.click('[part~=launcher]');
  await fitsPhone(view, view.page.locator(view.parts.input));
  await view.ask('Show me everything');
  await fitsPhone(view, view.page.locator(view.parts.send));
  await view.screenshot('phone-chat');
});

onPage('the page follows the colour scheme of the system', async (view) => {
  await followsColourScheme(view);
  await view.screenshot('dark');
});

onPage('a reload keeps the chat', async (view) => {
  model.script({ text: 'The first answer.' }, { text: 'The second answer.' });
  await view.ask('One');
  await view.reload();
  assert.equal(await prose(view.answers), 'The first answer.');
  await view.ask('Two');
  const [first, second] = view.runs;
  assert.equal(second.id, first.id);
  assert.deepEqual(second.messages.map((message) => message.role), ['user', 'assistant', 'user']);
  await view.page.click(view.parts.clear);
  await view.reload();
  assert.equal(await view.answers.count(), 0);
});

onPage('another try replaces the incomplete answer', async (view) => {
  model.script(HALF, { text: 'Better.' });
  await view.type('Tell me');
  await view.settled();
  assert.equal(await view.answer().locator('[part=incomplete]').isVisible(), true);
  await view.page.click(view.parts.retry);
  await view.settled();
  assert.equal(await view.answers.count(), 1);
  assert.equal(await prose(view.answers), 'Better.');
  assert.equal(await view.answer().locator('[part=incomplete]').isVisible(), false);
  assert.equal(await view.focused(), 'input');
});

onPage('another try does not run a finished call again', async (view) => {
  model.script({ calls: [{ id: 'call_t', name: 'create_ticket', args: { subject: 'Once' } }] }, HALF, { text: 'Better.' });
  await view.type('Open a ticket');
  await view.settled();
  await view.page.click(view.parts.retry);
  await view.settled();
  assert.equal(await prose(view.answers), 'Better.');
  assert.equal(await view.tool('create_ticket').count(), 1);
  const output = model.requests[2].body.input.find((item) => item.type === 'function_call_output');
  assert.match(output.output, /Once/, 'the model receives the result of the call');
});

onPage('after a stop the input has the focus, and the answer has a mark', async (view) => {
  model.script({ text: 'This answer has no end', end: 'hang' });
  await view.type('Tell me everything');
  await until(async () => (await prose(view.answers)).includes('no end'), 'the text is shown');
  await view.page.click(view.parts.stop);
  await view.settled();
  assert.equal(await view.focused(), 'input');
  assert.match(await view.answer().innerText(), /This answer is incomplete\./);
});

onPage('the page reports a dead server and keeps its table', async (view, app) => {
  model.script({ text: 'This answer has no end', end: 'hang' });
  await view.page.waitForSelector('#view tbody tr');
  await view.type('Tell me everything');
  await until(async () => (await prose(view.answers)).includes('no end'), 'the text is shown');
  await app.server.stop();
  // The chat asks again for a while before it gives up.
  await view.settled(25_000);
  await view.page.click(view.parts.retry);
  await view.settled(25_000);
  assert.match(await view.page.innerText(view.parts.error), /The assistant cannot be reached\./);
  await view.page.waitForSelector('#view .failure');
  assert.equal(await view.page.locator('#view tbody tr').count(), 40);
  await view.screenshot('dead-server');
  assert.ok(view.problems.splice(0).every((line) => /net::ERR/.test(line)), 'the browser logs failed requests');
});

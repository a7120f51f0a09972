// examples/copilotkit-chat in front of a server that stores chats: reloads of the page. A scripted model answers.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { answers, asked, says, say } from './copilotkit.mjs';
import { suiteOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  const start = (model) => startBehind('copilotkit-chat', () => startQuickstart(openai('openai', model.baseUrl), { stored: true }));
  const app = await startScripted(start);
  ({ model } = app);
  return app;
});

const LONG = Array.from({ length: 40 }, (_, number) => `word${number}`).join(' ');
const texts = async (view) => (await answers(view).allInnerTexts()).join('').trim();

onPage('copilotkit: a reload goes on with a running answer, and keeps the chat', async (view) => {
  model.script({ text: LONG, pace: 50 });
  await say(view, 'Tell me everything');
  await answers(view).filter({ hasText: 'word5' }).waitFor();
  await view.page.reload();
  await answers(view).filter({ hasText: 'word5' }).waitFor();
  await view.screenshot('copilotkit-reload');
  await says(view, 'word39');
  assert.equal(await texts(view), LONG);
  assert.equal(model.requests.length, 1, 'the model was asked once');
  await view.page.reload();
  await answers(view).filter({ hasText: 'word39' }).waitFor();
  assert.equal(await texts(view), LONG);
  // The first page logs that its stream ends when it is left.
  assert.ok(view.problems.splice(0).every((line) => /network error/.test(line)));
});

onPage('copilotkit: an approval that waits survives a reload', async (view) => {
  model.script({ calls: [{ id: 'call_r', ...tools.refund }] }, { text: 'It is refunded.' });
  await say(view, 'Refund it');
  await asked(view).waitFor();
  await view.page.reload();
  await asked(view).waitFor();
  await view.screenshot('copilotkit-approval-reload');
  await view.page.getByRole('button', { name: 'Approve' }).click();
  await says(view, 'It is refunded.');
  await until(() => model.requests.length === 2, 'the model reads the result');
  assert.equal(await asked(view).count(), 0);
});

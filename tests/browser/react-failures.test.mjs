// examples/react-chat with a scripted model: what the user sees of a failure, and what a stop reaches.

import assert from 'node:assert/strict';

import { CANARY, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { prose, suiteOn } from './page.mjs';

let model;

const onPage = suiteOn(async () => {
  model = await startFakeOpenAi();
  const app = await startBehind('react-chat', () => startQuickstart(openai('openai', model.baseUrl)));
  return { ...app, stop: () => app.stop().finally(model.stop) };
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

onPage('react: a refused request is told in the words of the server', async (view) => {
  model.script({ text: 'Never asked.' });
  await view.page.route('**/assistant?*', (route) =>
    route.continue({ postData: JSON.stringify({ messages: [{ id: 'm', role: 'user', content: 42 }] }) }),
  );
  await view.type('Hi');
  const error = view.page.locator('#chat-error-text');
  await error.waitFor();
  assert.match(await error.innerText(), /content/);
  assert.match(view.problems.splice(0).join(), /status of 400/, 'the browser logs that by itself');
});

onPage('react: stop reaches the model', async (view) => {
  model.script({ text: 'This answer has no end', end: 'hang' }, { text: 'Here I am.' });
  await view.type('Tell me everything');
  await until(async () => (await prose(view.answers)).includes('no end'), 'the text is shown');
  await view.page.click('#chat-stop');
  await view.settled();
  await until(() => model.requests[0].closedAt, 'the connection closes', 2_000);
  await view.type('Are you there?');
  await view.page.getByText('Here I am.').waitFor();
});

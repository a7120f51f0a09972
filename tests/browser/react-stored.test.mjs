// examples/react-chat with a server that stores chats: reloads, lost connections, and servers that are killed or
// drained. The page must end with the message that the server has stored.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { holdAt, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { forgive, prose, suiteOn } from './page.mjs';

/** The turns of the model for the chat of the running test. */
let script;
let model;

const onPage = suiteOn(async () => {
  const answer = ({ input }) => script(input.some(({ type }) => type === 'function_call_output'));
  model = await startFakeOpenAi({ answer });
  const app = await startBehind('react-chat', () => startQuickstart(openai('openai', model.baseUrl), { stored: true }));
  return { ...app, stop: () => app.stop().finally(model.stop) };
});

/** The model sends each word as one piece, and waits before the second one. */
const TEXT = 'before SECOND after. ';
const refund = { name: 'refund_order', args: { order_id: 1002, amount: 0.01 } };

const shows = (view, text) => until(async () => (await prose(view.answers)).includes(text), `"${text}" is shown`);
const inState = (view, tool, state) => view.page.waitForSelector(`[data-tool-name=${tool}][data-tool-state=${state}]`);
const approve = (view) => view.page.getByRole('button', { name: 'Approve' }).click();
const asked = (view) => inState(view, refund.name, 'approval-requested');

/** The states: the call of the first turn, how the page gets there, and what it answers after the loss. */
const STATES = {
  'in text': { is: (view) => shows(view, 'before') },
  'in a tool': { call: tools.slow, is: (view) => inState(view, tools.slow.name, 'output-available') },
  'while an approval waits': { call: refund, is: asked, answer: approve },
  'in a continued answer': {
    call: refund,
    async is(view) {
      await asked(view);
      await approve(view);
      await shows(view, 'before');
    },
  },
};

/** The page finds an answer again after a reload by itself, and else when the user tries again. */
const restarted = (end) => async (view, app) => {
  await app.server[end]();
  await app.server.start();
};
const LOSSES = {
  'a reload': (view) => view.page.reload(),
  'a lost connection': (view, app) => app.drop(),
  'a killed server': restarted('kill'),
  'a drained server': restarted('drain'),
};

for (const [state, { call, is, answer }] of Object.entries(STATES)) {
  for (const [loss, lose] of Object.entries(LOSSES)) {
    onPage(`react: ${loss} ${state}`, async (view, app) => {
      let open;
      const opened = new Promise((resolve) => (open = resolve));
      const hold = () => holdAt('"delta":"SECOND ', () => opened);
      script = (isSecond) => (call && !isSecond ? { calls: [{ id: 'call_1', ...call }] } : { text: TEXT, hold: hold() });
      await view.type('Hello');
      await is(view);
      await lose(view, app);
      if (loss !== 'a reload' && !answer) await view.page.click('#chat-retry');
      if (answer) await asked(view);
      open();
      await answer?.(view);
      await shows(view, TEXT.trim());
      await view.settled();
      const { id, messages } = await view.page.evaluate(() => JSON.parse(sessionStorage.getItem('chat')));
      const stored = await (await fetch(`${app.server.origin}/assistant/threads/${id}/messages`)).json();
      assert.deepEqual(messages.map(comparable), stored.messages.map(comparable));
      assert.deepEqual([await view.answers.count(), await view.page.locator('#chat-error').count()], [1, 0]);
      assert.equal(await view.page.locator('.mark').count(), 0, 'the answer is complete');
      if (call) assert.equal(await view.page.locator('.tool').count(), 1);
      await view.screenshot(`react-stored-${`${loss} ${state}`.replaceAll(' ', '-')}`);
      forgive(view);
    });
  }
}

onPage('react: a tool of the page runs once, before a reload', async (view) => {
  script = (isSecond) => (isSecond ? { text: TEXT, end: 'hang' } : { calls: [{ id: 'call_1', ...tools.navigate }] });
  await view.type('Open the customers');
  await shows(view, 'before');
  await view.page.reload();
  await shows(view, 'before');
  assert.equal(await view.page.getAttribute('#view', 'data-page'), 'orders', 'the page was not opened again');
  assert.equal(view.runs.length, 2, 'the output was posted once');
});

onPage('react: stop ends the run of a stored chat', async (view) => {
  script = () => ({ text: TEXT, end: 'hang' });
  await view.type('Hello');
  await shows(view, TEXT.trim());
  await view.page.click('#chat-stop');
  await view.settled();
  await until(() => model.requests.at(-1).closedAt, 'the request to the model is closed');
  await view.answer().getByText('Stopped: this answer is incomplete.').waitFor();
});

/** Returns a message without the parts of calls and texts that a replay or the store does not have. */
function comparable({ parts, ...message }) {
  const part = ({ callProviderMetadata, resultProviderMetadata, title, rawInput, approval, ...part }) =>
    ({ ...(part.type === 'text' && { state: 'done' }), ...part });
  return { ...message, parts: parts.map(part) };
}

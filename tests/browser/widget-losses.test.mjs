// A widget that loses its page or its server in mid-answer ends with the message that the server has stored. A scripted
// model answers.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { startCluster } from '../lib/cluster.mjs';
import { holdAfter, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, storedIn, until } from '../lib/quickstart.mjs';
import { forgive, prose, suiteOn } from './page.mjs';

const alone = suiteOn(() => startScripted((model) => startQuickstart(openai('openai', model.baseUrl), { stored: true })));
/** Three servers on one PostgreSQL, behind a proxy. */
const cluster = suiteOn(() => startScripted((model) => startCluster(openai('openai', model.baseUrl))));

/** The longest time until another server takes over a run: the rest of a lease, and the pauses of the client. */
const TAKE_OVER_MS = 40_000;

const ANSWER = Array.from({ length: 30 }, (_, number) => `word${number}`).join(' ');
/** A turn that says half of the answer, and then waits for `go`. */
function half() {
  let go;
  const held = new Promise((resolve) => (go = resolve));
  return { turn: { text: ANSWER, hold: holdAfter('word18', () => held) }, go };
}
const shows = (view, words) => until(async () => (await prose(view.answers)).includes(words), `"${words}" is shown`);

/** The messages of the chat as the page shows them. */
async function shown(view) {
  const messages = await view.page.locator('[part~=message]').all();
  return Promise.all(messages.map(async (one) => [await one.getAttribute('data-role'), await prose(one)]));
}

/** Waits until the answer is complete. The page must show what is stored, and no error. */
async function endsAsStored(view, app, question, answer) {
  await view.completed(TAKE_OVER_MS);
  const chat = await view.page.evaluate(() => document.querySelector('omniassist-chat').chat.chatId);
  const messages = await storedIn(app, chat);
  assert.deepEqual(messages, [['user', question], ['assistant', answer]]);
  assert.deepEqual(await shown(view), messages);
  assert.equal(await view.page.isVisible(view.parts.error), false);
  assert.equal(await view.answer().locator('[part=incomplete]').isVisible(), false);
}

alone('a reload in mid-answer ends with the stored message', async (view, app) => {
  const { turn, go } = half();
  app.model.script(turn);
  await view.type('Count');
  await shows(view, 'word15');
  await view.page.reload();
  await shows(view, 'word15');
  go();
  await endsAsStored(view, app, 'Count', ANSWER);
  assert.equal(app.model.requests.length, 1, 'the model was asked once');
});

alone('a server that is killed in mid-answer and started again ends with the stored message', async (view, app) => {
  app.model.script(half().turn, { text: ANSWER });
  await view.type('Count');
  await shows(view, 'word15');
  await app.kill();
  await view.page.waitForSelector(view.parts.error);
  await app.start();
  await endsAsStored(view, app, 'Count', ANSWER);
  forgive(view);
});

/** What becomes of the server that answers. */
const ENDS = { 'is killed': (app) => app.kill(), 'is shut down': (app) => app.drain() };

for (const [what, end] of Object.entries(ENDS)) {
  cluster(`another server takes over when the one that answers ${what}`, async (view, app) => {
    await app.gather();
    app.model.script(half().turn, { text: ANSWER });
    await view.page.reload();
    await view.type('Count');
    await shows(view, 'word15');
    await app.spread();
    await end(app);
    await endsAsStored(view, app, 'Count', ANSWER);
    assert.equal(app.model.requests.length, 2, 'the other server asked the model');
    forgive(view);
  });
}

/** A component whose server is killed while its rows arrive. The model shows a longer one when it is asked again. */
const grows = (prepare, goOn) => async (view, app) => {
  await prepare(app);
  const table = (...rows) => ({ title: 'Sales', columns: [{ label: 'Region' }], rows: rows.map((row) => [row]) });
  const call = (id, rows) => ({ calls: [{ id, name: 'ui_table', args: table(...rows) }] });
  app.model.script(
    { ...call('call_1', ['North', 'South', 'East', 'West']), hold: holdAfter('East', () => new Promise(() => {})) },
    call('call_2', ['Berlin', 'Vienna', 'Lisbon']),
    { text: 'There they are.' },
  );
  await view.page.reload();
  await view.type('Show the sales');
  const rows = view.page.locator('[data-tool-name=ui_table] tbody tr');
  await rows.filter({ hasText: 'North' }).waitFor();
  await goOn(app);
  await endsAsStored(view, app, 'Show the sales', 'There they are.');
  assert.deepEqual(await rows.allInnerTexts(), ['Berlin', 'Vienna', 'Lisbon']);
  await view.page.reload();
  await rows.last().waitFor();
  assert.deepEqual(await rows.allInnerTexts(), ['Berlin', 'Vienna', 'Lisbon']);
  forgive(view);
};
const restarts = (app) => app.kill().then(app.start);
const moves = (app) => app.spread().then(app.kill);
alone('a component that was cut by a killed server is shown once', grows(async () => {}, restarts));
cluster('a component that was cut is shown once by another server', grows((app) => app.gather(), moves));

cluster('another server takes over an approval that waits', async (view, app) => {
  await app.gather();
  app.model.script({ calls: [{ id: 'call_r', ...tools.refund }] }, { text: 'It is refunded.' });
  await view.page.reload();
  await view.ask('Refund it');
  await app.spread();
  await app.kill();
  await view.answer().getByRole('button', { name: 'Approve' }).click();
  await shows(view, 'It is refunded.');
  await endsAsStored(view, app, 'Refund it', 'It is refunded.');
  const output = app.model.requests[1].body.input.find(({ type }) => type === 'function_call_output');
  assert.match(output.output, /25\.00/, 'the refund ran on the other server');
  forgive(view);
});

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
      const [opened, open] = event();
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
      const { id, messages } = await saved(view);
      assert.deepEqual(messages.map(comparable), (await stored(app, id)).map(comparable));
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

onPage('react: a tool of the page runs when the page opens again', async (view, app) => {
  const [left, leave] = event();
  const [resumed, resume] = event();
  const call = { id: 'call_1', ...tools.navigate };
  script = (isSecond) =>
    isSecond
      ? { text: TEXT, hold: holdAt('"delta":"SECOND ', () => resumed) }
      : { text: 'One moment. ', calls: [call], hold: holdAt('function_call', () => left) };
  await view.type('Open the customers');
  await shows(view, 'One moment.');
  const { id } = await saved(view);
  await view.page.goto('about:blank');
  leave();
  const waits = async () => (await stored(app, id)).at(-1)?.parts.some(({ state }) => state === 'input-available');
  await until(waits, 'the run waits for the page');
  // An answer that begins before this request is in its stream too.
  const isStream = (url) => url.pathname.endsWith('/stream');
  await view.page.route(isStream, (route) => setTimeout(() => route.continue(), 300));
  const statuses = [];
  view.page.on('response', (response) => isStream(new URL(response.url())) && resume(statuses.push(response.status())));
  await view.page.goto(app.origin);
  await shows(view, TEXT.trim());
  await view.settled();
  const { messages } = await saved(view);
  assert.deepEqual(messages.map(comparable), (await stored(app, id)).map(comparable));
  assert.equal(await view.page.getAttribute('#view', 'data-page'), 'customers', 'the page was opened');
  assert.deepEqual(statuses, [204], 'the answer was streamed once');
  assert.deepEqual([view.runs.length, await view.page.locator('.tool').count()], [2, 1]);
});

onPage('react: a replay of 2,000 deltas is small and fast', async (view, app) => {
  const [ended, end] = event();
  const words = Array.from({ length: 2000 }, (_, number) => `w${String(number).padStart(4, '0')}. `);
  const last = words.at(-1).trim();
  script = () => ({ text: words.join(''), pace: 'none', hold: holdAt(`"delta":"${last}`, () => ended) });
  await view.type('Count');
  await shows(view, words.at(-2).trim());
  const { run } = await view.page.evaluate(() => (dispatchEvent(new Event('pagehide')), JSON.parse(sessionStorage.getItem('chat'))));
  const isStream = (url) => url.pathname.endsWith('/stream');
  const cdp = await view.page.context().newCDPSession(view.page);
  await cdp.send('Network.enable');
  let streamId;
  let bytes;
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (isStream(new URL(request.url))) [streamId, bytes] = [requestId, 0];
  });
  cdp.on('Network.dataReceived', ({ requestId, dataLength }) => (bytes += requestId === streamId ? dataLength : 0));
  await view.page.addInitScript((word) => {
    const { fetch } = window;
    window.fetch = (url, options) => {
      if (String(url).includes('/stream')) window.asked = performance.now();
      return fetch(url, options);
    };
    const look = () => {
      if (document.querySelector('#chat-log')?.textContent.includes(word)) window.shown = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, words.at(-2).trim());
  // The exact events are those of the first response, for the same page.
  const exact = (route) => {
    const url = new URL(route.request().url());
    return route.continue({ url: `${app.origin}/assistant/runs/${run}/events${url.search}` });
  };
  const measured = {};
  for (const kind of ['merged', 'exact', 'merged', 'exact', 'merged', 'exact']) {
    await view.page.unroute(isStream);
    if (kind === 'exact') await view.page.route(isStream, exact);
    await view.page.reload();
    await view.page.waitForFunction(() => window.shown);
    const ms = await view.page.evaluate(() => window.shown - window.asked);
    (measured[kind] ??= []).push({ ms, bytes });
  }
  const median = (kind, of) => measured[kind].map((one) => one[of]).sort((a, b) => a - b)[1];
  for (const kind of ['merged', 'exact']) {
    console.log(`replay, ${kind}: ${Math.round(median(kind, 'ms'))} ms from the request to the text, ${median(kind, 'bytes')} bytes`);
  }
  assert.ok(median('merged', 'bytes') < median('exact', 'bytes') / 4);
  end();
  await view.settled();
  assert.equal(await prose(view.answers), words.join('').trim());
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

/** Returns a promise, and the function that resolves it. */
function event() {
  let resolve;
  return [new Promise((resolved) => (resolve = resolved)), resolve];
}

/** The chat that the page has saved. */
const saved = (view) => view.page.evaluate(() => JSON.parse(sessionStorage.getItem('chat')));

/** The messages that the server has stored. */
async function stored(app, id) {
  return (await (await fetch(`${app.server.origin}/assistant/threads/${id}/messages`)).json()).messages;
}

/** Returns a message without the parts of calls and texts that a replay or the store does not have. */
function comparable({ parts, ...message }) {
  const part = ({ callProviderMetadata, resultProviderMetadata, title, rawInput, approval, ...part }) =>
    ({ ...(part.type === 'text' && { state: 'done' }), ...part });
  return { ...message, parts: parts.map(part) };
}

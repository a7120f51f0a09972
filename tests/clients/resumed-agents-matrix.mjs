// The matrix of AG-UI and CopilotKit: pages whose connection or server goes away at any point of a run. Afterwards they have the messages
// that the store has, and have asked their user and run their tools once.
//
// A server has at most four runs of one user under way, so each client has a server for each half of the points. All of them
// are disturbed at the same time.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { tools } from '../lib/app.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai } from '../lib/quickstart.mjs';
import { cut, open, openCalls, said, textOf, until } from './agent-pages.mjs';
import { takeComplaints } from './ag-ui.mjs';

const clients = ['0.0.59', '1.0.0', 'rest', 'single'];
const form = { name: 'request_input', args: { message: 'Where to?', schema: { type: 'object', properties: { street: { type: 'string' } } } } };
const ticket = { ...tools.ticket, args: { ...tools.ticket.args, subject: 'Parcel is damaged at all of its corners' } };
const approved = { status: 'resolved', payload: { approved: true } };

/** The points of a run, in two halves. `call` is the model's first answer; `stop` finds the event before which it waits. */
const halves = [
  {
    'waiting for an approval': { call: tools.refund, waits: approved },
    'waiting for a tool of the page': { call: tools.navigate, waits: 'tool' },
    'waiting for a form': { call: form, waits: { status: 'resolved', payload: { street: 'Main St 1' } } },
    'before the text': { stop: ['text', 1] },
    'in the text': { stop: ['text', 6] },
    'in the arguments': { call: ticket, stop: ['arguments', 4] },
  },
  {
    'just ended': {},
    'in a continued message': { call: tools.refund, waits: approved, isContinued: true, stop: ['text', 6] },
    'in a tool': { call: tools.slow },
  },
];

const disturbances = {
  'reload': async ({ app }) => cut(app.origin),
  'dropped connection': async ({ app }) => cut(app.origin),
  'kill -9': async ({ app }) => { await app.kill(); await app.start(); },
  'drain': async ({ app }) => { await app.drain(); await app.start(); },
};

let model;
let hosts;
/** What the model does for a cell: the number of its requests, and the point where it waits. */
let cells = new Map();

const EVENTS = { text: /^event: response\.output_text\.delta/, arguments: /^event: response\.function_call_arguments\.delta/ };

/** Answers a request of the model for the cell that the user's message names. */
function answer(body) {
  const cell = cells.get(JSON.stringify(body.input).match(/cell-\d+/g).at(-1));
  cell.requests += 1;
  const hasOutput = body.input.some(({ type }) => type === 'function_call_output');
  const turn = cell.call && !hasOutput
    ? { calls: [{ id: `call_${cell.key}_${cell.requests}`, ...cell.call }] }
    : { text: `Try ${cell.requests} of ${cell.key}: ${Array.from({ length: 20 }, (_, word) => `word${word}`).join(' ')}` };
  const isHere = cell.stop && !cell.isHeld && (cell.isContinued ? hasOutput : true);
  if (!isHere) return turn;
  const [kind, at] = cell.stop;
  let seen = 0;
  return {
    ...turn,
    async hold(event) {
      if (!EVENTS[kind].test(event) || ++seen < at || cell.isHeld) return;
      cell.isHeld = true;
      await cell.released;
    },
  };
}

let serial = 0;

/** Brings a new page to a point. */
async function begin(host, cell) {
  cell.page = await open(host.client, host.app.api, cell.key);
  const { agent } = cell.page;
  let run = cell.page.say(`Please, ${cell.key}`);
  if (cell.waits || (!cell.stop && !cell.call)) {
    if (cell.waits === 'tool') run.catch(() => {});
    else await run;
    if (cell.waits === 'tool') await until(() => openCalls(agent).length === 1 && !agent.isRunning, 'the page has to run its tool');
    else if (cell.waits) await until(() => cell.page.interrupts().length === 1, 'the run waits');
  }
  if (cell.isContinued) run = resume(cell);
  run.catch(() => {});
  // It ends by itself or with its connection, unless the user or the page has to act.
  if (cell.stop || cell.call === tools.slow) cell.run = run;
  if (cell.stop) await until(() => cell.isHeld, `${cell.key} waits in the model`);
  if (cell.stop?.[0] === 'text' && cell.stop[1] > 1) await until(() => textOf(agent).includes('word'), 'the page has text');
  if (cell.stop?.[0] === 'arguments') await until(() => openCalls(agent)[0]?.function.arguments.length > 5, 'the page has arguments');
  if (cell.call === tools.slow) await until(() => openCalls(agent).length === 1, 'the tool runs');
}

const resume = ({ page, waits }) => page.resume([{ interruptId: page.interrupts()[0].id, ...waits }]);

/** Goes on where the page was, and waits for the end of the run. */
async function goOn(host, cell) {
  const { page, waits, isContinued } = cell;
  if (waits && !isContinued) {
    if (waits === 'tool') await page.finishTool();
    else await resume(cell);
  }
  const state = async () => {
    const { threads } = await (await fetch(`${host.app.api}/threads?limit=100`)).json();
    return threads.find(({ id }) => id === cell.key).run;
  };
  await until(async () => (await state()) === null && !page.agent.isRunning, `the run of ${cell.key} is over`);
}

/** Runs a function for each cell that has not failed, and keeps its error. */
const each = (cells, run) =>
  Promise.all(cells.filter(({ failure }) => !failure).map((cell) => run(cell).catch((error) => { cell.failure = error; })));

/** Brings pages to their points, disturbs them at the same time, and lets them go on. `of` returns the cells of a host. */
async function disturb(name, of) {
  const apps = [...new Set(hosts.map(({ app }) => app))];
  const losesServer = /kill|drain/.test(name);
  if (losesServer) await Promise.all(apps.map((app) => app.gather?.()));
  else await Promise.all(apps.map((app) => app.spread?.()));
  const hostOf = new Map(hosts.flatMap((host) => of(host).map((cell) => [cell, host])));
  const all = [...hostOf.keys()];
  const inTurn = (run) => Promise.all(hosts.map(async (host) => {
    for (const cell of of(host)) await each([cell], () => run(host, cell));
  }));
  await inTurn(begin);
  all.forEach((cell) => { cell.before = { handled: cell.page?.handled }; });
  if (losesServer) await Promise.all(apps.map((app) => app.spread?.()));
  await Promise.all(apps.map((app) => disturbances[name]({ app })));
  all.forEach((cell) => cell.release());
  await each(all, async (cell) => {
    const host = hostOf.get(cell);
    if (name !== 'reload') await cell.run?.catch(() => {});
    if (name === 'reload') cell.page = await open(host.client, host.app.api, cell.key);
    // Once: CopilotKit does not repeat a connection that was refused.
    await cell.page.connect();
  });
  await inTurn(goOn);
  await each(all, async (cell) => {
    const { client, app } = hostOf.get(cell);
    cell.fresh = await open(client, app.api, cell.key);
    await cell.fresh.connect();
    cell.stored = (await (await fetch(`${app.api}/threads/${cell.key}/messages`)).json()).messages;
  });
}

/** Returns the texts and the outputs of messages of the store. */
const content = (stored) => stored.flatMap(({ role, parts }) => parts.flatMap((part) => {
  if (part.type === 'text') return part.text ? [`${role}: ${part.text}`] : [];
  return part.type.startsWith('tool-') ? [`${part.toolCallId}: ${part.state === 'output-available' ? 'output' : part.state}`] : [];
}));

/** Defines the tests. `start` starts what serves the clients, and `where` tells it at the end of their names. */
export function matrix(start, where = '') {
  before(async () => {
    model = await startFakeOpenAi({ answer });
    hosts = await Promise.all(clients.flatMap((client) => halves.map(async (points) => {
      const app = await start(openai('openai', model.baseUrl));
      return { client, points, app };
    })));
  });
  after(async () => {
    await Promise.all([...new Set((hosts ?? []).map(({ app }) => app))].map((app) => app.stop()));
    await model?.stop();
  });
  for (const name of Object.keys(disturbances)) {
    describe(name, () => {
      const all = clients.flatMap((client) => halves.flatMap((points) => Object.entries(points).map(([point, plan]) => {
        const cell = { ...plan, client, points, point, key: `cell-${++serial}`, requests: 0, isHeld: false };
        cell.released = new Promise((resolve) => { cell.release = resolve; });
        cells.set(cell.key, cell);
        return cell;
      })));
      before(async () => {
        const of = (host) => all.filter(({ client, points }) => client === host.client && points === host.points);
        await disturb(name, of);
        takeComplaints();
      });
      for (const cell of all) {
        test(`${cell.client} · ${name}: ${cell.point}${where}`, () => {
          if (cell.failure) throw cell.failure;
          const { agent } = cell.page;
          const messages = said(agent);
          assert.deepEqual(messages, said(cell.fresh.agent), 'the page has the messages of the store');
          const texts = messages.filter(({ role, content }) => role !== 'tool' && content).map(({ role, content }) => `${role}: ${content}`);
          const stored = content(cell.stored);
          assert.deepEqual(texts, stored.filter((line) => /^(user|assistant): /.test(line)));
          const results = messages.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId);
          assert.deepEqual(results, stored.filter((line) => /^call_/.test(line)).map((line) => line.split(':')[0]), 'one result a call');
          assert.equal(results.length, cell.call ? 1 : 0);
          assert.ok(texts.at(-1).endsWith('word19'), 'the answer is complete');
          assert.deepEqual(openCalls(agent), []);
          if (cell.waits === 'tool') assert.equal(cell.page.handled, 1, 'the tool of the page ran once');
          const losesServer = /kill|drain/.test(name);
          const least = (cell.call ? 2 : 1) + (losesServer && cell.stop ? 1 : 0);
          // The tool may have ended before its server.
          const most = least + (losesServer && cell.call === tools.slow ? 1 : 0);
          assert.ok(cell.requests >= least && cell.requests <= most, `${cell.requests} requests to the model`);
        });
      }
    });
  }
}

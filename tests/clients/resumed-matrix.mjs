// The matrix of the AI SDK's clients: reloads, lost connections, and servers that are killed or drained, in every state of a run. The official clients must
// end with the message that the server has stored, and call each tool of the page once.

import { after, before, test } from 'node:test';

import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai } from '../lib/quickstart.mjs';
import { answerOf, Cell, CLIENTS, STATES } from './resumed.mjs';

const cells = new Map();
let model;
let app;

/** What is lost. A killed server and a drained one are started again. */
const LOSSES = {
  reload: async (cells) => cells.forEach(({ chat }) => void chat.stop()),
  drop: async (cells) => cells.forEach(({ chat }) => chat.line.drop()),
  kill: () => app.kill().then(app.start),
  drain: () => app.drain().then(app.start),
};

/** The states that share a server that ends. A user of it has at most four runs at a time. */
const GROUPS = [
  ['before text'], ['in text'], ['in arguments'], ['in a tool'],
  ['waiting for an approval', 'waiting for the page', 'waiting for a form', 'just ended'],
  ['continued after an approval'], ['continued after an output'],
];

/** Brings all cells of a group into their states, loses them at once, and lets them come back. Returns their errors. */
async function run(loss, group) {
  const errors = new Map();
  const all = [];
  const step = async (cell, what) => {
    if (errors.has(cell)) return;
    try {
      await what(cell);
    } catch (error) {
      errors.set(cell, error);
      cell.open();
    }
  };
  const losesServer = ['kill', 'drain'].includes(loss);
  if (losesServer) await app.gather?.();
  else await app.spread?.();
  await Promise.all(CLIENTS.map(async (client) => {
    for (const [key, { state }] of group.filter(([, cell]) => cell.client === client)) {
      const cell = new Cell(app.api, client, state);
      cells.set(cell.id, cell);
      all.push([key, cell]);
      await step(cell, () => cell.begin());
    }
  }));
  if (losesServer) await app.spread?.();
  await LOSSES[loss](all.map(([, cell]) => cell).filter((cell) => !errors.has(cell)));
  await Promise.all(CLIENTS.map(async (client) => {
    // The states in which a run waits come last, since each answer begins another run.
    const mine = all.map(([, cell]) => cell).filter((cell) => cell.client === client);
    for (const cell of mine.reverse()) await step(cell, () => cell.comeBack(loss, app.spread !== undefined));
  }));
  return new Map(all.map(([key, cell]) => [key, errors.get(cell)]));
}

/** Defines the tests. `start` starts what serves the clients, and `where` tells it at the end of their names. `groups` are
 * the states that are lost at the same time. */
export function matrix(start, where = '', groups = GROUPS) {
  before(async () => {
    model = await startFakeOpenAi({ answer: answerOf(cells) });
    app = await start(openai('openai', model.baseUrl));
  });
  after(async () => {
    await app?.stop();
    await model?.stop();
  });
  for (const loss of Object.keys(LOSSES)) {
    for (const states of groups) {
      const group = states.flatMap((state) => {
        const clients = CLIENTS.filter((client) => !STATES[state].without?.includes(client));
        return clients.map((client) => [`${client} · ${loss} ${state}${where}`, { client, state }]);
      });
      let ran;
      for (const [name] of group) {
        test(name, { timeout: 60_000 }, async () => {
          ran ??= run(loss, group);
          const results = await ran;
          const error = results.get(name);
          if (error) throw error;
        });
      }
    }
  }
}

// Forged and honest conversations over HTTP. Conversations of the official clients are changed in the ways that a
// browser could change them, and posted. Calls and results that the server did not write must not run or reach the
// model as the server's. A user who edits, regenerates, truncates or branches a conversation must lose nothing that the
// server wrote.
//
// A forgery counts only if it deceives the same server when that server trusts posted history.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { CLASSES } from './forgery/classes.mjs';
import { LEGAL } from './forgery/legal.mjs';

const results = new Map();
let worker;

/** Adds a promise for a name, which the worker settles. */
const expectResult = (name) => {
  let settle;
  const counts = new Promise((resolve, reject) => (settle = { resolve, reject }));
  // The test that awaits the promise handles its rejection.
  counts.catch(() => {});
  results.set(name, { counts, ...settle });
};

before(() => {
  for (const name of [...Object.keys(LEGAL), ...Object.keys(CLASSES)]) expectResult(name);
  worker = new Worker(new URL('./forgery/run.mjs', import.meta.url));
  worker.on('message', ({ name, counts }) => results.get(name).resolve(counts));
  const fail = (error) => [...results.values()].forEach(({ reject }) => reject(error));
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the worker ended early')));
});
after(() => worker?.terminate());

let legal = 0;
for (const name of Object.keys(LEGAL)) {
  test(`honest: ${name}`, async () => {
    const counts = await results.get(name).counts;
    legal += Object.values(counts).reduce((sum, count) => sum + count);
    console.log(`${name.padEnd(18)} ${JSON.stringify(counts)}: accepted without loss`);
  });
}

test('honest: at least 500 conversations', () => assert.ok(legal >= 500, `${legal}`));

for (const name of Object.keys(CLASSES)) {
  test(`forged: ${name}`, async () => {
    const { refused, neutralised, accepted, harmless, example } = await results.get(name).counts;
    assert.equal(accepted, 0, JSON.stringify(example, null, 1));
    assert.ok(refused + neutralised >= 200);
    console.log(`${name.padEnd(18)} ${refused} refused, ${neutralised} neutralised, 0 accepted (${harmless} without effect on a trusting server)`);
  });
}

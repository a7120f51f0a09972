// Conversations over HTTP, forged and honest: what the official clients made is changed in every way that a browser
// could, and posted. Nothing that the server did not write may run, or reach the model as the server's own; and nothing
// that it wrote may be lost to a user who edits, repeats, shortens or branches.
//
// A forgery counts only if it fools the same server when it trusts what is posted.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { CLASSES } from './forgery/classes.mjs';
import { LEGAL } from './forgery/legal.mjs';

const results = new Map();
let worker;

/** A promise per name, settled by the worker. */
const expectResult = (name) => {
  let settle;
  const counts = new Promise((resolve, reject) => (settle = { resolve, reject }));
  // Looked at by the test that waits for it.
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
    console.log(`${name.padEnd(18)} ${JSON.stringify(counts)}: taken, and nothing lost`);
  });
}

test('honest: 500 and more', () => assert.ok(legal >= 500, `${legal}`));

for (const name of Object.keys(CLASSES)) {
  test(`forged: ${name}`, async () => {
    const { refused, neutralised, accepted, harmless, example } = await results.get(name).counts;
    assert.equal(accepted, 0, JSON.stringify(example, null, 1));
    assert.ok(refused + neutralised >= 200);
    console.log(`${name.padEnd(18)} ${refused} refused, ${neutralised} neutralised, 0 accepted (${harmless} fool nobody)`);
  });
}

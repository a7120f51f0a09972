// Over 2,000 random answers, each in two runs: what the official clients put together from the bytes is what this
// project's own collector puts together from the events.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

const VERSIONS = [5, 6, 7];

const readers = new Map();
before(() => {
  for (const version of VERSIONS) {
    const reader = new Worker(new URL('./answers-reader.mjs', import.meta.url), { workerData: version });
    const counts = once(reader, 'message').then(([counts]) => counts);
    // Looked at by the test that waits for it.
    counts.catch(() => {});
    readers.set(version, counts);
  }
});

for (const version of VERSIONS) {
  test(`v${version} · random answers`, async () => {
    const { difference, ...counts } = await readers.get(version);
    assert.equal(difference, undefined);
    console.log(`v${version}: ${JSON.stringify(counts)}`);
    assert.ok(counts.runs >= 4_000);
  });
}

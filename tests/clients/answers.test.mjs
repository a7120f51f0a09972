// Over 2,000 random answers, each in two runs. The official clients must build the same messages from the bytes as this
// project's collector builds from the events.

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
    // The test that awaits the promise handles its rejection.
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

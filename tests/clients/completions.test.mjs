// 2,000 random answers in OpenAI's Chat Completions API. OpenAI's own clients must build the same answers from the
// stream, and from the complete answer, as this project's collector builds from the events.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

const CLIENTS = { 'openai 6': 'openai6', 'openai 7': 'openai7' };

const readers = new Map();
before(() => {
  for (const [client, name] of Object.entries(CLIENTS)) {
    const reader = new Worker(new URL('./completions-reader.mjs', import.meta.url), { workerData: name });
    const counts = once(reader, 'message').then(([counts]) => counts);
    // The test that awaits the promise handles its rejection.
    counts.catch(() => {});
    readers.set(client, counts);
  }
});

for (const client of Object.keys(CLIENTS)) {
  test(`${client} · random answers`, async () => {
    const { difference, ...counts } = await readers.get(client);
    assert.equal(difference, undefined);
    console.log(`${client}: ${JSON.stringify(counts)}`);
    assert.equal(counts.answers, 2_000);
  });
}

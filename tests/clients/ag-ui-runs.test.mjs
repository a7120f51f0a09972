// 2,000 random answers, most in two runs, and 400 runs with a snapshot: text that is withdrawn, and clients that begin to
// read in the middle. The official clients must build the same messages from the bytes as the core's tests do.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readStreams } from '../lib/streams.mjs';
import { generations, takeComplaints, wrongWith } from './ag-ui.mjs';

const files = [
  ['random runs', 'ag-ui-runs.jsonl', 1_000],
  ['snapshots', 'ag-ui-snapshots.jsonl', 200],
];

for (const [[name, lib], [title, file, count]] of Object.entries(generations).flatMap((one) => files.map((two) => [one, two]))) {
  test(`${name} · ${title}`, async () => {
    const answers = readStreams(file).filter(({ client }) => client === name);
    assert.equal(answers.length, count);
    const counts = {};
    for (const [index, { runs }] of answers.entries()) {
      let body;
      const agent = new lib.HttpAgent({
        url: 'http://localhost',
        threadId: 'thread-1',
        initialMessages: [{ id: 'u1', role: 'user', content: 'Hi' }],
        fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
      });
      let end;
      agent.subscribe({
        onRunFinishedEvent: ({ event }) => { end = event.type; },
        onRunErrorEvent: ({ event }) => { end = event.type; },
      });
      for (const run of runs) {
        body = run.body;
        const events = body.split('\n\n').slice(0, -1).map((frame) => JSON.parse(frame.slice(5)));
        for (const event of events) {
          assert.deepEqual(wrongWith(name, event), [], `answer ${index}`);
          counts[event.type] = (counts[event.type] ?? 0) + 1;
        }
        // One of the two generations rejects the promise of a failed run.
        await agent.runAgent({ runId: 'run-1' }).catch((error) => assert.equal(end, 'RUN_ERROR', `${index}: ${error.message}`));
        assert.equal(end, events.at(-1).type, `answer ${index}`);
        assert.deepEqual(agent.messages.filter(({ role }) => role !== 'activity'), run.messages, `answer ${index}`);
      }
      assert.deepEqual(takeComplaints().filter((words) => !/run_error|Agent execution failed/i.test(words)), []);
    }
    console.log(`${name}: ${JSON.stringify(counts)}`);
  });
}

// The bytes that a page receives from an agent that another one asks, beside the AI SDK's own pattern for it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createOpenAI } from '@ai-sdk/openai';
import { z } from 'zod';

import { signedIn, startBackOffice } from '../lib/back-office.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { versions } from './chat.mjs';
import { readEvents, user } from './wire.mjs';

const DELTAS = 2_000;
/** The most bytes of an answer with an agent that writes so many deltas. */
const BOUND = 290_000;

/** The fake model writes seven characters in each delta. */
const written = Array.from({ length: DELTAS }, (_, at) => `w${at}`.padEnd(7)).join('');
const conversation = () => [
  { calls: [{ id: 'call_1', name: 'clerk', args: { task: 'Write a report.' } }] },
  { text: written },
  { text: 'It is written.' },
];

let model;
let app;
before(async () => {
  model = await startFakeOpenAi();
  app = await startBackOffice(model);
});
after(async () => {
  await app?.stop();
  await model?.stop();
});

/** Reads a whole body, and returns its events and the number of its bytes. */
async function measured(response) {
  assert.equal(response.status, 200);
  const body = await response.arrayBuffer();
  return { bytes: body.byteLength, ...readEvents(Buffer.from(body).toString('utf8')) };
}

async function ours() {
  model.script(...conversation());
  const response = await fetch(`${app.api}/agents/lead`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signedIn('ada') },
    body: JSON.stringify({ id: 'bytes', messages: [user('I need a report.')], trigger: 'submit-message' }),
  });
  return measured(response);
}

/** An agent as a tool that returns the message of the agent so far, after each change: the pattern of the AI SDK's manual. */
async function aiSdk({ ToolLoopAgent, createUIMessageStreamResponse, readUIMessageStream, tool, toUIMessageStream }) {
  model.script(...conversation());
  const provider = createOpenAI({ baseURL: model.baseUrl, apiKey: 'unused' });
  const clerk = new ToolLoopAgent({ model: provider('scripted-model'), instructions: 'You are a clerk.' });
  const lead = new ToolLoopAgent({
    model: provider('scripted-model'),
    instructions: 'You lead clerks.',
    tools: {
      clerk: tool({
        description: 'Looks up orders and customers.',
        inputSchema: z.object({ task: z.string() }),
        async *execute({ task }, { abortSignal }) {
          const result = await clerk.stream({ prompt: task, abortSignal });
          yield* readUIMessageStream({ stream: toUIMessageStream({ stream: result.stream }) });
        },
      }),
    },
  });
  const result = await lead.stream({ prompt: 'I need a report.' });
  return measured(createUIMessageStreamResponse({ stream: toUIMessageStream({ stream: result.stream }) }));
}

test('an agent is shown in as many bytes as it writes, and not in their square', { timeout: 240_000 }, async (t) => {
  const own = await ours();
  const deltas = own.chunks.filter((chunk) => chunk.type === 'data-agent-delta').map((chunk) => chunk.data.delta);
  assert.equal(deltas.length, DELTAS);
  assert.equal(deltas.join(''), written);

  const other = await aiSdk(versions.v7);
  const states = other.chunks.filter((chunk) => chunk.type === 'tool-output-available');
  assert.ok(states.length >= DELTAS, `${states.length} states of the message`);
  assert.ok(JSON.stringify(states.at(-1).output).includes(written), 'the last state is whole');

  t.diagnostic(`${DELTAS} deltas of an agent: ${own.bytes} bytes; AI SDK 7, its message after each: ${other.bytes} bytes`);
  assert.ok(own.bytes <= BOUND, `${own.bytes} bytes`);
});

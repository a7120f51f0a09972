// Reads random answers with OpenAI's own client. This runs in a separate thread, since the test runner tracks every
// promise of its own thread, which takes longer than the reading.

import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';

import { readStreams } from '../lib/streams.mjs';

const asked = { model: 'omniassist', messages: [{ role: 'user', content: 'Hi' }] };

/** Returns a client that receives this body as the answer. */
function clientOf({ OpenAI }, body, type) {
  const fetch = async () => new Response(body, { headers: { 'content-type': type } });
  return new OpenAI({ baseURL: 'http://localhost/v1', apiKey: 'none', maxRetries: 0, fetch });
}

const isWhole = (text) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const callsOf = (message) =>
  (message.tool_calls ?? [])
    // The streamed arguments of a call that must not run are not valid JSON.
    .filter((call) => isWhole(call.function.arguments))
    .map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]);

const usageOf = (usage) => (usage ? [usage.prompt_tokens, usage.completion_tokens] : undefined);

/** Reads a streamed answer with the client. */
async function readStream(sdk, body) {
  const client = clientOf(sdk, body, 'text/event-stream');
  const stream = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
  let reasoning = '';
  stream.on('chunk', (chunk) => (reasoning += chunk.choices[0]?.delta?.reasoning_content ?? ''));
  try {
    const completion = await stream.finalChatCompletion();
    const [{ message, finish_reason: finish }] = completion.choices;
    return { text: message.content ?? '', reasoning, calls: callsOf(message), finish, usage: usageOf(completion.usage) };
  } catch (error) {
    return { error: error.message };
  }
}

/** Reads a complete answer with the client. */
async function readWhole(sdk, body) {
  const completion = await clientOf(sdk, body, 'application/json').chat.completions.create(asked);
  const [{ message, finish_reason: finish }] = completion.choices;
  const reasoning = message.reasoning_content ?? '';
  const text = message.content ?? message.refusal ?? '';
  return { text, reasoning, calls: callsOf(message), finish, usage: usageOf(completion.usage) };
}

/** Returns the texts of the steps with a blank line between them. */
function flow(parts) {
  let [flow, said, isNew] = ['', '', false];
  for (const part of parts) {
    if (part.type === 'step-start') isNew = true;
    if (part.type !== 'text' || part.text === '') continue;
    if (isNew && said !== '') flow += '\n'.repeat(2 - Math.min(2, said.match(/\n*$/)[0].length));
    isNew = false;
    said += part.text;
    flow += part.text;
  }
  return flow;
}

const FINISH = { Length: 'length', ContentFilter: 'content_filter', Refusal: 'content_filter' };

/** Returns the expected result of reading an answer. */
function expected({ message, end }) {
  const of = (type) => message.parts.filter((part) => part.type === type);
  const handedOver = message.parts.filter((part) => part.type.startsWith('tool-caller-') && part.state === 'input-available');
  const calls = handedOver.map((part) => [part.toolCallId, part.type.slice('tool-'.length), part.input]);
  const usage = message.metadata?.usage;
  return {
    text: flow(message.parts),
    reasoning: of('reasoning').map((part) => part.text).join(''),
    calls,
    finish: FINISH[end.finish] ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: usage && Object.keys(usage).length > 0 ? [usage.inputTokens ?? 0, usage.outputTokens ?? 0] : undefined,
  };
}

async function readAll(name) {
  const sdk = await import(name);
  const counts = { answers: 0, failed: 0, calls: 0, refused: 0 };
  for (const [index, answer] of readStreams('completions.jsonl').entries()) {
    const streamed = await readStream(sdk, answer.stream);
    counts.answers += 1;
    if (answer.end.finish === undefined || answer.end.finish === 'Error') {
      assert.ok(streamed.error?.length > 5, `answer ${index}: ${JSON.stringify(streamed)}`);
      assert.equal(answer.whole, '', `answer ${index}`);
      counts.failed += 1;
      continue;
    }
    const wanted = expected(answer);
    assert.deepEqual(streamed, wanted, `answer ${index}`);
    // In a complete answer, a refusal has its own field, and the finish reason is `stop`.
    const refused = answer.end.finish === 'Refusal';
    const finish = refused ? 'stop' : wanted.finish;
    assert.deepEqual(await readWhole(sdk, answer.whole), { ...wanted, finish }, `answer ${index}, whole`);
    counts.calls += wanted.calls.length;
    counts.refused += Number(refused);
  }
  return counts;
}

parentPort.postMessage(await readAll(workerData).catch((error) => ({ difference: error.message })));

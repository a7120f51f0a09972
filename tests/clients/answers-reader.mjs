// Reads the random answers with one version of the official package. This runs in a separate thread, since the test
// runner tracks every promise of its own thread, which takes longer than the reading.

import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';

import { readStreams } from '../lib/streams.mjs';

/** The protocol's name of each finish reason. */
const FINISH = {
  Stop: 'stop', ToolCalls: 'tool-calls', Length: 'length', ContentFilter: 'content-filter', Refusal: 'content-filter',
  Error: 'error', Other: 'other',
};

/** Reads a body with the official package. Returns the message and the end of the stream. */
async function read(ai, body, message) {
  const transport = new ai.DefaultChatTransport({ fetch: async () => new Response(body) });
  const sent = { chatId: 'c', messages: [], trigger: 'submit-message', messageId: undefined, abortSignal: undefined };
  const stream = await transport.sendMessages(sent);
  const errors = [];
  let end = {};
  const watched = stream.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      if (chunk.type === 'finish') end = { finish: chunk.finishReason };
      if (chunk.type === 'abort') end = { abort: true };
      controller.enqueue(chunk);
    },
  }));
  let last = message;
  const onError = (error) => errors.push(error.message);
  for await (const state of ai.readUIMessageStream({ message, stream: watched, onError })) last = state;
  if (errors.length > 0) end = errors.length === 1 ? { error: errors[0] } : { errors };
  return { message: last, end };
}

/** Returns the message with the user's answers to its approvals, in the form of `addToolApprovalResponse`. */
function respond(message, given) {
  const parts = message.parts.map((part) => {
    const answer = part.state === 'approval-requested' && given.find(({ id }) => id === part.approval.id);
    if (!answer) return part;
    const { id, approved, reason } = answer;
    return { ...part, state: 'approval-responded', approval: { ...part.approval, id, approved, reason: reason ?? undefined } };
  });
  return { ...message, parts };
}

/** Returns a message without the fields that only one side has, or that differ between versions. */
function plain(message) {
  const { id, metadata, parts } = JSON.parse(JSON.stringify(message));
  // A client adds the start of a step only if a part follows it.
  const isEmptyStep = (part, at) => part.type === 'step-start' && (parts[at + 1]?.type ?? 'step-start') === 'step-start';
  // The empty step at the end of a stopped run comes with empty metadata.
  const shown = metadata && Object.keys(metadata).length > 0 ? metadata : undefined;
  return { id, metadata: shown, parts: parts.filter((part, at) => !isEmptyStep(part, at)).map(plainPart) };
}

function plainPart({ ...part }) {
  if (part.type === 'text' || part.type === 'reasoning') {
    delete part.state;
    delete part.id;
  }
  if (part.type.startsWith('tool-')) {
    // Versions 5 and 6 store the arguments of a call that cannot run in a separate field.
    if ('rawInput' in part) part.input = part.input ?? part.rawInput;
    delete part.rawInput;
    // The client completes partial arguments by a guess.
    if (part.state === 'input-streaming') delete part.input;
    if (part.state === 'output-denied' && part.approval.isAutomatic) {
      Object.assign(part, { state: 'output-error', errorText: part.approval.reason });
    }
    if (part.state === 'output-error') {
      // For a call that cannot run, versions 6 and 7 store the provider's state as that of the result. Version 5 drops
      // it.
      delete part.callProviderMetadata;
      delete part.resultProviderMetadata;
    }
    delete part.approval?.requestReason;
    if (['output-available', 'output-error'].includes(part.state)) delete part.approval;
  }
  return part;
}

const endOf = ({ finish, ...end }) => (finish ? { finish: FINISH[finish] } : end);

/** Reads all answers that are written for this version. Returns the counts of parts, or throws at the first difference. */
async function readAll(version) {
  const ai = await import(`ai${version}`);
  const counts = { runs: 0 };
  for (const [index, answer] of readStreams('ai-sdk-answers.jsonl').entries()) {
    // A client without approvals never receives a request for one.
    if (version === 5 && answer.given.length > 0) continue;
    let message;
    for (const run of [answer.first, answer.second]) {
      if (message) message = respond(message, answer.given);
      const found = await read(ai, run.bodies[version], message);
      message = found.message;
      assert.deepEqual(plain(found.message), plain(run.message), `answer ${index}`);
      assert.deepEqual(found.end, endOf(run.end), `answer ${index}`);
      counts.runs += 1;
      for (const { type, state } of message.parts) {
        const kind = type.startsWith('tool-') ? state : type.replace(/^data-.*/, 'data');
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
    }
  }
  return counts;
}

parentPort.postMessage(await readAll(workerData).catch((error) => ({ difference: error.message })));

// The request to the model after a client has posted its conversation back.

import assert from 'node:assert/strict';

import { textOf, toolParts } from './chat.mjs';

/** Returns the items of one type in a request to the Responses API. */
export const items = (request, type) => request.body.input.filter((item) => item.type === type);

/** Returns the output of a call in a request to the model. */
export const outputOf = (request, id) =>
  items(request, 'function_call_output').find((item) => item.call_id === id)?.output;

/** Asserts that a request contains no call without its result, and no result without its call. */
export function assertLegal(request) {
  const ids = (type) => items(request, type).map((item) => item.call_id).sort();
  assert.deepEqual(ids('function_call_output'), ids('function_call'));
}

const UNBELIEVED = /can no longer be verified|after its deadline/;

/**
 * Posts the whole conversation once more with a question. Asserts that the server accepts it, and that the model
 * receives all of its content: texts, reasoning state, calls, outputs and failures.
 */
export async function assertKept(chat, model) {
  assert.equal(model.left(), 0, 'the model has used every turn of the script');
  const errors = chat.errors.length;
  const messages = structuredClone(chat.messages);
  model.script({ text: 'Kept.' });
  await chat.sendMessage({ text: 'Is all of it still there?' });
  assert.equal(chat.errors.length, errors, chat.error?.message);
  assert.equal(chat.status, 'ready');
  assert.equal(textOf(chat.messages.at(-1)), 'Kept.');
  const [request] = model.requests;
  assertLegal(request);
  assertHolds(request, messages);
}

/** Asserts that a request to the model contains all content of these messages. */
export function assertHolds(request, messages) {
  const opaque = items(request, 'reasoning').map((item) => item.encrypted_content);
  for (const message of messages.filter((message) => message.role === 'assistant')) {
    for (const part of message.parts) {
      if (part.type === 'text') assert.ok(JSON.stringify(request.body.input).includes(JSON.stringify(part.text)), part.text);
      const sealed = part.type === 'reasoning' && part.providerMetadata?.openai?.reasoningEncryptedContent;
      if (sealed) assert.ok(opaque.includes(sealed), 'the reasoning state is returned to the model');
    }
    for (const part of toolParts(message)) assertToolKept(part, outputOf(request, part.toolCallId));
  }
}

function assertToolKept(part, output) {
  // Calls that the provider ran itself are not sent back to it.
  if (part.state === 'input-streaming' || part.providerExecuted) return;
  assert.notEqual(output, undefined, `${part.toolCallId} (${part.state}) has a result`);
  assert.doesNotMatch(output, UNBELIEVED);
  if (part.state === 'output-available' && !part.preliminary) {
    const expected = typeof part.output === 'string' ? part.output : JSON.stringify(part.output);
    assert.deepEqual(parsed(output), parsed(expected), part.toolCallId);
  }
  if (part.state === 'output-error') assert.ok(output.includes(part.errorText), `${output} is not ${part.errorText}`);
  if (part.state === 'output-denied' && part.approval.reason) assert.ok(output.includes(part.approval.reason), output);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

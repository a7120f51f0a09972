// HTTP requests without a client library, and the bytes of their answers.

import { versions } from './chat.mjs';

export const user = (text, id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', text }] });

/** The time limit of an answer. */
const signal = () => AbortSignal.timeout(20_000);

export const get = (url, init) => fetch(url, { signal: signal(), ...init });

export const post = (api, body, headers = {}) =>
  fetch(api, {
    method: 'POST',
    signal: signal(),
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });

/** Posts a conversation and reads the whole answer as events. */
export async function runOnce(api, messages, extra = {}) {
  const response = await post(api, { id: 'chat-wire', messages, trigger: 'submit-message', ...extra });
  const text = await response.text();
  return { response, text, ...readEvents(text) };
}

/** Splits an event stream into chunks and ids. `done` is `true` if `[DONE]` ended it. */
export function readEvents(text) {
  const chunks = [];
  const ids = [];
  let done = false;
  for (const block of text.split('\n\n')) {
    const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
    if (lines.length === 0) continue;
    const value = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = value('data');
    if (data === '[DONE]') {
      done = true;
      continue;
    }
    ids.push(value('id'));
    chunks.push(JSON.parse(data));
  }
  return { chunks, ids, done };
}

/** Returns the chunks that the schema of one version of the official package refuses. */
export async function refusedBy(version, chunks) {
  const schema = versions[version].uiMessageChunkSchema;
  const { validate } = typeof schema === 'function' ? schema() : schema;
  const refused = [];
  for (const chunk of chunks) {
    if (!(await validate(chunk)).success) refused.push(chunk);
  }
  return refused;
}

/**
 * The keys of each chunk type that all versions list. Releases before 5.0.217, 6.0.231 and 7.0.32 refuse a chunk with
 * any other key.
 */
const KEYS = {
  start: 'messageId messageMetadata',
  'start-step': '',
  'finish-step': '',
  'text-start': 'id providerMetadata',
  'text-delta': 'id delta providerMetadata',
  'text-end': 'id providerMetadata',
  'reasoning-start': 'id providerMetadata',
  'reasoning-delta': 'id delta providerMetadata',
  'reasoning-end': 'id providerMetadata',
  'tool-input-start': 'toolCallId toolName providerExecuted dynamic',
  'tool-input-delta': 'toolCallId inputTextDelta',
  'tool-input-available': 'toolCallId toolName input providerExecuted providerMetadata dynamic',
  'tool-input-error': 'toolCallId toolName input errorText providerExecuted providerMetadata dynamic',
  'tool-output-available': 'toolCallId output providerExecuted dynamic preliminary',
  'tool-output-error': 'toolCallId errorText providerExecuted dynamic',
  'message-metadata': 'messageMetadata',
  finish: 'finishReason messageMetadata',
  abort: '',
  error: 'errorText',
};

/** Returns the chunk types and keys that are outside the common subset. */
export function strangeKeys(chunks) {
  return chunks.flatMap((chunk) => {
    const known = KEYS[chunk.type];
    if (known === undefined) return [`${chunk.type}: not in the common subset`];
    return Object.keys(chunk)
      .filter((key) => key !== 'type' && !known.split(' ').includes(key))
      .map((key) => `${chunk.type}.${key}`);
  });
}

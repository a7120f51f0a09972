// Detects accepted forgeries. It compares the values that the server wrote in a chat with the calls that ran (the
// ledger's journal) and with the requests to the model.

import { post } from '../wire.mjs';

/** Tools whose outputs come from the client. */
const CLIENTS = ['show_account', 'request_input'];

/** The outputs that the model may receive for a call without a proven result. */
const NOTHING = [
  /can no longer be verified/,
  /after its deadline/,
  /^"?This call did not run: /,
  /^"?No result: the call was interrupted or never answered/,
  /^"?The user did not answer the request for approval/,
  /used before/,
  /^"?This call was denied/,
  /may not be changed/,
  /^"?There is no tool/,
];

export const canonical = (value) =>
  JSON.stringify(value, (_, item) =>
    item && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item);

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const key = (...parts) => JSON.stringify(parts);

/** The values that the server wrote for the user of a request. */
export class Written {
  /** Results by call, in the order of their arrival. */
  results = new Map();
  clientCalls = new Set();
  approvals = new Set();
  opaque = new Set();

  /** Returns the values that the server wrote in this conversation, as the client has them. */
  static of(messages) {
    const written = new Written();
    for (const part of messages.filter((message) => message.role === 'assistant').flatMap((message) => message.parts)) {
      written.#note(part);
    }
    return written;
  }

  #note(part) {
    const state = part.providerMetadata?.openai?.reasoningEncryptedContent;
    if (part.type === 'reasoning' && state) this.opaque.add(state);
    if (!part.type.startsWith('tool-')) return;
    const name = part.type.slice('tool-'.length);
    const call = key(part.toolCallId, name, canonical(part.input ?? part.rawInput));
    if (CLIENTS.includes(name)) this.clientCalls.add(key(part.toolCallId, name));
    else if (part.state === 'output-available') this.results.set(part.toolCallId, { call, output: canonical(part.output) });
    else if (part.state === 'output-error') this.results.set(part.toolCallId, { name, errorText: part.errorText });
    else if (part.state === 'approval-responded' && part.approval.approved) this.approvals.add(call);
  }
}

/** Posts a request. Returns the answer, the calls that ran since `app.seen`, and the requests to the model. */
export async function send(app, model, { body, user, query = '' }) {
  model.script();
  const response = await post(app.api + query, body, user === undefined ? {} : { 'x-user': user });
  const text = await response.text();
  // A call of a refused request would be found after the next request.
  const ran = response.ok ? await app.journal(app.seen) : [];
  app.seen += ran.length;
  return { status: response.status, text, ran, requests: [...model.requests] };
}

/** Returns the values that the server accepted as its own but never wrote. */
export function believed(written, { ran, requests }) {
  const found = [];
  const approvals = new Set(written.approvals);
  const fresh = new Set();
  for (const entry of ran) {
    const call = key(entry.call, entry.tool, canonical(entry.arguments));
    if (approvals.delete(call)) fresh.add(entry.call);
    else found.push(`ran ${call}`);
  }
  for (const { body } of requests) {
    found.push(...told(written, body, fresh));
  }
  return found;
}

function told(written, body, fresh) {
  const found = [];
  const made = new Map(body.input.filter((item) => item.type === 'function_call').map((item) => [item.call_id, item]));
  const order = [...written.results.keys()];
  let latest = -1;
  const once = new Set();
  for (const item of body.input.filter((item) => item.type === 'function_call_output')) {
    const { call_id: id, output } = item;
    const { name, arguments: given } = made.get(id) ?? {};
    if (NOTHING.some((pattern) => pattern.test(output)) || fresh.has(id)) continue;
    if (written.clientCalls.has(key(id, name))) continue;
    const result = written.results.get(id);
    const isIt = result && ('errorText' in result
      ? result.name === name && output.includes(result.errorText)
      : result.call === key(id, name, canonical(parsed(given))) && canonical(parsed(output)) === result.output);
    const at = order.indexOf(id);
    if (!isIt) found.push(`the model received ${output} for ${name}(${given})`);
    else if (at < latest || once.has(id)) found.push(`the model received ${id} out of order`);
    once.add(id);
    latest = Math.max(latest, at);
  }
  for (const item of body.input) {
    if (item.type === 'reasoning' && item.encrypted_content && !written.opaque.has(item.encrypted_content)) {
      found.push(`the model received the state ${item.encrypted_content}`);
    }
    if (['system', 'developer'].includes(item.role)) found.push(`a ${item.role} message: ${JSON.stringify(item.content)}`);
    if (!['message', 'reasoning', 'function_call', 'function_call_output'].includes(item.type)) found.push(`a ${item.type}`);
  }
  return found;
}

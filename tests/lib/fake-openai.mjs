// A model server on loopback with OpenAI's Responses and Chat Completions APIs, which answers from a test's script.
//
// A turn is `{ reasoning, encrypted, text, sources, image, calls, usage, end, pace, hold, before }`:
//   sources [{ url, title } | { filename }]: the sources that the text cites (Responses only)
//   image   base64 of a PNG that the model made (Responses only)
//   calls   [{ id, name, args }]: `args` is a value, or a string that is sent unchanged
//   interleaved  true: pieces of the calls alternate (Responses only)
//   end     'stop' (default) | 'length' | 'error' (an error inside the stream) | 'cut' (the connection breaks) | 'hang'
//   pace    milliseconds between events (default 0, with which events still arrive separately), or 'none'
//   hold    a function that gets each event before it is sent, and returns a promise to wait for
//   before  { status, headers, body }: an HTTP error in place of a stream
// A turn can also be a function that returns such an object for the request body. `answer` is such a function for the
// requests after the last turn of the script.

import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A text in every provider error. It must never reach a client. */
export const CANARY = 'upstream-detail-canary-7f3a';

const USAGE = { input: 11, cached: 3, output: 7, reasoning: 2 };

/** Returns the `hold` of a turn that waits for the promise of `until()` before its first event with the text `at`. */
export function holdAt(at, until) {
  let held = false;
  return (event) => {
    if (held || !event.includes(at)) return undefined;
    held = true;
    return until();
  };
}

/** Returns the `hold` of a turn that waits for the promise of `until()` once the pieces that were sent contain a text. */
export function holdAfter(text, until) {
  let sent = '';
  return (event) => {
    if (sent.includes(text)) return undefined;
    sent += event.match(/"delta":"((?:[^"\\]|\\.)*)"/)?.[1] ?? '';
    return sent.includes(text) ? until() : undefined;
  };
}

export async function startFakeOpenAi({ answer } = {}) {
  const queue = [];
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString('utf8');
    const api = request.url === '/v1/responses' ? 'responses' : request.url === '/v1/chat/completions' ? 'chat' : null;
    if (!api || request.method !== 'POST') {
      response.writeHead(404, { 'content-type': 'application/json' });
      return response.end('{"error":{"message":"no such route"}}');
    }
    const seen = { api, raw, body: JSON.parse(raw), headers: request.headers, closedAt: null, ended: false };
    response.once('close', () => {
      seen.closedAt = performance.now();
      seen.ended = response.writableFinished;
    });
    requests.push(seen);
    const next = queue.shift() ?? answer;
    const turn = typeof next === 'function' ? next(seen.body) : next;
    if (!turn) {
      response.writeHead(500, { 'content-type': 'application/json' });
      return response.end(`{"error":{"message":"the script has no turn for request ${requests.length} ${CANARY}"}}`);
    }
    if (turn.before) {
      response.writeHead(turn.before.status, { 'content-type': 'application/json', ...turn.before.headers });
      return response.end(JSON.stringify(turn.before.body ?? { error: { message: CANARY, type: 'server_error', code: null } }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': `req_${requests.length}` });
    const render = api === 'responses' ? responsesEvents : chatEvents;
    for (const event of render(turn, seen.body, requests.length)) {
      await turn.hold?.(event);
      if (response.destroyed) return undefined;
      response.write(event);
      if (turn.pace !== 'none') await sleep(turn.pace ?? 0);
      if (response.destroyed) return undefined;
    }
    if (turn.end === 'hang') return undefined;
    if (turn.end === 'cut') return response.destroy();
    return response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    /** Replaces the rest of the script and clears the requests. */
    script(...turns) {
      queue.splice(0, queue.length, ...turns);
      requests.length = 0;
    },
    /** Returns the number of unused turns. */
    left: () => queue.length,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const pieces = (text) => text.match(/[^]{1,7}/gu) ?? [];
const argsOf = (call) => (typeof call.args === 'string' ? call.args : JSON.stringify(call.args));

function* responsesEvents(turn, body, serial) {
  let sequence = 0;
  const send = (type, fields) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`;
  const response = {
    id: `resp_${serial}`, object: 'response', created_at: 1763700000, status: 'in_progress', background: false,
    error: null, incomplete_details: null, instructions: body.instructions ?? null, model: body.model, output: [],
    parallel_tool_calls: true, store: false, tool_choice: 'auto', tools: body.tools ?? [], usage: null, metadata: {},
  };
  const output = [];
  yield send('response.created', { response });
  yield send('response.in_progress', { response });
  if (turn.reasoning !== undefined) {
    const id = `rs_${serial}`;
    const at = { item_id: id, output_index: output.length, summary_index: 0 };
    yield send('response.output_item.added', { output_index: at.output_index, item: { id, type: 'reasoning', summary: [] } });
    yield send('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    for (const delta of pieces(turn.reasoning)) yield send('response.reasoning_summary_text.delta', { ...at, delta });
    yield send('response.reasoning_summary_text.done', { ...at, text: turn.reasoning });
    const part = { type: 'summary_text', text: turn.reasoning };
    yield send('response.reasoning_summary_part.done', { ...at, part });
    const item = { id, type: 'reasoning', summary: [part], encrypted_content: turn.encrypted ?? null };
    output.push(item);
    yield send('response.output_item.done', { output_index: at.output_index, item });
  }
  if (turn.text !== undefined) {
    const id = `msg_${serial}`;
    const at = { item_id: id, output_index: output.length, content_index: 0 };
    const empty = { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' };
    yield send('response.output_item.added', { output_index: at.output_index, item: empty });
    yield send('response.content_part.added', { ...at, part: { type: 'output_text', annotations: [], logprobs: [], text: '' } });
    for (const delta of pieces(turn.text)) yield send('response.output_text.delta', { ...at, delta, logprobs: [] });
    const annotations = (turn.sources ?? []).map((source) =>
      source.url
        ? { type: 'url_citation', ...source, start_index: 0, end_index: 1 }
        : { type: 'file_citation', file_id: `file_${source.filename}`, ...source, index: 0 });
    for (const [annotation_index, annotation] of annotations.entries()) {
      yield send('response.output_text.annotation.added', { ...at, annotation_index, annotation });
    }
    if (turn.end !== 'hang' && turn.end !== 'cut') {
      const part = { type: 'output_text', annotations, logprobs: [], text: turn.text };
      yield send('response.output_text.done', { ...at, text: turn.text, logprobs: [] });
      yield send('response.content_part.done', { ...at, part });
      const item = { ...empty, status: 'completed', content: [part] };
      output.push(item);
      yield send('response.output_item.done', { output_index: at.output_index, item });
    }
  }
  if (turn.image !== undefined) {
    const item = { id: `ig_${serial}`, type: 'image_generation_call', status: 'completed', output_format: 'png', result: turn.image };
    const at = output.push(item) - 1;
    yield send('response.output_item.added', { output_index: at, item: { ...item, status: 'in_progress', result: null } });
    yield send('response.output_item.done', { output_index: at, item });
  }
  const broken = turn.end && turn.end !== 'stop';
  if (turn.interleaved) yield* interleavedCalls(turn.calls, serial, output, send);
  for (const [index, call] of turn.interleaved ? [] : (turn.calls ?? []).entries()) {
    const id = `fc_${serial}_${index}`;
    const at = { item_id: id, output_index: output.length };
    const item = { id, type: 'function_call', status: 'in_progress', arguments: '', call_id: call.id, name: call.name };
    yield send('response.output_item.added', { output_index: at.output_index, item });
    const text = argsOf(call);
    for (const delta of pieces(text)) yield send('response.function_call_arguments.delta', { ...at, delta });
    const last = index === turn.calls.length - 1;
    if (broken && last) {
      if (turn.end !== 'length') continue;
      const cut = { ...item, status: 'incomplete', arguments: text };
      output.push(cut);
      yield send('response.output_item.done', { output_index: at.output_index, item: cut });
      continue;
    }
    yield send('response.function_call_arguments.done', { ...at, name: call.name, arguments: text });
    const done = { ...item, status: 'completed', arguments: text };
    output.push(done);
    yield send('response.output_item.done', { output_index: at.output_index, item: done });
  }
  const used = { ...USAGE, ...turn.usage };
  const usage = {
    input_tokens: used.input, input_tokens_details: { cached_tokens: used.cached }, output_tokens: used.output,
    output_tokens_details: { reasoning_tokens: used.reasoning }, total_tokens: used.input + used.output,
  };
  if (turn.end === 'error') {
    yield send('error', { code: 'server_error', message: CANARY, param: null });
    yield send('response.failed', { response: { ...response, status: 'failed', error: { code: 'server_error', message: CANARY } } });
  } else if (turn.end === 'length') {
    const incomplete_details = { reason: 'max_output_tokens' };
    yield send('response.incomplete', { response: { ...response, status: 'incomplete', incomplete_details, output, usage } });
  } else if (!broken) {
    yield send('response.completed', { response: { ...response, status: 'completed', output, usage } });
  }
}

/** Writes the calls of a turn side by side: each event is one piece of one of them. */
function* interleavedCalls(calls, serial, output, send) {
  const all = calls.map((call, index) => {
    const item = { id: `fc_${serial}_${index}`, type: 'function_call', status: 'in_progress', arguments: '', call_id: call.id, name: call.name };
    return { item, at: { item_id: item.id, output_index: output.length + index }, text: argsOf(call) };
  });
  for (const { item, at } of all) yield send('response.output_item.added', { output_index: at.output_index, item });
  for (let piece = 0; all.some(({ text }) => pieces(text)[piece] !== undefined); piece += 1) {
    for (const { at, text } of all) {
      const delta = pieces(text)[piece];
      if (delta !== undefined) yield send('response.function_call_arguments.delta', { ...at, delta });
    }
  }
  for (const { item, at, text } of all) {
    yield send('response.function_call_arguments.done', { ...at, name: item.name, arguments: text });
    const done = { ...item, status: 'completed', arguments: text };
    output.push(done);
    yield send('response.output_item.done', { output_index: at.output_index, item: done });
  }
}

function* chatEvents(turn, body, serial) {
  const base = { id: `chatcmpl-${serial}`, object: 'chat.completion.chunk', created: 1763700000, model: body.model };
  const send = (fields) => `data: ${JSON.stringify({ ...base, ...fields })}\n\n`;
  const delta = (value, finish_reason = null) => send({ choices: [{ index: 0, delta: value, finish_reason }] });
  yield delta({ role: 'assistant', content: '' });
  for (const piece of pieces(turn.reasoning ?? '')) yield delta({ reasoning_content: piece });
  for (const piece of pieces(turn.text ?? '')) yield delta({ content: piece });
  for (const [index, call] of (turn.calls ?? []).entries()) {
    yield delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] });
    for (const piece of pieces(argsOf(call))) yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  if (turn.end === 'error') {
    yield `data: ${JSON.stringify({ error: { message: CANARY, type: 'server_error', code: 500 } })}\n\n`;
    return;
  }
  if (turn.end === 'cut' || turn.end === 'hang') return;
  yield delta({}, turn.end === 'length' ? 'length' : turn.calls?.length ? 'tool_calls' : 'stop');
  if (body.stream_options?.include_usage) {
    const used = { ...USAGE, ...turn.usage };
    yield send({
      choices: [],
      usage: {
        prompt_tokens: used.input, completion_tokens: used.output, total_tokens: used.input + used.output,
        prompt_tokens_details: { cached_tokens: used.cached },
        completion_tokens_details: { reasoning_tokens: used.reasoning },
      },
    });
  }
  yield 'data: [DONE]\n\n';
}

/** Starts a scripted model and an app that asks it. Returns the app with `model`, which its `stop` also stops. */
export async function startScripted(start) {
  const model = await startFakeOpenAi();
  try {
    const app = await start(model);
    return { ...app, model, stop: () => app.stop().finally(model.stop) };
  } catch (error) {
    await model.stop();
    throw error;
  }
}

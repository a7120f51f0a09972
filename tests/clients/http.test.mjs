// The HTTP contract: status codes, headers and bodies, without a client library.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { pageTools, serverTools, tools } from '../lib/app.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart } from '../lib/quickstart.mjs';
import { versions } from './chat.mjs';
import { get, post, readEvents, refusedBy, runOnce, strangeKeys, user } from './wire.mjs';

const MAX_BODY = 8 * 1024 * 1024;

let model;
let app;

before(async () => {
  model = await startFakeOpenAi();
  app = await startQuickstart(openai('openai', model.baseUrl));
});
after(async () => {
  await app?.stop();
  await model?.stop();
});
beforeEach(() => model.script());

/** Asserts the form that every refusal has, and returns the error. */
async function refusal(response, status) {
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.match(response.headers.get('content-type'), /^application\/json/);
  const { error, ...rest } = JSON.parse(text);
  assert.deepEqual(rest, {});
  assert.match(error.code, /^[a-z_]+$/);
  assert.ok(error.message.length > 5, text);
  return error;
}

const everything = () => [
  {
    reasoning: 'Let me think.',
    encrypted: 'blob',
    text: 'Looking.',
    calls: [
      { id: 'call_ok', name: tools.lookUp.name, args: tools.lookUp.args },
      { id: 'call_slow', name: tools.slow.name, args: tools.slow.args },
      { id: 'call_bad', name: tools.lookUp.name, args: { wrong: 1 } },
      { id: 'call_none', name: 'no_such_tool', args: {} },
    ],
  },
  { text: 'And now the page.', calls: [{ id: 'call_page', name: tools.navigate.name, args: tools.navigate.args }] },
];

test('the event stream has the headers of the protocol and those that keep it unbuffered', async () => {
  model.script({ text: 'Hi.' });
  const { response, done, ids, text } = await runOnce(app.api, [user('Hi')]);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  assert.match(response.headers.get('cache-control'), /no-store/);
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  assert.equal(response.headers.get('access-control-allow-origin'), null);
  assert.ok(done, 'the stream ends with [DONE]');
  assert.ok(ids.every(Boolean), 'every event has an id');
  assert.equal(new Set(ids).size, ids.length, 'event ids are unique');
  assert.ok(text.endsWith('\n\n'));
});

for (const version of Object.keys(versions)) {
  test(`${version} · every chunk passes the official schema`, async () => {
    model.script(...everything());
    const ran = await runOnce(app.api, [user('Everything')]);
    model.script({ text: 'Half', end: 'error' });
    const failed = await runOnce(app.api, [user('Fail')]);
    const chunks = [...ran.chunks, ...failed.chunks];
    for (const type of ['reasoning-end', 'tool-input-available', 'tool-input-error', 'tool-output-available', 'finish', 'error']) {
      assert.ok(chunks.some((chunk) => chunk.type === type), `the run has a ${type}`);
    }
    assert.deepEqual(await refusedBy(version, chunks), []);
  });
}

test('chunks have only keys that all versions list', async () => {
  model.script(...everything());
  const { chunks } = await runOnce(app.api, [user('Everything')]);
  assert.deepEqual(strangeKeys(chunks), []);
});

test('the order of a run is that of the protocol', async () => {
  model.script({ text: 'Hi.', calls: [{ id: 'c1', name: tools.lookUp.name, args: tools.lookUp.args }] }, { text: 'Bye.' });
  const { chunks } = await runOnce(app.api, [user('Hi')]);
  const types = chunks.map((chunk) => chunk.type).filter((type) => type !== 'message-metadata');
  const folded = types.filter((type, at) => type !== types[at - 1]);
  assert.deepEqual(folded, [
    'start', 'start-step', 'text-start', 'text-delta', 'text-end',
    'tool-input-start', 'tool-input-delta', 'tool-input-available', 'tool-output-available', 'finish-step',
    'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish',
  ]);
  assert.equal(chunks.at(-1).finishReason, 'stop');
});

test('NDJSON has the same chunks, one a line', async () => {
  model.script({ text: 'Hi.' }, { text: 'Hi.' });
  const sse = await runOnce(app.api, [user('Hi')]);
  const response = await post(app.api, { id: 'c', messages: [user('Hi')] }, { accept: 'application/x-ndjson' });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^application\/x-ndjson/);
  const lines = (await response.text()).split('\n').filter(Boolean);
  const types = lines.map((line) => JSON.parse(line).type);
  assert.deepEqual(types, sse.chunks.map((chunk) => chunk.type));
});

test('a plain ChatMessage conversation runs', async () => {
  model.script({ text: 'Hi.' });
  const { chunks, response } = await runOnce(app.api, [
    { id: 'm1', role: 'user', content: 'Where is my order?' },
    { type: 'function_call', id: 'call_0', name: tools.navigate.name, arguments: tools.navigate.args },
    { type: 'function_call_output', call_id: 'call_0', output: 'moved', status: 'completed' },
  ]);
  assert.equal(response.status, 200);
  assert.equal(chunks.at(-1).type, 'finish');
  const { input } = model.requests[0].body;
  assert.match(JSON.stringify(input[0]), /Where is my order/);
  const call = input.find((item) => item.type === 'function_call');
  assert.deepEqual([call.name, JSON.parse(call.arguments)], [tools.navigate.name, tools.navigate.args]);
  const output = input.find((item) => item.type === 'function_call_output');
  assert.deepEqual([output.call_id, output.output], [call.call_id, 'moved']);
});

test('context is data for the model, not system text', async () => {
  model.script({ text: 'Hi.' });
  const context = [{ id: 'x1', type: 'navigation', data: { path: '/orders/canary-of-context' } }];
  await runOnce(app.api, [user('Where am I?')], { context });
  const { body } = model.requests[0];
  assert.ok(JSON.stringify(body.input).includes('canary-of-context'));
  const system = [body.instructions, ...body.input.filter((item) => /system|developer/.test(item.role))];
  assert.ok(!JSON.stringify(system).includes('canary-of-context'));
});

test('the mount point answers with and without a trailing slash', async () => {
  model.script({ text: 'Hi.' });
  const { response } = await runOnce(`${app.api}/`, [user('Hi')]);
  assert.equal(response.status, 200);
});

test('404 for an unknown path', async () => {
  await refusal(await get(`${app.api}/no/such/thing`), 404);
});

test('405 names the methods', async () => {
  const response = await get(app.api, { method: 'PUT' });
  assert.match(response.headers.get('allow') ?? '', /POST/);
  await refusal(response, 405);
});

test('415 for a content type other than JSON', async () => {
  await refusal(await post(app.api, JSON.stringify({ messages: [user('Hi')] }), { 'content-type': 'text/plain' }), 415);
});

test('413 one byte over the limit, and not at it', async () => {
  model.script({ text: 'Hi.' });
  const body = JSON.stringify({ id: 'c', messages: [user('Hi')] });
  const padded = body + ' '.repeat(MAX_BODY - body.length);
  const fits = await post(app.api, padded);
  assert.equal(fits.status, 200, await fits.text());
  await refusal(await post(app.api, `${padded} `), 413);
});

test('JSON 64 deep is read, 65 deep is refused', async () => {
  // The body, `context`, its item and `data` are levels 1 to 3; `data` begins level 4.
  const at = (depth) => {
    const data = '['.repeat(depth - 3) + ']'.repeat(depth - 3);
    return `{"id":"c","messages":${JSON.stringify([user('Hi')])},"context":[{"id":"x","type":"t","data":${data}}]}`;
  };
  model.script({ text: 'Hi.' });
  const fits = await post(app.api, at(64));
  assert.equal(fits.status, 200, await fits.text());
  await refusal(await post(app.api, at(65)), 400);
});

test('400 for malformed JSON', async () => {
  await refusal(await post(app.api, '{"messages": ['), 400);
});

test('400 names the field that is wrong', async () => {
  const messages = [user('Hi'), { id: 'u2', role: 5, parts: [{ type: 'text', text: 'x' }] }];
  const error = await refusal(await post(app.api, { id: 'c', messages }), 400);
  assert.equal(error.path, 'messages[1].role');
  const typed = await refusal(await post(app.api, { id: 'c', messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 5 }] }] }), 400);
  assert.match(typed.path ?? '', /text/);
});

test('a message of an unknown role is left out', async () => {
  model.script({ text: 'Hi.' });
  const messages = [user('Hi'), { id: 'n', role: 'narrator', parts: [{ type: 'text', text: 'canary-of-a-role' }] }];
  const { response } = await runOnce(app.api, messages);
  assert.equal(response.status, 200);
  assert.ok(!model.requests[0].raw.includes('canary-of-a-role'));
});

test('400 for an empty last message, before the model is called', async () => {
  for (const parts of [[], [{ type: 'text', text: '' }], [{ type: 'hologram' }]]) {
    const error = await refusal(await post(app.api, { id: 'c', messages: [{ id: 'u', role: 'user', parts }] }), 400);
    assert.equal(error.path, 'messages[0]');
  }
  assert.equal(model.requests.length, 0);
});

test('400 for no messages', async () => {
  await refusal(await post(app.api, { id: 'c' }), 400);
});

test('400 for a declared tool with the name of a server tool', async () => {
  const declared = [{ name: tools.lookUp.name, description: 'mine', parameters: { type: 'object' } }];
  const error = await refusal(await post(app.api, { id: 'c', messages: [user('Hi')], tools: declared }), 400);
  assert.match(error.path ?? '', /tools\[0\]/);
});

test('a tool that the client declares is offered to the model, 64 of them and no more', async () => {
  const declare = (count) =>
    Array.from({ length: count }, (_, at) => ({ name: `mine_${at}`, description: 'mine', parameters: { type: 'object', properties: {} } }));
  model.script({ calls: [{ id: 'call_m', name: 'mine_63', args: {} }] });
  const fits = await runOnce(app.api, [user('Hi')], { tools: declare(64) });
  assert.equal(fits.response.status, 200, fits.text);
  assert.equal(fits.chunks.at(-1).finishReason, 'tool-calls');
  assert.ok(fits.chunks.some((chunk) => chunk.type === 'tool-input-available' && chunk.toolName === 'mine_63'));
  assert.ok(model.requests[0].body.tools.some((tool) => tool.name === 'mine_63'));
  await refusal(await post(app.api, { id: 'c', messages: [user('Hi')], tools: declare(65) }), 400);
  const [odd] = declare(1);
  await refusal(await post(app.api, { id: 'c', messages: [user('Hi')], tools: [{ ...odd, name: 'has a space' }] }), 400);
});

test('the manifest lists tools, schemas and dialects', async () => {
  const response = await get(`${app.api}/manifest.json`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^application\/json/);
  const manifest = await response.json();
  const names = manifest.tools.map((tool) => tool.name);
  for (const name of [...serverTools, ...pageTools]) assert.ok(names.includes(name), name);
  for (const tool of manifest.tools) {
    assert.ok(tool.description.length > 0, tool.name);
    const schema = tool.inputSchema ?? tool.parameters ?? tool.input_schema;
    assert.equal(schema?.type, 'object', `${tool.name} has a JSON Schema`);
  }
  assert.ok(JSON.stringify(manifest.dialects).length > 4);
});

test('no detail of the provider reaches a client', async () => {
  model.script({ text: 'Hi.' }, { before: { status: 401, body: { error: { message: 'bad key sk-canary-of-the-suite' } } } });
  const answers = [await runOnce(app.api, [user('Hi')]), await runOnce(app.api, [user('Hi')])];
  const text = answers.map((answer) => answer.text).join('') + (await (await get(`${app.api}/manifest.json`)).text());
  assert.ok(!/sk-canary|bad key/.test(text), 'no key and no error body');
  assert.ok(!text.includes('127.0.0.1'), 'no address of the provider');
  assert.ok(!app.log().includes('sk-canary'), 'no key in the log');
});

test('the system prompt does not reach a client', async () => {
  model.script({ text: 'Hi.' });
  const { text } = await runOnce(app.api, [user('Hi')]);
  const { instructions } = model.requests[0].body;
  assert.ok(instructions?.length > 20, 'the model receives instructions');
  assert.ok(!text.includes(instructions.slice(0, 20)));
});

test('readEvents reads comments, ids and [DONE]', () => {
  const { chunks, ids, done } = readEvents(': hi\n\nid: 1\ndata: {"type":"start"}\n\ndata: [DONE]\n\n');
  assert.deepEqual(chunks, [{ type: 'start' }]);
  assert.deepEqual(ids, ['1']);
  assert.ok(done);
});

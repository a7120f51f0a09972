// useCompletion, useObject and the text stream transport, of the AI SDK 5, 6 and 7.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { z } from 'zod';

import { tools } from '../lib/app.mjs';
import { CANARY, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart } from '../lib/quickstart.mjs';
import { last, openChat, shape, textOf, until, versions } from './chat.mjs';
import { hooks, renderHook } from './hooks.mjs';
import { get, post, user } from './wire.mjs';

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

function scenario(name, run) {
  for (const version of Object.keys(versions)) {
    test(`${version} · ${name}`, { timeout: 30_000 }, () => run(hooks[version], versions[version]));
  }
}

const PROTOCOLS = [['data', '/completion'], ['text', '/completion?protocol=text']];
const BUSY = { before: { status: 429, headers: { 'retry-after': '0' }, body: { error: { message: CANARY } } } };
const SENTENCE = 'The model is busy right now. Please try again later.';
const ticket = z.object({ subject: z.string(), details: z.string(), priority: z.string() });

/** Waits for the last render. */
const idle = (hook) => until(() => !hook.now().isLoading, 'the hook is idle');

const completion = (react, streamProtocol, path, more) =>
  renderHook(() => react.useCompletion({ api: `${app.api}${path}`, streamProtocol, ...more }));

scenario('useCompletion', async (react) => {
  for (const [protocol, path] of PROTOCOLS) {
    model.script({ pace: 20, text: 'Once upon a time — ✓ 🦀', calls: [{ id: 'c1', ...tools.lookUp }] }, { text: 'The end.' });
    const finished = [];
    const hook = await completion(react, protocol, path, { onFinish: (prompt, text) => finished.push([prompt, text]) });
    await hook.now().complete('Tell a story', { body: { more: 'of the page' } });
    await idle(hook);
    const { completion: text, error, isLoading } = hook.now();
    // The client of the data protocol joins the texts of two steps without a separator.
    const between = protocol === 'text' ? '\n\n' : '';
    assert.deepEqual([text, error, isLoading], [`Once upon a time — ✓ 🦀${between}The end.`, undefined, false]);
    assert.deepEqual(finished, [['Tell a story', text]]);
    assert.ok(new Set(hook.seen.map((one) => one.completion)).size > 3, 'it grows');
    assert.match(model.requests[0].raw, /Tell a story/);
    hook.unmount();
  }
});

scenario('useCompletion, a failure before the answer', async (react) => {
  for (const [protocol, path] of PROTOCOLS) {
    model.script(BUSY, BUSY, BUSY);
    const hook = await completion(react, protocol, path);
    await hook.now().complete('Hi');
    await until(() => hook.now().error, 'it failed');
    assert.equal(hook.now().error?.message, SENTENCE, protocol);
    assert.equal(hook.now().completion, '');
    hook.unmount();
  }
});

scenario('useCompletion, a failure within the answer', async (react) => {
  for (const [protocol, path] of PROTOCOLS) {
    model.script({ text: 'Half an answer', end: 'error' });
    const hook = await completion(react, protocol, path);
    await hook.now().complete('Hi');
    await until(() => hook.now().error, 'it failed');
    assert.ok(hook.now().error instanceof Error, `${protocol}: a cut answer is an error`);
    assert.ok(!hook.now().error.message.includes(CANARY));
    assert.equal(hook.now().completion, 'Half an answer', 'the text before the error is kept');
    hook.unmount();
  }
});

scenario('useCompletion, stopped', async (react) => {
  for (const [protocol, path] of PROTOCOLS) {
    model.script({ text: 'This never ends', end: 'hang' });
    const hook = await completion(react, protocol, path);
    const asking = hook.now().complete('Hi');
    await until(() => hook.now().completion.includes('ends'), 'the text arrives');
    const left = performance.now();
    hook.now().stop();
    await asking;
    await until(() => model.requests[0].closedAt, 'the connection to the model closes', 2_000);
    const took = model.requests[0].closedAt - left;
    assert.ok(took <= 250, `${protocol}: ${took.toFixed(0)} ms`);
    assert.equal(hook.now().error, undefined);
    hook.unmount();
  }
});

const object = (react, path, more) =>
  renderHook(() => react.experimental_useObject({ api: `${app.api}${path}`, schema: ticket, ...more }));
const DRAFT = { subject: 'Parcel "lost"', details: 'It never came — ✓', priority: 'high' };

scenario('useObject', async (react) => {
  for (const [path, input, told] of [
    ['/object/ticket', 'My parcel\nis lost', 'My parcel\\nis lost'],
    ['/object', { order: 1003, says: 'lost' }, '{\\"order\\":1003,\\"says\\":\\"lost\\"}'],
  ]) {
    model.script({ pace: 20, text: JSON.stringify(DRAFT, null, 2) });
    const finished = [];
    const hook = await object(react, path, { onFinish: (end) => finished.push(end) });
    hook.now().submit(input);
    await until(() => finished.length === 1, 'it is finished');
    await idle(hook);
    assert.deepEqual(hook.now().object, DRAFT);
    assert.deepEqual([finished[0].object, finished[0].error], [DRAFT, undefined]);
    assert.ok(hook.seen.some(({ object: part }) => part?.subject && !part.priority), 'it grows');
    const { body, raw } = model.requests[0];
    assert.ok(raw.includes(told), raw);
    assert.equal(body.text.format.type, 'json_schema');
    assert.ok(body.text.format.schema.properties.subject);
    assert.ok(!body.tools?.length, 'no tools');
    hook.unmount();
  }
});

scenario('useObject, an answer that does not match the schema', async (react) => {
  model.script({ text: '{"subject": 7}' });
  const finished = [];
  const hook = await object(react, '/object/ticket', { onFinish: (end) => finished.push(end) });
  hook.now().submit('x');
  await until(() => finished.length === 1, 'it is finished');
  assert.ok(finished[0].error instanceof Error);
  assert.equal(finished[0].object, undefined);
  hook.unmount();
});

scenario('useObject, failures', async (react) => {
  for (const [turns, path, says] of [
    [[BUSY, BUSY, BUSY], '/object/ticket', SENTENCE],
    [[], '/object/none', /There is no object of this name/],
    [[{ text: '{"subject": "Half', end: 'error' }], '/object/ticket', /./],
    [[{ text: '{"subject": "Half', end: 'length' }], '/object/ticket', /./],
  ]) {
    model.script(...turns);
    const errors = [];
    const finished = [];
    const hook = await object(react, path, { onError: (error) => errors.push(error), onFinish: (end) => finished.push(end) });
    hook.now().submit('x');
    await until(() => errors.length === 1 && hook.now().error, 'it failed');
    if (says instanceof RegExp) assert.match(errors[0].message, says);
    else assert.equal(errors[0].message, says);
    assert.ok(!errors[0].message.includes(CANARY));
    assert.equal(finished.length, 0, 'a cut object is not complete');
    assert.ok(hook.now().error instanceof Error);
    hook.unmount();
  }
});

scenario('text stream transport', async (_, ai) => {
  model.script({ text: 'Let me look.', calls: [{ id: 'c1', ...tools.lookUp }] }, { text: 'It is shipped.' }, { text: 'Again.' });
  const chat = openChat(ai, app.api, { transport: new ai.TextStreamChatTransport({ api: `${app.api}?protocol=text` }) });
  await chat.sendMessage({ text: 'Where is it?' });
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text']);
  assert.equal(textOf(last(chat)), 'Let me look.\n\nIt is shipped.');
  const offered = model.requests[0].body.tools.map((tool) => tool.name);
  assert.ok(offered.includes(tools.lookUp.name) && !offered.includes(tools.navigate.name), 'front-end tools are not offered over text');
  await chat.sendMessage({ text: 'Once more' });
  assert.equal(textOf(last(chat)), 'Again.');
  assert.match(JSON.stringify(model.requests[2].body.input), /It is shipped/);
});

scenario('text stream transport, failures', async (_, ai) => {
  const transport = new ai.TextStreamChatTransport({ api: `${app.api}?protocol=text` });
  model.script(BUSY, BUSY, BUSY);
  const before = openChat(ai, app.api, { transport });
  await before.sendMessage({ text: 'Hi' });
  assert.equal(before.status, 'error');
  assert.equal(before.error.message, SENTENCE);
  model.script({ text: 'Half an answer', end: 'cut' });
  const within = openChat(ai, app.api, { transport });
  await within.sendMessage({ text: 'Hi' });
  assert.equal(within.status, 'error', 'a cut answer is an error');
  assert.equal(textOf(last(within)), 'Half an answer');
});

test('text has exactly the content type of the protocol', async () => {
  model.script({ text: 'Hi.' }, { text: 'Hi.' }, { text: '{}' });
  for (const [path, body] of [
    ['?protocol=text', { id: 'c', messages: [user('Hi')] }],
    ['/completion?protocol=text', { prompt: 'Hi' }],
    ['/object', '"x"'],
  ]) {
    const response = await post(`${app.api}${path}`, body);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(response.headers.get('x-accel-buffering'), 'no');
    await response.text();
  }
});

test('the routes accept only POST', async () => {
  for (const path of ['/completion', '/object', '/object/ticket']) {
    const response = await get(`${app.api}${path}`);
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'POST');
  }
});

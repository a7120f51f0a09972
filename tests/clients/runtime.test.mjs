// The host's own agent runtime (examples/runtime-events) with the AI SDK's clients.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startServer } from '../lib/server.mjs';
import { last, openChat, shape, textOf, toolParts, until, versions } from './chat.mjs';
import { get, refusedBy, runOnce, strangeKeys, user } from './wire.mjs';

const LOGS = ['text', 'thinking', 'tool', 'tool-error', 'error', 'aborted', 'paused', 'flow', 'spoilt'];

let app;
before(async () => {
  app = await startServer('RUNTIME_EVENTS_BIN', { PATH: process.env.PATH });
});
after(() => app?.stop());

const at = (mount) => `${app.origin}/${mount}`;
const playing = async () => (await get(at('runs'))).json();

/** Runs one scenario for each version. The table at the end reads the name. */
function scenario(name, run) {
  for (const [version, ai] of Object.entries(versions)) {
    test(`${version} · runtime: ${name}`, { timeout: 30_000 }, () => run(ai, version));
  }
}

/** Plays a log of the runtime: one of its own by name, or the given events. */
async function play(ai, log, mount = 'chat') {
  const chat = openChat(ai, at(mount));
  await chat.sendMessage({ text: typeof log === 'string' ? log : log.map((event) => JSON.stringify(event)).join('\n') });
  return chat;
}

function assertReady(chat) {
  assert.deepEqual(chat.errors, []);
  assert.equal(chat.status, 'ready');
}

const agent = (type, fields) => ({ type: `agent:${type}`, runId: 'r1', nodeId: 'n1', ...fields });

scenario('text', async (ai) => {
  const chat = await play(ai, 'text');
  assertReady(chat);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text']);
  assert.equal(textOf(last(chat)), 'Your order is on its way — ✓ 🦀');
  assert.equal(last(chat).parts[1].state, 'done');
  assert.match(last(chat).id, /^msg_[0-9a-f]{32}$/, 'the id is the server\'s');
  assert.deepEqual(last(chat).metadata, { usage: { inputTokens: 12, outputTokens: 8 } });
  assert.ok(chat.seen.some((message) => textOf(message) === 'Your order '), 'the text arrives in pieces');
});

scenario('thinking', async (ai) => {
  const chat = await play(ai, 'thinking');
  assertReady(chat);
  assert.deepEqual(shape(last(chat)), ['step-start', 'reasoning', 'text']);
  const [, reasoning, text] = last(chat).parts;
  assert.deepEqual([reasoning.text, reasoning.state], ['The user asks for an order.', 'done']);
  assert.deepEqual([text.text, text.state], ['It is on its way.', 'done']);
  const plain = await play(ai, 'thinking', 'plain');
  assertReady(plain);
  assert.deepEqual(shape(last(plain)), ['text'], 'a host can disable reasoning and steps');
});

scenario('tool', async (ai) => {
  const chat = await play(ai, 'tool');
  assertReady(chat);
  const tool = 'tool-order_status';
  assert.deepEqual(shape(last(chat)), ['step-start', 'text', tool, tool, 'text']);
  const [one, two] = toolParts(last(chat));
  assert.deepEqual(
    [one.toolCallId, one.state, one.input, one.output],
    ['call_1', 'output-available', { order_id: 1001 }, { status: 'shipped' }],
  );
  assert.deepEqual([two.state, two.input, two.output], ['output-available', { order_id: 1002 }, 'packed']);
  assert.equal(two.toolCallId, `${last(chat).id}-tool-1`, 'a call without an id gets one');
  const called = chat.seen.some((message) => toolParts(message)[0]?.state === 'input-available');
  assert.ok(called, 'the call is shown before its output');
});

scenario('automatic sending', async (ai) => {
  const stock = ai.lastAssistantMessageIsCompleteWithToolCalls;
  // The condition in the documentation of the adapter.
  const pageTools = new Set(['tool-navigate']);
  const own = (state) => {
    const { parts } = state.messages.at(-1);
    const step = parts.slice(parts.findLastIndex((part) => part.type === 'step-start') + 1);
    return step.some((part) => pageTools.has(part.type)) && stock(state);
  };
  const postsWith = async (condition, mount) => {
    let asked = 0;
    const sendAutomaticallyWhen = (state) => (asked += 1) < 4 && condition(state);
    const chat = openChat(ai, at(mount), { sendAutomaticallyWhen });
    await chat.sendMessage({ text: 'tool' });
    await until(() => chat.status === 'ready' && (asked === 4 || chat.posted.length === 1), 'the posts have ended');
    assert.equal(toolParts(last(chat)).length, 2 * chat.posted.length);
    return chat.posted.length;
  };
  for (const mount of ['chat', 'plain']) {
    assert.equal(await postsWith(stock, mount), 4, 'the standard condition takes outputs of the runtime for the page\'s, and never ends');
    assert.equal(await postsWith(own, mount), 1);
  }
});

scenario('tool error', async (ai) => {
  const chat = await play(ai, 'tool-error');
  assertReady(chat);
  const [part] = toolParts(last(chat));
  assert.deepEqual([part.state, part.errorText, part.input], ['output-error', 'There is no order 7.', { order_id: 7 }]);
  assert.equal(textOf(last(chat)), 'I cannot find it.');
});

scenario('error', async (ai) => {
  const chat = await play(ai, 'error');
  assert.equal(chat.status, 'error');
  assert.deepEqual(chat.errors.map((error) => error.message), ['The quota is used up.']);
  assert.equal(textOf(last(chat)), 'Your order ', 'the text before the error is kept');
  assert.equal(last(chat).parts[1].state, 'done');
  assert.deepEqual(last(chat).metadata, { error: { type: 'quota', code: 'internal' } });
  assert.equal(chat.finishes[0].isError ?? true, true);
});

scenario('aborted', async (ai) => {
  const chat = await play(ai, 'aborted');
  assert.equal(chat.status, 'error');
  assert.deepEqual(chat.errors.map((error) => error.message), ['Stopped by the operator.']);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text']);
  assert.equal(last(chat).metadata.error.code, 'stream_interrupted');
});

scenario('paused', async (ai, version) => {
  const chat = await play(ai, 'paused');
  assertReady(chat);
  assert.equal(textOf(last(chat)), 'Shall I go on?');
  if (version !== 'v5') assert.equal(chat.finishes[0].finishReason, 'other');
  await chat.sendMessage({ text: 'text' });
  assert.equal(chat.messages.length, 4, 'the chat continues');
  assert.notEqual(chat.messages[1].id, chat.messages[3].id);
});

scenario('flow metadata and node outputs', async (ai) => {
  const seen = [];
  const chat = openChat(ai, at('flow'), { onData: (part) => seen.push(part.type) });
  await chat.sendMessage({ text: 'flow' });
  assertReady(chat);
  const step = ['step-start', 'text', 'data-node-output'];
  const second = ['step-start', 'reasoning', 'text', 'data-node-output'];
  assert.deepEqual(shape(last(chat)), ['data-flow-status', ...step, ...second, 'data-flow-status']);
  const data = (type) => last(chat).parts.filter((part) => part.type === type).map((part) => part.data);
  assert.deepEqual(data('data-flow-status'), [
    { status: 'running', flowName: 'review' },
    { status: 'complete', flowName: 'review' },
  ]);
  assert.deepEqual(data('data-node-output'), [
    { nodeId: 'writer', runId: 'r1', output: { draft: 'A draft.' } },
    { nodeId: 'editor', runId: 'r2', output: { text: 'The final text.' } },
  ]);
  assert.equal(textOf(last(chat)), 'A draft.The final text.');
  assert.deepEqual(last(chat).metadata.usage, { inputTokens: 30, outputTokens: 5 });
  assert.deepEqual(seen, ['data-flow-status', 'data-node-output', 'data-node-output', 'data-flow-status']);
});

scenario('the first agent ends the message by default', async (ai) => {
  const chat = await play(ai, 'flow');
  assertReady(chat);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text']);
  assert.equal(textOf(last(chat)), 'A draft.');
});

scenario('malformed events', async (ai) => {
  const chat = await play(ai, 'spoilt');
  assertReady(chat);
  assert.equal(textOf(last(chat)), 'Still whole.');
  assert.deepEqual(shape(last(chat)), ['text']);
});

scenario('agents at the same time', async (ai) => {
  const say = (runId, content) => agent('text:delta', { runId, content });
  const end = { type: 'flow:complete' };
  const log = [say('a', 'one '), say('b', 'uno '), say('a', 'two'), say('b', 'dos'), end];
  const chat = await play(ai, log, 'flow');
  assertReady(chat);
  const texts = last(chat).parts.filter((part) => part.type === 'text').map((part) => part.text);
  assert.deepEqual(texts, ['one two', 'uno dos']);
});

scenario('a message that the runtime refuses', async (ai) => {
  const chat = await play(ai, 'no such log');
  assert.equal(chat.status, 'error');
  assert.deepEqual(chat.errors.map((error) => error.message), ['An internal error occurred.']);
  assert.match(app.log(), /there is no log of this name/, 'the cause is in the log');
});

scenario('stop', async (ai) => {
  const chat = openChat(ai, at('chat'));
  const sent = chat.sendMessage({ text: 'endless' });
  await until(() => chat.messages.length === 2 && textOf(last(chat)) !== '', 'the answer begins');
  assert.equal(await playing(), 1);
  await chat.stop();
  await sent;
  await until(async () => (await playing()) === 0, 'the run of the runtime ends', 1_000);
  assert.equal(chat.status, 'ready');
});

scenario('resume', async (ai) => {
  const asked = [];
  const fetched = async (url, options) => (asked.push(`${options.method ?? 'GET'} ${url}`), fetch(url, options));
  const transport = new ai.DefaultChatTransport({ api: at('chat'), fetch: fetched });
  const chat = openChat(ai, at('chat'), { transport, id: 'chat-1' });
  await chat.resumeStream();
  assert.deepEqual(asked, [`GET ${at('chat/chat-1/stream')}`]);
  assertReady(chat);
  assert.deepEqual(chat.messages, [], 'there is no stream to resume');
});

scenario('the official client refuses the literal chunk step-start', async (ai) => {
  const chat = await play(ai, 'text', 'literal');
  assert.equal(chat.status, 'error');
  assert.equal(chat.errors.length, 1);
  assert.ok(!/quota|internal/i.test(chat.errors[0].message));
});

/** Returns a generator that repeats its sequence in every run. */
function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Returns a random log of one agent, and the expected parts. */
function randomLog(seed) {
  const roll = dice(seed);
  const events = [];
  const parts = [];
  let open;
  let calls = 0;
  const say = (kind) => {
    const text = ['a', ' b', '\n', '“ü🦀”', '"\\'][roll(5)];
    events.push(agent(`${kind}:delta`, { content: text }));
    if (open !== kind) parts.push([kind, '']);
    open = kind;
    parts.at(-1)[1] += text;
  };
  const tool = () => {
    const [input, output, fails] = [{ n: roll(9) }, [null, 7, 'x', { y: [1] }][roll(4)], roll(3) === 0];
    const named = roll(2) === 0 ? { toolCallId: `c${++calls}` } : {};
    const call = { toolName: 'find', ...named };
    const end = fails ? { error: 'It failed.' } : { toolOutput: output };
    if (roll(2) === 0) events.push(agent('tool', { ...call, toolInput: input, ...end }));
    else events.push(agent('tool', { ...call, toolInput: input }), agent('tool', { ...call, ...end }));
    open = undefined;
    parts.push(['tool', fails ? 'It failed.' : output, input]);
  };
  const node = (nodeId) => {
    events.push({ type: 'node:start', nodeId, runId: 'r1' });
    open = undefined;
    parts.push(['step']);
  };
  for (let length = roll(20); length > 0; length -= 1) {
    [() => say('text'), () => say('text'), () => say('thinking'), tool, () => node(`n${roll(3)}`)][roll(5)]();
  }
  events.push(agent('complete', {}));
  return { events, parts };
}

const seen = (part) => {
  if (part.type === 'step-start') return ['step'];
  if (part.type === 'text') return ['text', part.text];
  if (part.type === 'reasoning') return ['thinking', part.text];
  return ['tool', part.errorText ?? part.output, part.input];
};

scenario('200 random logs', async (ai) => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const { events, parts } = randomLog(seed);
    const chat = await play(ai, events);
    assertReady(chat);
    assert.deepEqual((chat.messages[1]?.parts ?? []).map(seen), parts, `seed ${seed}: ${JSON.stringify(events)}`);
  }
});

test('all versions accept every chunk, also with strict schemas', async () => {
  const types = new Set();
  for (const mount of ['chat', 'flow', 'plain']) {
    for (const log of LOGS) {
      const { response, chunks, done } = await runOnce(at(mount), [user(log)]);
      assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
      assert.ok(done && chunks.length >= 1, `${mount} ${log}`);
      for (const version of Object.keys(versions)) assert.deepEqual(await refusedBy(version, chunks), [], version);
      const data = chunks.filter((chunk) => chunk.type.startsWith('data-'));
      for (const chunk of data) assert.deepEqual(Object.keys(chunk), ['type', 'data']);
      assert.deepEqual(strangeKeys(chunks.filter((chunk) => !data.includes(chunk))), []);
      for (const chunk of chunks) types.add(chunk.type);
    }
  }
  assert.deepEqual([...types].sort(), [
    'data-flow-status', 'data-node-output', 'error', 'finish', 'finish-step', 'message-metadata', 'reasoning-delta',
    'reasoning-end', 'reasoning-start', 'start', 'start-step', 'text-delta', 'text-end', 'text-start',
    'tool-input-available', 'tool-output-available', 'tool-output-error',
  ]);
});

test('the literal name step-start can be enabled', async () => {
  const { chunks } = await runOnce(at('literal'), [user('text')]);
  assert.ok(chunks.some((chunk) => chunk.type === 'step-start'));
  assert.ok(!chunks.some((chunk) => chunk.type === 'start-step'));
});

for (const [version, ai] of Object.entries(versions)) {
  test(`${version}: a reader that continues after an error receives the rest`, async () => {
    const log = [agent('error', { message: 'Once more.' }), agent('text:delta', { content: 'Here.' }), agent('complete', {})];
    const { chunks } = await runOnce(at('chat'), [user(log.map((event) => JSON.stringify(event)).join('\n'))]);
    const stream = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    const errors = [];
    let message;
    for await (message of ai.readUIMessageStream({ stream, onError: (error) => errors.push(error.message) }));
    assert.deepEqual(errors, ['Once more.']);
    assert.equal(textOf(message), 'Here.');
    assert.equal(chunks.at(-1).finishReason, 'error');
  });
}

// The AI SDK's own chat, versions 5, 6 and 7, against the quickstart with a scripted model.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { pageTools, tools } from '../lib/app.mjs';
import { CANARY, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart } from '../lib/quickstart.mjs';
import { last, openChat, shape, textOf, toolParts, until, versions } from './chat.mjs';
import { assertKept, assertLegal, items, outputOf } from './kept.mjs';
import { post } from './wire.mjs';

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

const call = (tool, id, args = tool.args) => ({ id, name: tool.name, args });

/**
 * Runs one scenario for each version. Afterwards its chat posts the whole conversation once more. The table at the end
 * reads the name.
 */
function scenario(name, run) {
  for (const [version, ai] of Object.entries(versions)) {
    test(`${version} · ${name}`, { timeout: 30_000 }, async () => assertKept(await run(ai, version), model));
  }
}

scenario('text', async (ai) => {
  model.script({ text: 'Hello from “the” model — ✓ 🦀' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.status, 'ready');
  assert.deepEqual(shape(last(chat)), ['step-start', 'text']);
  assert.equal(textOf(last(chat)), 'Hello from “the” model — ✓ 🦀');
  assert.equal(last(chat).parts.at(-1).state, 'done');
  assert.equal(chat.finishes[0].isError ?? false, false);
  assert.ok(chat.seen.length > 3, 'the text arrives in pieces');
  return chat;
});

scenario('second turn sees the first', async (ai) => {
  model.script({ text: 'First answer.' }, { text: 'Second answer.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'First question' });
  await chat.sendMessage({ text: 'Second question' });
  assert.equal(chat.messages.length, 4);
  const input = JSON.stringify(model.requests[1].body.input);
  for (const said of ['First question', 'First answer.', 'Second question']) assert.ok(input.includes(said), said);
  return chat;
});

scenario('reasoning', async (ai) => {
  const encrypted = 'gAAAA+/=opaque"\\\n\u00e9🦀';
  model.script(
    { reasoning: 'The user greets me.', encrypted, text: 'Hello.' },
    { text: 'Again.' },
  );
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Hi' });
  assert.deepEqual(shape(last(chat)), ['step-start', 'reasoning', 'text']);
  assert.equal(last(chat).parts[1].text, 'The user greets me.');
  assert.equal(last(chat).parts[1].state, 'done');
  await chat.sendMessage({ text: 'Once more' });
  const [item] = items(model.requests[1], 'reasoning');
  assert.equal(item?.encrypted_content, encrypted, 'the encrypted reasoning is returned byte for byte');
  return chat;
});

scenario('server tool', async (ai) => {
  const { lookUp } = tools;
  model.script({ text: 'Let me look.', calls: [call(lookUp, 'call_a')] }, { text: 'It is on its way.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Where is my order?' });
  assert.equal(chat.status, 'ready');
  assert.equal(chat.messages.length, 2);
  const [part] = toolParts(last(chat));
  assert.equal(part.type, `tool-${lookUp.name}`);
  assert.equal(part.state, 'output-available');
  assert.deepEqual(part.input, lookUp.args);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text', part.type, 'step-start', 'text']);
  const told = outputOf(model.requests[1], 'call_a');
  assert.deepEqual(JSON.parse(told), part.output, 'the model receives the output that the page shows');
  assertLegal(model.requests[1]);
  return chat;
});

scenario('client tool round trip', async (ai) => {
  const { navigate } = tools;
  model.script({ calls: [call(navigate, 'call_nav')] }, { text: 'You are there.' });
  const visited = [];
  const chat = openChat(ai, app.api, {
    pageTools: { [navigate.name]: (input) => (visited.push(input), { shown: 'orders' }) },
  });
  await chat.sendMessage({ text: 'Show me the orders' });
  await until(() => chat.status === 'ready' && textOf(last(chat)) !== '', 'the run continues after the answer of the page');
  assert.deepEqual(visited, [navigate.args]);
  assert.equal(chat.messages.length, 2, 'the answer continues in the same message');
  assert.deepEqual(shape(last(chat)), ['step-start', `tool-${navigate.name}`, 'step-start', 'text']);
  assert.equal(chat.posted.length, 2);
  assert.equal(chat.posted[1].messageId, last(chat).id);
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], 'call_nav')), { shown: 'orders' });
  assertLegal(model.requests[1]);
  return chat;
});

scenario('client tool fails in the page', async (ai) => {
  const { fillForm } = tools;
  model.script({ calls: [call(fillForm, 'call_form')] }, { text: 'That did not work.' });
  const chat = openChat(ai, app.api, {
    pageTools: {
      [fillForm.name]: () => {
        throw new Error('no such field');
      },
    },
  });
  await chat.sendMessage({ text: 'Fill the form' });
  await until(() => chat.status === 'ready' && textOf(last(chat)) !== '', 'the run continues after the error of the page');
  assert.equal(toolParts(last(chat))[0].state, 'output-error');
  assert.match(outputOf(model.requests[1], 'call_form'), /no such field/);
  return chat;
});

scenario('server and client tools in one step', async (ai) => {
  const { lookUp, navigate, search } = tools;
  model.script(
    { calls: [call(lookUp, 'call_1'), call(navigate, 'call_2'), call(search, 'call_3')] },
    { text: 'All three are done.' },
  );
  const chat = openChat(ai, app.api, { pageTools: { [navigate.name]: () => 'moved' } });
  await chat.sendMessage({ text: 'Do all of it' });
  await until(() => chat.status === 'ready' && textOf(last(chat)) !== '', 'the run continues with all results');
  assert.equal(chat.messages.length, 2);
  assert.deepEqual(
    toolParts(last(chat)).map((part) => [part.toolCallId, part.state]),
    [['call_1', 'output-available'], ['call_2', 'output-available'], ['call_3', 'output-available']],
  );
  assert.equal(model.requests.length, 2, 'the model receives one request with all results');
  assertLegal(model.requests[1]);
  assert.match(outputOf(model.requests[1], 'call_2'), /moved/);
  return chat;
});

scenario('tool error', async (ai) => {
  const { lookUp } = tools;
  model.script({ calls: [call(lookUp, 'call_r', { order_id: 7 })] }, { text: 'There is none.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Where is order 7?' });
  const [part] = toolParts(last(chat));
  assert.equal(part.state, 'output-error');
  assert.match(part.errorText, /order 7/);
  assert.ok(model.requests.at(-1).raw.includes(part.errorText), 'the model receives the same reason');
  assert.equal(textOf(last(chat)), 'There is none.', 'the run continues');
  assert.equal(chat.status, 'ready');
  return chat;
});

scenario('arguments that do not match the schema', async (ai) => {
  const { lookUp } = tools;
  model.script(
    { calls: [call(lookUp, 'call_x', { nonsense: true })] },
    { calls: [call(lookUp, 'call_y')] },
    { text: 'Found.' },
  );
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Look' });
  const [bad, good] = toolParts(last(chat));
  assert.equal(bad.state, 'output-error');
  assert.ok(bad.errorText.length > 10, 'the client receives the reason');
  assert.equal(good.state, 'output-available');
  assert.ok(outputOf(model.requests[1], 'call_x').length > 10, 'the model receives the reason');
  assert.equal(textOf(last(chat)), 'Found.');
  return chat;
});

scenario('arguments that are not JSON', async (ai) => {
  model.script({ calls: [call(tools.lookUp, 'call_x', '{"order_id": 1001')] }, { text: 'Sorry.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Look' });
  assert.equal(toolParts(last(chat))[0].state, 'output-error');
  assert.equal(textOf(last(chat)), 'Sorry.');
  assertLegal(model.requests[1]);
  return chat;
});

scenario('unknown tool', async (ai) => {
  model.script({ calls: [{ id: 'call_u', name: 'delete_everything', args: {} }] }, { text: 'There is no such tool.' });
  const chat = openChat(ai, app.api, { pageTools: {} });
  await chat.sendMessage({ text: 'Delete' });
  const parts = toolParts(last(chat));
  assert.equal(parts.length, 1);
  assert.equal(parts[0].state, 'output-error');
  assert.equal(textOf(last(chat)), 'There is no such tool.');
  assert.equal(chat.posted.length, 1, 'the client has no call to answer');
  return chat;
});

scenario('preliminary outputs', async (ai) => {
  const { slow } = tools;
  model.script({ calls: [call(slow, 'call_s')] }, { text: 'The report is ready.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Export a report' });
  const states = chat.seen.flatMap((message) => toolParts(message)).filter((part) => part.state === 'output-available');
  const early = states.filter((part) => part.preliminary === true);
  assert.ok(new Set(early.map((part) => JSON.stringify(part.output))).size >= 2, 'the page receives several preliminary outputs');
  const final = toolParts(last(chat))[0];
  assert.notEqual(final.preliminary, true);
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], 'call_s')), final.output, 'the model receives only the last output');
  return chat;
});

scenario('stop, and the next message works', async (ai) => {
  model.script({ text: 'This answer never ends', end: 'hang' }, { text: 'Fine.' });
  const chat = openChat(ai, app.api);
  const sending = chat.sendMessage({ text: 'Tell me a long story' });
  await until(() => chat.messages.length === 2 && textOf(last(chat)).includes('never ends'), 'the text arrives');
  const stopped = performance.now();
  await chat.stop();
  await sending;
  assert.equal(chat.status, 'ready');
  assert.equal(chat.errors.length, 0);
  await until(() => model.requests[0].closedAt, 'the connection to the model is closed', 2_000);
  const took = model.requests[0].closedAt - stopped;
  assert.ok(took <= 250, `the model's connection closed ${took.toFixed(0)} ms after the stop`);
  await chat.sendMessage({ text: 'Never mind' });
  assert.equal(textOf(last(chat)), 'Fine.');
  assert.ok(JSON.stringify(model.requests[1].body.input).includes('This answer never ends'), 'the text before the stop is kept');
  return chat;
});

scenario('stop while a server tool runs', async (ai) => {
  const { slow } = tools;
  model.script({ calls: [call(slow, 'call_s')] }, { text: 'Fine.' });
  const chat = openChat(ai, app.api);
  const sending = chat.sendMessage({ text: 'Export a report' });
  await until(() => chat.messages.length === 2 && toolParts(last(chat)).some((part) => part.preliminary), 'the tool runs');
  await chat.stop();
  await sending;
  await chat.sendMessage({ text: 'Never mind' });
  assert.equal(chat.status, 'ready');
  assert.equal(textOf(last(chat)), 'Fine.');
  assertLegal(model.requests[1]);
  return chat;
});

scenario('stop over HTTP between a tool result and the next step', async (ai) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  model.script({ calls: [call(tools.lookUp, 'call_a')] }, { text: 'Late', hold: () => held }, { text: 'Fine.' });
  const chat = openChat(ai, app.api, { sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls });
  // The state of React keeps copies: it shows what is written, and not what a message has become since.
  const { state } = chat;
  const replace = state.replaceMessage.bind(state);
  state.replaceMessage = (index, message) => replace(index, structuredClone(message));
  const sending = chat.sendMessage({ text: 'Where is my order?' });
  await until(() => model.requests.length === 2 && toolParts(last(chat))[0]?.state === 'output-available', 'the model is asked again');
  const stopped = await post(`${app.api}/${chat.id}/stop`, '{}');
  assert.equal((await stopped.json()).stopped, true);
  await sending;
  release();
  assert.equal(chat.status, 'ready');
  assert.equal(chat.posted.length, 1, 'the client does not go on by itself');
  await chat.sendMessage({ text: 'Never mind' });
  assert.equal(textOf(last(chat)), 'Fine.');
  assertLegal(model.requests.at(-1));
  return chat;
});

scenario('regenerate', async (ai) => {
  model.script({ text: 'First try.' }, { text: 'Second try.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Say something' });
  await chat.regenerate();
  assert.equal(chat.posted[1].trigger, 'regenerate-message');
  assert.equal(chat.messages.length, 2);
  assert.equal(textOf(last(chat)), 'Second try.');
  assert.ok(!model.requests[1].raw.includes('First try.'), 'the old answer is not sent');
  return chat;
});

scenario('edit an earlier message', async (ai) => {
  model.script({ text: 'One.' }, { text: 'Two.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'First wording' });
  await chat.sendMessage({ text: 'Better wording', messageId: chat.messages[0].id });
  assert.equal(chat.messages.length, 2);
  assert.equal(textOf(last(chat)), 'Two.');
  assert.ok(!model.requests[1].raw.includes('First wording'));
  return chat;
});

scenario('error before the answer', async (ai) => {
  model.script({ before: { status: 400, body: { error: { message: CANARY, code: 'bad_thing' } } } });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.status, 'error');
  assert.ok(chat.error.message.length > 10, chat.error.message);
  assert.ok(!chat.error.message.includes(CANARY) && !chat.error.message.includes('canary'), 'the sentence is safe');
  return chat;
});

scenario('error within the answer', async (ai) => {
  model.script({ text: 'So far so good', end: 'error' }, { text: 'Back again.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.status, 'error');
  assert.equal(textOf(last(chat)), 'So far so good', 'the text before the error is kept');
  assert.ok(!chat.error.message.includes(CANARY));
  assert.match(last(chat).metadata?.error?.code ?? '', /^[a-z_]+$/, 'the error has a code');
  await chat.sendMessage({ text: 'And now?' });
  assert.equal(textOf(last(chat)), 'Back again.');
  return chat;
});

scenario('the connection to the model breaks', async (ai) => {
  model.script({ text: 'I was about to say', end: 'cut' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.status, 'error', 'the client reports a cut answer as an error');
  assert.equal(textOf(last(chat)), 'I was about to say');
  return chat;
});

scenario('a call that was cut off never runs', async (ai) => {
  const { ticket } = tools;
  model.script({ calls: [call(ticket, 'call_cut')], end: 'length' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Open a ticket' });
  const [part] = toolParts(last(chat));
  assert.notEqual(part?.state, 'output-available', 'a call that the model did not finish must not run');
  return chat;
});

scenario('new message while a client tool is unanswered', async (ai) => {
  model.script({ calls: [call(tools.navigate, 'call_open')] }, { text: 'All right.' });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Show me the orders' });
  assert.equal(toolParts(last(chat))[0].state, 'input-available');
  await chat.sendMessage({ text: 'Forget it' });
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.equal(textOf(last(chat)), 'All right.');
  assertLegal(model.requests[1]);
  return chat;
});

scenario('the page does not receive calls of server tools', async (ai) => {
  model.script({ calls: [call(tools.lookUp, 'call_s')] }, { text: 'Done.' });
  const chat = openChat(ai, app.api, { pageTools: Object.fromEntries(pageTools.map((name) => [name, () => 'x'])) });
  await chat.sendMessage({ text: 'Where is it?' });
  assert.equal(chat.posted.length, 1, 'the page answers no call and posts nothing');
  return chat;
});

scenario('usage', async (ai) => {
  model.script({ text: 'Counted.', usage: { input: 1234, cached: 100, output: 56, reasoning: 7 } });
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Count' });
  assert.deepEqual(last(chat).metadata?.usage, {
    inputTokens: 1234,
    outputTokens: 56,
    totalTokens: 1290,
    cachedInputTokens: 100,
    reasoningTokens: 7,
  });
  return chat;
});

scenario('history passes the official validation', async (ai, version) => {
  model.script(
    { reasoning: 'Hm.', encrypted: 'abc', calls: [call(tools.lookUp, 'call_1'), call(tools.lookUp, 'call_2', { bad: 1 })] },
    { text: 'Done.' },
  );
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: 'Where is it?' });
  const result = await ai.safeValidateUIMessages({ messages: structuredClone(chat.messages) });
  assert.equal(result.success, true, `${version}: ${result.error}`);
  return chat;
});

// Questions of an MCP server (elicitation) in the official clients: the official server asks for thirteen fields.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai } from '../lib/quickstart.mjs';
import { startServer } from '../lib/server.mjs';
import { generations, openAgent, say, takeComplaints, textOf as agentText, wrongWith } from './ag-ui.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { assertLegal, outputOf } from './kept.mjs';
import { ASKING, whenAnswered } from './ledger.mjs';

// The core connects only in a browser.
globalThis.window ??= globalThis;
const { CopilotKitCore, ɵInterruptState: InterruptState } = await import('@copilotkit/core');

const everything = '../../omniassist-mcp/tests/client/official/node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const script = fileURLToPath(new URL(everything, import.meta.url));

let model;
let desk;
const start = () => startServer('MCP_SERVED_BIN', {
  PATH: process.env.PATH,
  ...openai('openai', model.baseUrl),
  OMNIASSIST_SEAL_KEYS: `k1:${'ab'.repeat(32)}`,
}, '0', ['desk', script]);

before(async () => {
  model = await startFakeOpenAi();
  desk = await start();
});
after(async () => {
  await desk?.stop();
  await model?.stop();
});
beforeEach(() => takeComplaints());

const TOOL = 'npm_trigger-elicitation-request';
const answer = { name: 'Ann', integer: 7, titledMultipleSelectEnum: ['fish-2'] };
const ask = () => model.script({ calls: [{ id: 'call_1', name: TOOL, args: {} }] }, { text: 'Thank you, Ann.' });

/** Checks what the model was sent after the answer: the result of the same call. */
function checkResult(pattern) {
  const [, second] = model.requests;
  assertLegal(second);
  assert.match(outputOf(second, 'call_1'), pattern);
}

for (const version of ASKING) {
  const ai = versions[version];
  const open = (server, init) => openChat(ai, `${server.origin}/assistant?ai-sdk=${version.slice(1)}`, {
    id: `chat-${randomUUID()}`, sendAutomaticallyWhen: whenAnswered(ai), ...init,
  });
  const formOf = (chat) => toolParts(last(chat)).find((part) => part.state === 'input-available' && part.input.schema);
  const fill = (chat, form, output) =>
    chat.addToolOutput({ tool: form.type.slice('tool-'.length), toolCallId: form.toolCallId, ...output });

  test(`${version} · the question of an MCP server is a form, and its answer is sent by itself`, async () => {
    ask();
    const chat = open(desk);
    await chat.sendMessage({ text: 'Register me' });
    assert.equal(chat.status, 'ready', chat.error?.message);
    const form = formOf(chat);
    assert.equal(form.input.message, 'The server “npm” asks:\nPlease provide inputs for the following fields:');
    assert.equal(Object.keys(form.input.schema.properties).length, 13);
    assert.equal(model.requests.length, 1);
    await fill(chat, form, { output: answer });
    await until(() => chat.status === 'ready' && textOf(last(chat)).endsWith('Thank you, Ann.'), 'the answer');
    checkResult(/Name: Ann.*Favorite Integer: 7/s);
    assert.deepEqual([chat.messages.length, chat.errors], [2, []]);
  });

  test(`${version} · the question of an MCP server is declined`, async () => {
    ask();
    const chat = open(desk);
    await chat.sendMessage({ text: 'Register me' });
    await fill(chat, formOf(chat), { state: 'output-error', errorText: 'The user closed the form.' });
    await until(() => chat.status === 'ready' && textOf(last(chat)).endsWith('Thank you, Ann.'), 'the answer');
    checkResult(/User declined/);
  });

  test(`${version} · a call that its server holds open is lost with it, and the model learns so`, async () => {
    ask();
    const gone = await start();
    const chat = open(gone);
    await chat.sendMessage({ text: 'Register me' });
    await gone.kill();
    const elsewhere = open(desk, { id: chat.id, messages: chat.messages });
    await fill(elsewhere, formOf(elsewhere), { output: answer });
    await until(() => elsewhere.status === 'ready' && textOf(last(elsewhere)).endsWith('Thank you, Ann.'), 'the answer');
    checkResult(/was lost\. The server may or may not have acted/);
  });
}

for (const [generation, lib] of Object.entries(generations)) {
  test(`AG-UI ${generation} · the question of an MCP server is an interrupt`, async () => {
    ask();
    const agent = openAgent(lib, `${desk.origin}/assistant/ag-ui`);
    await say(agent, 'Register me');
    const [form] = agent.pendingInterrupts;
    assert.equal(form.message, 'The server “npm” asks:\nPlease provide inputs for the following fields:');
    await agent.runAgent({ resume: [{ interruptId: form.id, status: 'resolved', payload: answer }] });
    assert.equal(agentText(agent), 'Thank you, Ann.');
    checkResult(/Name: Ann.*Favorite Integer: 7/s);
    assert.deepEqual(agent.wire.flatMap((event) => wrongWith(generation, event)), []);
    assert.deepEqual(takeComplaints(), []);
  });
}

test('CopilotKit · the question of an MCP server is an interrupt', async () => {
  ask();
  const core = new CopilotKitCore({ runtimeUrl: `${desk.origin}/assistant/copilotkit` });
  await until(() => core.runtimeConnectionStatus === 'connected', 'the core is connected');
  const agent = core.getAgent('default');
  agent.addMessage({ id: randomUUID(), role: 'user', content: 'Register me' });
  await core.runAgent({ agent });
  const [form] = agent.pendingInterrupts;
  assert.equal(form.message, 'The server “npm” asks:\nPlease provide inputs for the following fields:');
  const state = new InterruptState();
  state.setStandard(agent.pendingInterrupts);
  await core.runAgent({ agent, resume: state.resolve(answer).resume });
  assert.equal(agentText(agent), 'Thank you, Ann.');
  checkResult(/Name: Ann.*Favorite Integer: 7/s);
  assert.deepEqual(takeComplaints(), []);
});

// Agents that others ask and that wait for the user, with the official clients.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';

import { signedIn, startBackOffice } from '../lib/back-office.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { generations, openAgent, say, takeComplaints, textOf as agentText, wrongWith } from './ag-ui.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { assertLegal, outputOf } from './kept.mjs';
import { ASKING, whenAnswered } from './ledger.mjs';

// The core connects only in a browser.
globalThis.window ??= globalThis;
const { CopilotKitCore, ɵInterruptState: InterruptState } = await import('@copilotkit/core');

let model;
let app;
const keys = { OMNIASSIST_SEAL_KEYS: `k1:${'ab'.repeat(32)}` };
before(async () => {
  model = await startFakeOpenAi();
  app = await startBackOffice(model, keys);
});
after(async () => {
  await app?.stop();
  await model?.stop();
});
beforeEach(() => {
  model.script();
  takeComplaints();
});

const refund = { name: 'refund_order', args: { order_id: 1004, amount: 110 } };
const question = { name: 'requestInput', args: {
  message: 'Why?',
  schema: { type: 'object', properties: { reason: { type: 'string' } }, required: ['reason'] },
} };
/** The lead asks the cashier, whose calls wait for the user. All models give their first call the same id. */
const conversation = (...waiting) => [
  { calls: [{ id: 'call_1', name: 'cashier', args: { task: 'Refund 110 euros of order 1004.' } }] },
  { calls: waiting.map((call, at) => ({ id: `call_${at + 1}`, ...call })) },
  { text: 'I have refunded it.' },
  { text: 'It is refunded.' },
];
const partOf = (chat, name) => toolParts(last(chat)).find((part) => part.type === `tool-${name}`);

/** Checks what the models were sent after an answer. */
function checkAnswer(answered, result) {
  const [cashier, lead] = answered;
  assert.match(cashier.body.instructions, /You are a cashier/);
  assertLegal(cashier);
  assertLegal(lead);
  assert.match(outputOf(cashier, 'call_1'), result);
  assert.match(outputOf(lead, 'call_1'), /I have refunded it/);
  assert.ok(!lead.raw.includes('refund_order'), 'the model of the lead sees no call of the cashier');
}

for (const version of ASKING) {
  const ai = versions[version];
  const open = (init) => openChat(ai, `${app.api}/agents/lead?ai-sdk=${version.slice(1)}`, {
    headers: signedIn('ada'), id: `chat-${randomUUID()}`, sendAutomaticallyWhen: whenAnswered(ai), ...init,
  });

  test(`${version} · the approval of an asked agent's call is shown, and its answer is sent by itself`, async () => {
    model.script(...conversation(refund));
    const chat = open();
    await chat.sendMessage({ text: 'Refund order 1004' });
    assert.equal(chat.status, 'ready', chat.error?.message);
    const asked = partOf(chat, 'refund_order');
    assert.deepEqual([asked.state, asked.input], ['approval-requested', refund.args]);
    assert.equal(partOf(chat, 'cashier').state, 'input-available');
    const agent = () => last(chat).parts.find((part) => part.type === 'data-agent').data;
    assert.deepEqual([agent().name, agent().status], ['cashier', 'waiting']);
    assert.equal(model.requests.length, 2);

    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await until(() => chat.status === 'ready' && textOf(last(chat)).endsWith('It is refunded.'), 'the answer');
    checkAnswer(model.requests.slice(2), /1004/);
    assert.deepEqual([partOf(chat, 'refund_order').state, partOf(chat, 'cashier').state, agent().status],
      ['output-available', 'output-available', 'completed']);
    assert.equal(last(chat).parts.filter((part) => part.type === 'data-agent').length, 1);
    assert.deepEqual([chat.messages.length, chat.errors], [2, []]);

    model.script({ text: 'You are welcome.' });
    await chat.sendMessage({ text: 'Thanks' });
    assert.equal(textOf(last(chat)), 'You are welcome.');
    assertLegal(model.requests[0]);
    assert.ok(!model.requests[0].raw.includes('refund_order'));
  });

  test(`${version} · a denied call of an asked agent does not run`, async () => {
    model.script(...conversation(refund));
    const chat = open();
    await chat.sendMessage({ text: 'Refund order 1004' });
    await chat.addToolApprovalResponse({ id: partOf(chat, 'refund_order').approval.id, approved: false, reason: 'No.' });
    await until(() => chat.status === 'ready' && textOf(last(chat)).endsWith('It is refunded.'), 'the answer');
    checkAnswer(model.requests.slice(2), /No\./);
    assert.equal(partOf(chat, 'refund_order').state, 'output-denied');
  });

  test(`${version} · the form of an asked agent is filled in after its server was killed`, async () => {
    model.script(...conversation(question));
    const gone = await startBackOffice(model, keys);
    const chat = openChat(ai, `${gone.api}/agents/lead?ai-sdk=${version.slice(1)}`, {
      headers: signedIn('ada'), id: `chat-${randomUUID()}`,
    });
    await chat.sendMessage({ text: 'Refund order 1004' });
    await gone.kill();
    const form = partOf(chat, 'requestInput');
    assert.deepEqual([form.state, form.input.message], ['input-available', 'Why?']);
    const elsewhere = openChat(ai, `${app.api}/agents/lead?ai-sdk=${version.slice(1)}`, {
      headers: signedIn('ada'), id: chat.id, messages: chat.messages, sendAutomaticallyWhen: whenAnswered(ai),
    });
    const output = { reason: 'It was broken.' };
    await elsewhere.addToolOutput({ tool: 'requestInput', toolCallId: form.toolCallId, output });
    await until(() => elsewhere.status === 'ready' && textOf(last(elsewhere)).endsWith('It is refunded.'), 'the answer');
    checkAnswer(model.requests.slice(2), /It was broken/);
  });

  test(`${version} · the other question of a page goes on without the agent that waits`, async () => {
    model.script(...conversation(refund));
    const chat = open();
    await chat.sendMessage({ text: 'Refund order 1004' });
    model.script({ text: 'Not yet.' });
    await chat.sendMessage({ text: 'Is it refunded?' });
    assert.equal(textOf(last(chat)), 'Not yet.', chat.error?.message);
    assertLegal(model.requests[0]);
  });
}

test('v5 · an agent learns that the client has no approvals', async () => {
  model.script(...conversation(refund));
  const chat = openChat(versions.v5, `${app.api}/agents/lead?ai-sdk=5`, { headers: signedIn('ada'), id: randomUUID() });
  await chat.sendMessage({ text: 'Refund order 1004' });
  assert.equal(textOf(last(chat)), 'It is refunded.');
  assert.match(outputOf(model.requests[2], 'call_1'), /cannot ask/);
});

for (const [generation, lib] of Object.entries(generations)) {
  test(`AG-UI ${generation} · an asked agent waits for an approval and a form`, async () => {
    model.script(...conversation(refund, question));
    const agent = openAgent(lib, `${app.api}/agents/lead/ag-ui`, { headers: signedIn('ada') });
    await say(agent, 'Refund order 1004');
    const [approval, form] = agent.pendingInterrupts;
    assert.deepEqual([approval.message, form.message], ['Refund more than 100 EUR?\n110 EUR for order 1004', 'Why?']);
    await agent.runAgent({ resume: [
      { interruptId: approval.id, status: 'resolved', payload: { approved: true } },
      { interruptId: form.id, status: 'resolved', payload: { reason: 'It was broken.' } },
    ] });
    const ofRun = agent.messages.filter((message) => !message.subagentRunId);
    assert.equal(agentText({ messages: ofRun }), 'It is refunded.');
    checkAnswer(model.requests.slice(2), /1004/);
    assert.match(outputOf(model.requests[2], 'call_2'), /It was broken/);
    assert.deepEqual(agent.wire.flatMap((event) => wrongWith(generation, event)), []);

    model.script({ text: 'You are welcome.' });
    await say(agent, 'Thanks');
    assertLegal(model.requests[0]);
    assert.ok(!model.requests[0].raw.includes('refund_order'));
    assert.deepEqual(takeComplaints(), []);
  });
}

test('CopilotKit · an asked agent waits for an approval', async () => {
  const core = new CopilotKitCore({ runtimeUrl: `${app.api}/copilotkit`, headers: signedIn('ada') });
  await until(() => core.runtimeConnectionStatus === 'connected', 'the core is connected');
  model.script(...conversation(refund));
  const agent = core.getAgent('lead');
  agent.addMessage({ id: randomUUID(), role: 'user', content: 'Refund order 1004' });
  await core.runAgent({ agent });
  const state = new InterruptState();
  state.setStandard(agent.pendingInterrupts);
  const decision = state.resolve({ approved: true });
  await core.runAgent({ agent, resume: decision.resume });
  assert.equal(agentText(agent), 'It is refunded.');
  checkAnswer(model.requests.slice(2), /1004/);
  assert.deepEqual(takeComplaints(), []);
});

// Named agents, and agents that others ask, with the official clients.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';

import { signedIn, startBackOffice } from '../lib/back-office.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { generations, lastOf, openAgent, say, takeComplaints, textOf as agentText, wrongWith } from './ag-ui.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { openClient, packages } from './openai-clients.mjs';
import { get, post, user } from './wire.mjs';

// The core connects only in a browser.
globalThis.window ??= globalThis;
const { CopilotKitCore } = await import('@copilotkit/core');

let model;
let app;
before(async () => {
  model = await startFakeOpenAi();
  app = await startBackOffice(model);
});
after(async () => {
  await app?.stop();
  await model?.stop();
});
beforeEach(() => {
  model.script();
  takeComplaints();
});

const task = (id, text) => ({ id, name: 'clerk', args: { task: text } });
/** The lead asks a clerk, who looks up an order, and answers. */
const conversation = () => [
  { calls: [task('call_lead', 'Where is order 1001?')] },
  { calls: [{ id: 'call_clerk', name: 'order_status', args: { order_id: 1001 } }] },
  { text: 'Order 1001 is on its way.' },
  { text: 'It is on its way.' },
];
const offered = ({ body }) => (body.tools ?? []).map((tool) => tool.name);

/** Checks what the model was sent by the run of `conversation`. */
function checkRequests(requests) {
  const [lead, clerk, , again] = requests;
  assert.match(lead.body.instructions, /You lead clerks/);
  assert.ok(offered(lead).includes('clerk'), offered(lead));
  assert.match(clerk.body.instructions, /You are a clerk/);
  assert.deepEqual(offered(clerk).sort(), ['list_customers', 'order_status']);
  assert.ok(clerk.raw.includes('Where is order 1001?') && !clerk.raw.includes('a parcel'), clerk.raw);
  assert.ok(again.raw.includes('Order 1001 is on its way.'), again.raw);
}

for (const [version, ai] of Object.entries(versions)) {
  test(`${version} · useChat talks to an agent at /api/run/:agentId, and sees the agent that it asks`, async () => {
    model.script(...conversation());
    const transient = [];
    const chat = openChat(ai, `${app.api}/api/run/lead?ai-sdk=${version.slice(1)}`, {
      headers: signedIn('ada'), id: `chat-${randomUUID()}`, onData: (part) => transient.push(part),
    });
    await chat.sendMessage({ text: 'Is a parcel lost?' });
    assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'It is on its way.']);
    checkRequests(model.requests);

    const [call] = toolParts(last(chat));
    assert.deepEqual([call.state, call.output.status, call.output.result],
      ['output-available', 'completed', 'Order 1001 is on its way.']);
    const agents = last(chat).parts.filter((part) => part.type === 'data-agent');
    assert.equal(agents.length, 1, 'the end of an agent replaces its beginning');
    const { name, status, depth, parentId, toolCallId } = agents[0].data;
    assert.deepEqual([name, status, depth, parentId, toolCallId], ['clerk', 'completed', 1, null, call.toolCallId]);
    const deltas = transient.filter((part) => part.type === 'data-agent-delta').map((part) => part.data);
    const written = deltas.filter((delta) => delta.type === 'text').map((delta) => delta.delta).join('');
    assert.equal(written, 'Order 1001 is on its way.');
    assert.ok(deltas.some((delta) => delta.type === 'tool-call' && delta.toolName === 'order_status'), deltas);
    assert.ok(!JSON.stringify(chat.messages).includes('agent-delta'));

    // The page posts the work of the agent back, and the chat goes on.
    model.script({ text: 'You are welcome.' });
    await chat.sendMessage({ text: 'Thanks' });
    assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'You are welcome.']);
    assert.ok(model.requests[0].raw.includes('Order 1001 is on its way.'), model.requests[0].raw);
  });

  test(`${version} · stop ends the agent that was asked`, async () => {
    model.script({ calls: [task('call_1', 'Wait')] }, { text: 'I wait', end: 'hang' });
    const chat = openChat(ai, `${app.api}/agents/lead?ai-sdk=${version.slice(1)}`, {
      headers: signedIn('ada'), id: `chat-${randomUUID()}`,
    });
    const sent = chat.sendMessage({ text: 'Wait' });
    await until(() => model.requests.length === 2, 'the agent is asked');
    const since = performance.now();
    await chat.stop();
    await sent;
    await until(() => model.requests[1].closedAt !== null, 'the call of the agent is closed');
    assert.ok(model.requests[1].closedAt - since < 1000, `${model.requests[1].closedAt - since} ms`);
  });
}

/** The lead hands the conversation off to the auditor, who answers. */
const handedOff = () => [
  { calls: [{ id: 'call_off', name: 'transfer_to_auditor', args: { reason: 'A review.' } }] },
  { text: 'No refund was given.' },
];

for (const [version, ai] of Object.entries(versions)) {
  test(`${version} · another agent goes on with the answer, and keeps the chat`, async () => {
    model.script(...handedOff());
    const chat = openChat(ai, `${app.api}/agents/lead?ai-sdk=${version.slice(1)}`, {
      headers: signedIn('ada'), id: `chat-${randomUUID()}`,
    });
    await chat.sendMessage({ text: 'Review the refunds of order 1001.' });
    assert.deepEqual([chat.status, textOf(last(chat)), chat.messages.length], ['ready', 'No refund was given.', 2]);
    const [data] = last(chat).parts.filter((part) => part.type === 'data-agent-handoff');
    assert.deepEqual(data.data, { from: 'lead', to: 'auditor' });
    assert.match(model.requests[1].body.instructions, /You review refunds/);

    model.script({ text: 'Yes.' });
    await chat.sendMessage({ text: 'Are you sure?' });
    assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'Yes.']);
    assert.match(model.requests[0].body.instructions, /You review refunds/);
    assert.deepEqual(offered(model.requests[0]).sort(), ['list_customers', 'order_status']);
  });
}

for (const [version, ai] of Object.entries(versions)) {
  test(`${version} · useChat talks to an agent that is a file, at /api/run/sales`, async () => {
    model.script(
      { calls: [{ id: 'call_1', name: 'order_status', args: { order_id: 1001 } }, task('call_2', 'Find her')] },
      { text: 'She lives in Berlin.' },
      { text: 'It is on its way to Berlin.' },
    );
    const chat = openChat(ai, `${app.api}/api/run/sales?ai-sdk=${version.slice(1)}`, {
      headers: signedIn('vera'), id: `chat-${randomUUID()}`,
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
    });
    await chat.sendMessage({ text: 'Where is my parcel?' });
    assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'It is on its way to Berlin.']);
    const [sales, clerk] = model.requests;
    assert.match(sales.body.instructions, /You answer customers of the lamp shop in one sentence/);
    assert.match(clerk.body.instructions, /You are a clerk/);
    // Version 5 has forms too: they are front-end tools.
    assert.deepEqual(offered(sales).sort(), ['clerk', 'order_status', 'requestInput']);
    assert.deepEqual(toolParts(last(chat)).map((part) => part.state), ['output-available', 'output-available']);

    // The page shows the form of `requestInput`, and posts what the user enters.
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    model.script(
      { calls: [{ id: 'call_3', name: 'requestInput', args: { message: 'Which city?', schema } }] },
      { text: 'To Oslo, then.' },
    );
    await chat.sendMessage({ text: 'I have moved' });
    const form = toolParts(last(chat)).at(-1);
    assert.deepEqual([form.state, form.input.message], ['input-available', 'Which city?']);
    await chat.addToolResult({ tool: 'requestInput', toolCallId: form.toolCallId, output: { city: 'Oslo' } });
    await until(() => chat.status === 'ready' && textOf(last(chat)).includes('To Oslo, then.'), 'the form is answered');
    assert.ok(model.requests.at(-1).raw.includes('Oslo'));
  });
}

for (const [generation, lib] of Object.entries(generations)) {
  test(`AG-UI ${generation} · another agent goes on with the answer, and keeps the chat`, async () => {
    model.script(...handedOff());
    const agent = openAgent(lib, `${app.api}/agents/lead/ag-ui`, { headers: signedIn('ada') });
    await say(agent, 'Review the refunds of order 1001.');
    assert.equal(lastOf(agent, 'assistant').content, 'No refund was given.');
    model.script({ text: 'Yes.' });
    await say(agent, 'Are you sure?');
    assert.match(model.requests[0].body.instructions, /You review refunds/);
    assert.deepEqual(takeComplaints(), []);
  });

  test(`AG-UI ${generation} · an agent answers at its own route`, async () => {
    model.script(...conversation());
    const agent = openAgent(lib, `${app.api}/agents/lead/ag-ui`, { headers: signedIn('ada') });
    await say(agent, 'Is a parcel lost?');
    const ofRun = agent.messages.filter((message) => !message.subagentRunId);
    assert.equal(agentText({ messages: ofRun }), 'It is on its way.');
    checkRequests(model.requests);
    const ofAgents = agent.messages.filter((message) => message.subagentRunId);
    const shown = generation === '1.0.0' ? ['Order 1001 is on its way.'] : [];
    assert.deepEqual(ofAgents.map((message) => message.content), shown);
    assert.deepEqual(agent.wire.flatMap((event) => wrongWith(generation, event)), []);

    // The client posts the messages of the agent back, and the conversation has none of them.
    model.script({ text: 'You are welcome.' });
    await say(agent, 'Thanks');
    assert.equal(lastOf(agent, 'assistant').content, 'You are welcome.');
    const assistants = model.requests[0].body.input.filter((item) => item.role === 'assistant');
    assert.deepEqual(assistants.map((item) => item.content[0].text), ['It is on its way.']);
    assert.deepEqual(takeComplaints(), []);
  });
}

for (const runtimeTransport of ['rest', 'single']) {
  test(`CopilotKit, ${runtimeTransport} · agents are known by name`, async () => {
    const errors = [];
    const core = new CopilotKitCore({
      runtimeUrl: `${app.api}/copilotkit`, runtimeTransport, headers: signedIn('vera'),
    });
    core.subscribe({ onError: ({ code, error }) => errors.push(`${code}: ${error.message}`) });
    await until(() => core.runtimeConnectionStatus === 'connected', 'the core is connected');
    assert.deepEqual(Object.keys(core.agents).sort(), ['clerk', 'default', 'lead', 'sales']);
    model.script(...conversation());
    const agent = core.getAgent('lead');
    agent.addMessage({ id: randomUUID(), role: 'user', content: 'Is a parcel lost?' });
    await core.runAgent({ agent });
    assert.equal(agentText(agent), 'It is on its way.');
    checkRequests(model.requests);
    assert.deepEqual([...errors, ...takeComplaints()], []);
  });
}

for (const [name, sdk] of Object.entries(packages)) {
  test(`${name} · agents are models`, async () => {
    const client = (member) => openClient(sdk, app.api, { apiKey: `${member}-token` });
    const listed = async (member) => (await client(member).models.list()).data.map((entry) => entry.id);
    assert.deepEqual(await listed('vera'), ['omniassist', 'omniassist/clerk', 'omniassist/lead', 'omniassist/sales']);
    assert.deepEqual(await listed('ada'), [
      'omniassist', 'omniassist/auditor', 'omniassist/clerk', 'omniassist/lead', 'omniassist/sales',
    ]);
    model.script(...conversation());
    const ask = { model: 'omniassist/lead', messages: [{ role: 'user', content: 'Is a parcel lost?' }] };
    const { choices } = await client('vera').chat.completions.create(ask);
    assert.equal(choices[0].message.content, 'It is on its way.');
    checkRequests(model.requests);
    await assert.rejects(client('vera').chat.completions.create({ ...ask, model: 'omniassist/auditor' }), { status: 404 });
  });
}

test('an agent that a member does not see is one that does not exist', async () => {
  const answer = async (agent, member) => {
    const response = await post(`${app.api}/api/run/${agent}`, { messages: [user('Hi')] }, signedIn(member));
    return [response.status, await response.text()];
  };
  const unknown = await answer('nobody', 'vera');
  assert.equal(unknown[0], 404);
  assert.deepEqual(await answer('auditor', 'vera'), unknown);
  assert.equal(model.requests.length, 0);
  model.script({ text: 'Nothing to review.' });
  assert.equal((await answer('auditor', 'ada'))[0], 200);

  const names = async (member) => {
    const { agents } = await (await get(`${app.api}/agents`, { headers: signedIn(member) })).json();
    return agents.map((agent) => agent.id);
  };
  assert.deepEqual(await names('vera'), ['clerk', 'lead', 'sales']);
  assert.deepEqual(await names('ada'), ['auditor', 'clerk', 'lead', 'sales']);
});

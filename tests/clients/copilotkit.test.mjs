// CopilotKit's own core, on which its React components are based, against the routes under /copilotkit, without a
// Node.js runtime in between.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';

// The core connects only in a browser.
globalThis.window ??= globalThis;

const { CopilotKitCore, ɵInterruptState: InterruptState } = await import('@copilotkit/core');
import { HttpAgent } from 'agui0';

import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startSharedCart } from '../lib/shared-cart.mjs';
import { takeComplaints, textOf, until, wrongWith } from './ag-ui.mjs';
import { get, post } from './wire.mjs';

let model;
let app;
let base;
/** The requests of the core, and the events of each stream. */
let requests;
let wire;

const realFetch = globalThis.fetch;

before(async () => {
  model = await startFakeOpenAi();
  app = await startSharedCart(openai(model.baseUrl));
  base = `${app.origin}/copilotkit`;
});
after(async () => {
  globalThis.fetch = realFetch;
  await app?.stop();
  await model?.stop();
});
beforeEach(() => {
  model.script();
  requests = [];
  wire = [];
  globalThis.fetch = async (target, options = {}) => {
    requests.push({ url: String(target?.url ?? target), method: options.method ?? 'GET', body: options.body });
    const response = await realFetch(target, options);
    if (!response.ok || !/event-stream/.test(response.headers.get('content-type'))) return response;
    const [read, kept] = response.body.tee();
    keep(kept).catch(() => {});
    return new Response(read, { status: response.status, headers: response.headers });
  };
});

async function keep(stream) {
  let text = '';
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const frames = text.split('\n\n');
    text = frames.pop();
    wire.push(...frames.filter((frame) => frame.startsWith('data:')).map((frame) => JSON.parse(frame.slice(5))));
  }
}

/** Runs a scenario over separate routes and over the single route. A warning or an error of the core fails it. */
function scenario(name, run, transports = ['rest', 'single']) {
  for (const transport of transports) {
    test(`${transport} · ${name}`, { timeout: 30_000 }, async () => {
      takeComplaints();
      const errors = [];
      const open = async (init = {}) => {
        const core = new CopilotKitCore({ runtimeUrl: base, runtimeTransport: transport, ...init });
        core.subscribe({ onError: ({ code, error }) => errors.push(`${code}: ${error.message}`) });
        await until(() => core.runtimeConnectionStatus === 'connected', 'the core is connected');
        return core;
      };
      const expected = (await run(open, transport)) ?? [];
      for (const event of wire) assert.deepEqual(wrongWith('0.0.59', event), [], JSON.stringify(event));
      const problems = [...errors, ...takeComplaints()].filter((words) => !expected.some((pattern) => pattern.test(words)));
      assert.deepEqual(problems, []);
    });
  }
}

/** Sends a message to an agent like the chat components. */
async function say(core, content, agent = core.getAgent('default')) {
  agent.addMessage({ id: randomUUID(), role: 'user', content });
  return core.runAgent({ agent });
}

const call = (id, name, args) => ({ id, name, args });
const outputOf = (request, id) =>
  request.body.input.find((item) => item.type === 'function_call_output' && item.call_id === id)?.output;

/** Parameters of a tool, in the form that the core takes from schema libraries. */
const parameters = (properties) => ({
  '~standard': {
    version: 1,
    vendor: 'suite',
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: 'object', properties }), output: () => ({ type: 'object', properties }) },
  },
});

scenario('info', async (open) => {
  const core = await open();
  assert.deepEqual(Object.keys(core.agents), ['default']);
  assert.equal(core.runtimeVersion, '1.74.0');
});

scenario('the core detects the transport', async (open) => {
  model.script({ text: 'Hello.' });
  const core = await open({ runtimeTransport: 'auto' });
  await say(core, 'Hi');
  assert.equal(textOf(core.getAgent('default')), 'Hello.');
  assert.ok(requests.some(({ url }) => url === `${base}/agent/default/run`));
}, ['rest']);

scenario('chat', async (open, transport) => {
  model.script({ text: 'First answer.' }, { text: 'Second answer.' });
  const core = await open({ properties: { tenant: 'a' } });
  const agent = core.getAgent('default');
  await say(core, 'First question');
  await say(core, 'Second question');
  assert.equal(textOf(agent), 'First answer.Second answer.');
  const input = JSON.stringify(model.requests[1].body.input);
  for (const said of ['First question', 'First answer.', 'Second question']) assert.ok(input.includes(said), said);
  const run = requests.filter(({ method }) => method === 'POST').at(-1);
  assert.equal(run.url, transport === 'rest' ? `${base}/agent/default/run` : base);
  const body = transport === 'rest' ? JSON.parse(run.body) : JSON.parse(run.body).body;
  assert.deepEqual(body.forwardedProps, { tenant: 'a' });
});

scenario('frontend tool', async (open) => {
  model.script({ text: 'Opening.', calls: [call('call_page', 'open_page', { to: '/teas' })] }, { text: 'You are there.' });
  const visited = [];
  const core = await open({
    tools: [{ name: 'open_page', description: 'Open a page', parameters: parameters({ to: { type: 'string' } }), handler: async (args) => (visited.push(args), { shown: args.to }) }],
  });
  await say(core, 'Show me the teas');
  assert.deepEqual(visited, [{ to: '/teas' }]);
  assert.equal(textOf(core.getAgent('default')), 'Opening.You are there.');
  assert.equal(outputOf(model.requests[1], 'call_page'), '{"shown":"/teas"}');
  assert.equal(model.requests.length, 2, 'the core sends one more request by itself');
});

scenario('server tool beside a handler for all tools', async (open) => {
  model.script({ calls: [call('call_tea', 'add_to_cart', { tea: 'Sencha', packs: 2 })] }, { text: 'Done.' });
  const handled = [];
  const core = await open({ tools: [{ name: '*', parameters: parameters({}), handler: async (args) => (handled.push(args), 'handled') }] });
  await say(core, 'Tea');
  assert.deepEqual(handled, [], 'the page does not run a server tool again');
  assert.deepEqual(core.getAgent('default').state, { cart: [{ tea: 'Sencha', packs: 2 }] });
});

scenario('context', async (open) => {
  model.script({ text: 'Here.' });
  const core = await open();
  core.addContext({ description: 'current_route', value: '/teas/canary-of-context' });
  await say(core, 'Where am I?');
  const { body } = model.requests[0];
  assert.ok(JSON.stringify(body.input).includes('canary-of-context'));
  assert.ok(!JSON.stringify(body.instructions).includes('canary-of-context'));
});

scenario('stop', async (open) => {
  model.script({ text: 'A long story', end: 'hang' }, { text: 'Another.' });
  const handled = [];
  const core = await open({ tools: [{ name: '*', parameters: parameters({}), handler: async (args) => (handled.push(args), 'handled') }] });
  const agent = core.getAgent('default');
  const run = say(core, 'Tell');
  await until(() => textOf(agent).includes('long'), 'the story begins');
  const stopped = performance.now();
  core.stopAgent({ agent });
  await run;
  await until(() => model.requests[0].closedAt !== null, 'the provider is hung up on');
  assert.ok(model.requests[0].closedAt - stopped < 1_000, 'within a second');
  assert.deepEqual(wire.at(-1), { type: 'RUN_ERROR', message: 'The user stopped the run.', code: 'STOPPED' });
  await say(core, 'Go on');
  assert.ok(textOf(agent).endsWith('Another.'));
  assert.deepEqual(handled, []);
});

scenario('a stop in the middle of a call', async (open) => {
  model.script({ text: 'Opening', calls: [call('call_a', 'open_page', '{"to":"/te'), call('call_b', 'open_page', '{"to":')], end: 'hang' });
  const visited = [];
  const core = await open({ tools: [{ name: 'open_page', parameters: parameters({}), handler: async (args) => (visited.push(args), 'shown') }] });
  const agent = core.getAgent('default');
  const run = say(core, 'Open');
  await until(() => agent.messages.some((message) => message.toolCalls?.length === 2), 'both calls begin');
  // Another page of the same user stops the run, so this page has no record of the stop.
  const answer = await post(`${base}/agent/default/stop/${agent.threadId}`, '{}');
  assert.equal((await answer.json()).stopped, true);
  await run;
  assert.deepEqual(visited, [], 'an incomplete call does not run');
  return [/The user stopped the run/];
});

scenario('the page closes', async (open) => {
  model.script({ text: 'A long story', end: 'hang' });
  const core = await open();
  const agent = core.getAgent('default');
  const run = say(core, 'Tell');
  await until(() => textOf(agent).includes('long'), 'the story begins');
  await agent.detachActiveRun();
  agent.abortController.abort();
  await run;
  await until(() => model.requests[0].closedAt !== null, 'the provider is hung up on');
});

scenario('connect', async (open) => {
  const core = await open();
  const agent = core.getAgent('default');
  agent.threadId = 'thread-of-yesterday';
  const { newMessages } = await core.connectAgent({ agent });
  assert.deepEqual(newMessages, []);
  model.script({ text: 'Hello.' });
  await say(core, 'Hi');
  assert.equal(textOf(agent), 'Hello.');
});

scenario('an approval', async (open) => {
  model.script({ calls: [call('call_pay', 'pay', { cents: 1980 })] }, { text: 'Paid.' }, { text: 'You did.' });
  const core = await open();
  const agent = core.getAgent('default');
  await say(core, 'Pay');
  // The same steps as in the hook for interrupts.
  const state = new InterruptState();
  state.setStandard(agent.pendingInterrupts);
  const decision = state.resolve({ approved: true });
  assert.equal(decision.kind, 'resume');
  assert.deepEqual(decision.toolResults, [], 'CopilotKit leaves the answer of the call to the server');
  await core.runAgent({ agent, resume: decision.resume });
  assert.equal(textOf(agent), 'Paid.');
  assert.equal(outputOf(model.requests[1], 'call_pay'), '{"paid":1980}');
  await say(core, 'Did I?');
  assert.equal(outputOf(model.requests[2], 'call_pay'), '{"paid":1980}');
});

scenario('suggestions', async (open, transport) => {
  const suggestions = [{ title: 'Pay', message: 'I want to pay.' }];
  model.script({ text: 'Hello.' }, { calls: [call('call_s', 'copilotkitSuggest', { suggestions })] });
  const core = await open({ suggestionsConfig: [{ instructions: 'Be helpful.' }] });
  await say(core, 'Hi');
  await until(() => {
    const { suggestions, isLoading } = core.getSuggestions('default');
    return suggestions.length > 0 && !isLoading;
  }, 'suggestions arrive');
  assert.deepEqual(core.getSuggestions('default').suggestions.map(({ title, message }) => ({ title, message })), suggestions);
  if (transport === 'rest') assert.ok(requests.some(({ url }) => url === `${base}/agent/default/suggest`));
  const { body } = model.requests[1];
  assert.deepEqual(body.tool_choice, { type: 'function', name: 'copilotkitSuggest' });
  assert.deepEqual(body.tools.map((tool) => tool.name), ['copilotkitSuggest'], 'server tools are not offered');
  assert.ok(JSON.stringify(body.input).includes('Hello.'));
});

scenario('a separate HttpAgent', async (open) => {
  model.script({ text: 'Hello.' });
  const direct = new HttpAgent({ url: `${app.origin}/ag-ui` });
  const core = new CopilotKitCore({ agents__unsafe_dev_only: { direct } });
  await say(core, 'Hi', core.getAgent('direct'));
  assert.equal(textOf(direct), 'Hello.');
}, ['rest']);

scenario('an unknown agent', async (open) => {
  const core = await open();
  const { agent } = core.registerProxiedAgent({ agentId: 'local', runtimeAgentId: 'nobody' });
  await say(core, 'Hi', agent ?? core.getAgent('local'));
  const errors = takeComplaints();
  assert.ok(errors.some((words) => words.includes('Agent not found')), errors.join('\n'));
  return [/Agent not found|404/];
});

test('unknown routes are not found', async () => {
  for (const path of ['memories', 'inspector-metadata', 'threads/x/messages', 'nothing']) {
    const response = await get(`${base}/${path}`);
    assert.deepEqual([response.status, (await response.json()).error], [404, 'Not found'], path);
  }
  const response = await get(`${base}/agent/default/run`);
  assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST']);
});

// Components with state in AG-UI's own HttpAgent, releases 0.0.59 and 1.0.0, against a shop with a scripted model.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { startScripted } from '../lib/fake-openai.mjs';
import { openai, startSharedCart } from '../lib/shared-cart.mjs';
import { generations, lastOf, openAgent, say, takeComplaints, textOf, wrongWith } from './ag-ui.mjs';
import { outputOf } from './kept.mjs';
import { post, readEvents } from './wire.mjs';

let model;
let app;

before(async () => {
  app = await startScripted(({ baseUrl }) => startSharedCart(openai(baseUrl)));
  ({ model } = app);
});
after(() => app?.stop());
beforeEach(() => model.script());

/** Runs one scenario with each client. A warning of a client, or an event that its schema refuses, fails it. */
function scenario(name, run) {
  for (const [generation, lib] of Object.entries(generations)) {
    test(`${generation} · ${name}`, { timeout: 30_000 }, async () => {
      takeComplaints();
      const agent = openAgent(lib, `${app.origin}/ag-ui`);
      await run(agent);
      await agent.reading;
      for (const event of agent.wire) assert.deepEqual(wrongWith(generation, event), [], JSON.stringify(event));
      assert.deepEqual(takeComplaints(), []);
    });
  }
}

const SENCHA = { tea: 'Sencha', text: 'Green tea from Japan.' };
const CARD = { calls: [{ id: 'call_card', name: 'ui_tea-card', args: SENCHA }] };
const offered = () => model.requests.at(-1).body.tools.map((tool) => tool.name).filter((name) => name.startsWith('ui_'));

/** Shows a card, and returns the id of its instance. */
async function shown(agent, parameters) {
  model.script(CARD, { text: 'There it is.' });
  await say(agent, 'Show me a tea', parameters);
  return JSON.parse(lastOf(agent, 'tool').content).instanceId;
}

/** Asks a question, and returns what the model was sent. */
async function asks(agent, question) {
  model.script({ text: 'I see.' });
  await say(agent, question);
  return model.requests[0].raw;
}

scenario('the state of a component is shared', async (agent) => {
  const id = await shown(agent);
  const deltas = agent.wire.filter((event) => event.type === 'STATE_DELTA').flatMap((event) => event.delta);
  assert.ok(deltas.some(({ path }) => path === `/ui/${id}` || path === '/ui'), JSON.stringify(deltas));
  const { seal, ...data } = agent.state.ui[id];
  assert.deepEqual(data, { component: 'tea-card', rev: 0, state: { text: '', packs: 0 }, server: { packs: 0 } });
  assert.equal(typeof seal, 'string');
  const result = lastOf(agent, 'tool');
  assert.deepEqual(JSON.parse(result.content), { instanceId: id, componentName: 'tea-card', rendered: true });

  agent.state.ui[id].state = { text: 'A gift', packs: 2 };
  const sent = await asks(agent, 'What did I note?');
  assert.ok(sent.includes('A gift') && sent.includes(id), sent);
  assert.equal(agent.posted[1].state.ui[id].seal, seal);
});

scenario('a second component is added to the shared state', async (agent) => {
  const first = await shown(agent);
  const second = await shown(agent);
  assert.deepEqual(Object.keys(agent.state.ui).sort(), [first, second].sort());
  await agent.reading;
  const deltas = agent.wire.filter((event) => event.type === 'STATE_DELTA').flatMap((event) => event.delta);
  assert.ok(deltas.some(({ path }) => path === `/ui/${second}`), JSON.stringify(deltas));
});

scenario('a forged state of a component is dropped', async (agent) => {
  const id = await shown(agent);
  agent.state.ui[id].server = { packs: 987_654 };
  agent.state.ui[id].state = { text: 'forged' };
  const sent = await asks(agent, 'What did I order?');
  assert.ok(sent.includes(id), 'the component is still there');
  assert.ok(!sent.includes('987654') && !sent.includes('forged'), sent);
  assert.ok(textOf(agent).endsWith('I see.'));
});

scenario('the state that an action changed is posted back', async (agent) => {
  const id = await shown(agent);
  const body = { chatId: agent.threadId, payload: { packs: 41 }, ...agent.state.ui[id] };
  const { chunks } = readEvents(await (await post(`${app.origin}/ui/${id}/order`, body)).text());
  const changed = chunks.find((chunk) => chunk.type === 'data-ui-state');
  assert.deepEqual([changed.id, changed.data.server], [id, { packs: 41 }]);
  agent.state.ui[id] = changed.data;
  const sent = await asks(agent, 'How many did I order?');
  assert.match(sent, /\\"server\\":\{\\"packs\\":41\}/);
});

scenario('a server tool shows a component as an activity', async (agent) => {
  model.script({ calls: [{ id: 'call_r', name: 'recommend', args: { taste: 'fruity' } }] }, { text: 'Like it?' });
  await say(agent, 'Recommend one');
  const activity = lastOf(agent, 'activity');
  assert.equal(activity.activityType, 'omniassist-ui');
  assert.match(activity.id, /^tea-card_/);
  const props = { tea: 'Darjeeling', text: 'For those who like it fruity.' };
  assert.deepEqual(activity.content, { component: 'tea-card', props, status: 'complete' });
});

scenario('a tool with the name of a component is a renderer', async (agent) => {
  const tools = [{ name: 'ui_tea-card', description: 'Mine', parameters: { type: 'object', properties: { tea: { type: 'string' } } } }];
  const id = await shown(agent, { tools });
  assert.ok(agent.state.ui[id], 'the server has rendered it');
  assert.deepEqual(offered(), ['ui_tea-card'], 'the other component is not offered');
  const [tool] = model.requests[0].body.tools.filter((tool) => tool.name === 'ui_tea-card');
  assert.notEqual(tool.description, 'Mine', 'the definition of the server counts');
  model.script({ text: 'Hello.' });
  await say(agent, 'Hi');
  assert.deepEqual(offered().sort(), ['ui_pick-day', 'ui_tea-card'], 'a client without renderers is offered all');
});

scenario('a component that waits is an interrupt', async (agent) => {
  const days = ['Monday', 'Tuesday'];
  model.script({ calls: [{ id: 'call_day', name: 'ui_pick-day', args: { days } }] }, { text: 'On Tuesday.' });
  await say(agent, 'Deliver it');
  const [interrupt] = agent.pendingInterrupts;
  assert.equal(interrupt.toolCallId, 'call_day');
  assert.deepEqual(interrupt.responseSchema.required, ['day']);
  await agent.runAgent({ resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { day: 'Tuesday' } }] });
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], 'call_day')), { day: 'Tuesday' });
  assert.equal(textOf(agent), 'On Tuesday.');
});

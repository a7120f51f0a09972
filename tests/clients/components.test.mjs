// Components with state and actions in the AI SDK's own chat, versions 5, 6 and 7, against a shop with a scripted model.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { instancesIn } from '../lib/components.mjs';
import { startScripted } from '../lib/fake-openai.mjs';
import { openai, startSharedCart } from '../lib/shared-cart.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { assertKept, assertLegal, outputOf } from './kept.mjs';
import { post } from './wire.mjs';

let model;
let app;

before(async () => {
  app = await startScripted(({ baseUrl }) => startSharedCart(openai(baseUrl)));
  ({ model } = app);
});
after(() => app?.stop());
beforeEach(() => model.script());

/** Runs one scenario for each version. Afterwards its chat posts the whole conversation once more. */
function scenario(name, run) {
  for (const [version, ai] of Object.entries(versions)) {
    test(`${version} · ${name}`, { timeout: 30_000 }, async () => assertKept(await run(ai, version), model));
  }
}

const SENCHA = { tea: 'Sencha', text: 'Green tea from Japan, which is steamed and has a fresh taste.' };
const ASSAM = { tea: 'Assam', text: 'Black tea from India, which is strong and goes well with milk.' };
const shows = (id, args) => ({ id, name: 'ui_tea-card', args });
const states = (message) => message.parts.filter((part) => part.type === 'data-ui-state');

/** Shows a card, and returns its chat and the part with its state. */
async function shown(ai) {
  model.script({ calls: [shows('call_card', SENCHA)] }, { text: 'There it is.' });
  const chat = openChat(ai, app.origin);
  await chat.sendMessage({ text: 'Show me a tea' });
  const [part] = states(last(chat));
  return { chat, id: part.id };
}

/** Changes the state of an instance in the messages, as a page does. */
function edit(chat, id, change) {
  chat.messages = chat.messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      part.type === 'data-ui-state' && part.id === id ? { ...part, data: change(structuredClone(part.data)) } : part),
  }));
}

/** Returns the instances that the model was sent in its last request. */
const instancesSent = () => instancesIn(model.requests.at(-1).body);

/** Posts an action, and applies its stream to the last message with the client's own readers. */
async function act(ai, chat, id, action, payload) {
  const { data } = states(last(chat)).find((part) => part.id === id);
  const response = await post(`${app.origin}/ui/${id}/${action}`, { chatId: chat.id, payload, ...data });
  assert.equal(response.status, 200, await (response.ok ? '' : response.text()));
  const schema = typeof ai.uiMessageChunkSchema === 'function' ? ai.uiMessageChunkSchema() : ai.uiMessageChunkSchema;
  const events = [];
  const chunks = ai.parseJsonEventStream({ stream: response.body, schema }).pipeThrough(new TransformStream({
    transform(chunk, controller) {
      assert.ok(chunk.success, chunk.error?.message);
      if (chunk.value.type === 'data-ui-event') events.push(chunk.value.data);
      controller.enqueue(chunk.value);
    },
  }));
  let message = structuredClone(last(chat));
  for await (const next of ai.readUIMessageStream({ message, stream: chunks })) message = next;
  chat.messages = [...chat.messages.slice(0, -1), message];
  return events;
}

scenario('a component grows and has one state', async (ai) => {
  const { chat, id } = await shown(ai);
  const [call] = toolParts(last(chat));
  assert.deepEqual(call.output, { instanceId: id, componentName: 'tea-card', rendered: true });
  assert.deepEqual(call.input, SENCHA);
  const inputs = chat.seen.flatMap((message) => toolParts(message)).filter((part) => part.state === 'input-streaming');
  const texts = new Set(inputs.map((part) => part.input?.text).filter(Boolean));
  assert.ok(texts.size > 4, `the text grows: ${[...texts].join(' | ')}`);
  for (const text of texts) assert.ok(SENCHA.text.startsWith(text), text);
  const [{ data }] = states(last(chat));
  const { seal, ...state } = data;
  assert.deepEqual(state, { component: 'tea-card', rev: 0, state: { text: '', packs: 0 }, server: { packs: 0 } });
  assert.equal(typeof seal, 'string');
  return chat;
});

scenario('two interleaved components stay apart', async (ai) => {
  const calls = [shows('call_a', SENCHA), shows('call_b', ASSAM)];
  model.script({ calls, interleaved: true }, { text: 'Both.' });
  const chat = openChat(ai, app.origin);
  await chat.sendMessage({ text: 'Show me two teas' });
  const growing = chat.seen.map((message) => toolParts(message)).filter((parts) => parts.length === 2);
  const whileBothGrow = growing.filter(([, b]) => b.input?.text).map(([a]) => a.input?.text);
  assert.ok(new Set(whileBothGrow).size > 4, 'the first grows while the second does');
  for (const [a, b] of growing) {
    assert.ok(SENCHA.text.startsWith(a.input?.text ?? '') && ASSAM.text.startsWith(b.input?.text ?? ''));
  }
  assert.deepEqual(toolParts(last(chat)).map((part) => part.input), [SENCHA, ASSAM]);
  const instances = toolParts(last(chat)).map((part) => part.output.instanceId);
  // The calls run at the same time, so their states arrive in any order.
  assert.deepEqual(states(last(chat)).map((part) => part.id).sort(), instances.sort());
  assert.notEqual(instances[0], instances[1]);
  return chat;
});

scenario('an instance that is shown again in one answer keeps one state', async (ai) => {
  let id;
  const again = (body) => {
    id = JSON.parse(body.input.find((item) => item.type === 'function_call_output').output).instanceId;
    return { calls: [shows('call_again', { ...ASSAM, instanceId: id })] };
  };
  model.script({ calls: [shows('call_card', SENCHA)] }, again, { text: 'Changed.' });
  const chat = openChat(ai, app.origin);
  await chat.sendMessage({ text: 'Show me a tea, then another' });
  assert.deepEqual(toolParts(last(chat)).map((part) => part.output.instanceId), [id, id]);
  assert.deepEqual(states(last(chat)).map((part) => part.id), [id]);
  return chat;
});

scenario('a state that the page changed is accepted', async (ai) => {
  const { chat, id } = await shown(ai);
  const note = { text: 'A gift', packs: 2 };
  edit(chat, id, (data) => ({ ...data, state: note }));
  model.script({ calls: [shows('call_again', { ...ASSAM, instanceId: id })] }, { text: 'For a gift.' });
  await chat.sendMessage({ text: 'Another one, for what I noted' });
  assert.deepEqual(instancesSent(), [{ instanceId: id, component: 'tea-card', state: note, server: { packs: 0 } }]);
  const [{ data }] = states(last(chat));
  assert.deepEqual(data.state, note, 'what the user noted is kept');
  return chat;
});

scenario('a forged state is dropped and the answer goes on', async (ai) => {
  const forge = {
    'the part of the server': (data) => ({ ...data, server: { packs: 99 } }),
    'the revision': (data) => ({ ...data, rev: 99, state: { text: '99' } }),
    'no seal': ({ seal, ...data }) => ({ ...data, state: { text: '99' } }),
  };
  for (const [what, change] of Object.entries(forge)) {
    const { chat, id } = await shown(ai);
    edit(chat, id, change);
    model.script({ text: 'Nothing is noted.' });
    await chat.sendMessage({ text: 'What did I order?' });
    assert.equal(chat.error, undefined, what);
    assert.equal(textOf(last(chat)), 'Nothing is noted.');
    assert.deepEqual(instancesSent(), [{ instanceId: id, component: 'tea-card' }], what);
    assertLegal(model.requests[0]);
  }
  return (await shown(ai)).chat;
});

scenario('an action changes the state without the model', async (ai) => {
  const { chat, id } = await shown(ai);
  const asked = model.requests.length;
  const before = last(chat);
  edit(chat, id, (data) => ({ ...data, state: { text: 'Soon', packs: 3 } }));
  for (const [packs, sum] of [[3, 3], [4, 7]]) {
    const events = await act(ai, chat, id, 'order', { packs });
    assert.deepEqual(events, [{ instanceId: id, type: 'result', data: { ordered: sum } }]);
  }
  assert.equal(model.requests.length, asked);
  const after = last(chat);
  assert.equal(after.id, before.id, 'the message stays the same');
  assert.deepEqual(after.parts.map((part) => part.type), before.parts.map((part) => part.type));
  const [{ data }] = states(after);
  assert.deepEqual([data.rev, data.state, data.server], [2, { text: 'Soon', packs: 3 }, { packs: 7 }]);
  model.script({ text: 'Seven packs.' });
  await chat.sendMessage({ text: 'How many did I order?' });
  const [instance] = instancesSent();
  assert.deepEqual(instance.server, { packs: 7 });
  return chat;
});

for (const answer of ['addToolOutput', 'addToolResult']) {
  scenario(`a component that waits is answered by ${answer}`, async (ai) => {
    const days = ['Monday', 'Tuesday'];
    model.script({ calls: [{ id: 'call_day', name: 'ui_pick-day', args: { days } }] }, { text: 'On Tuesday.' });
    const sendAutomaticallyWhen = ai.lastAssistantMessageIsCompleteWithToolCalls;
    const chat = openChat(ai, app.origin, { sendAutomaticallyWhen });
    await chat.sendMessage({ text: 'Deliver it' });
    const [waiting] = toolParts(last(chat));
    assert.deepEqual([waiting.state, waiting.input], ['input-available', { days }]);
    assert.equal(model.requests.length, 1, 'the run waits');
    await chat[answer]({ tool: 'ui_pick-day', toolCallId: 'call_day', output: { day: 'Tuesday' } });
    await until(() => chat.status === 'ready' && textOf(last(chat)) !== '', 'the run continues');
    assert.deepEqual(JSON.parse(outputOf(model.requests[1], 'call_day')), { day: 'Tuesday' });
    assert.equal(textOf(last(chat)), 'On Tuesday.');
    return chat;
  });
}

scenario('a server tool shows a component', async (ai) => {
  model.script({ calls: [{ id: 'call_r', name: 'recommend', args: { taste: 'fruity' } }] }, { text: 'Like it?' });
  const chat = openChat(ai, app.origin);
  await chat.sendMessage({ text: 'Recommend one' });
  const [part, ...others] = last(chat).parts.filter((part) => part.type === 'data-ui');
  assert.equal(others.length, 0);
  assert.match(part.id, /^tea-card_/);
  const props = { tea: 'Darjeeling', text: 'For those who like it fruity.' };
  assert.deepEqual(part.data, { component: 'tea-card', props, status: 'complete' });
  return chat;
});

scenario('only the components that a page names are offered', async (ai) => {
  for (const [components, offered] of [[['tea-card'], ['ui_tea-card']], [[], []]]) {
    model.script({ text: 'Hello.' });
    const chat = openChat(ai, app.origin, { prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, messages, components } }) });
    await chat.sendMessage({ text: 'Hi' });
    const names = model.requests[0].body.tools.map((tool) => tool.name);
    assert.deepEqual(names.filter((name) => name.startsWith('ui_')), offered);
    assert.ok(names.includes('recommend'));
    if (offered.length === 0) return chat;
  }
});

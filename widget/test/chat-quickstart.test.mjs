// The headless chat with the quickstart: its demo model once, and a scripted model where the test needs no slow answer.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createChat, FakeStorage, tab, text, until } from '../testing/chat.mjs';
import { tools } from '../../tests/lib/app.mjs';
import { startFakeOpenAi } from '../../tests/lib/fake-openai.mjs';
import { DEMO, openai, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { program } from '../testing/programs.mjs';

program('QUICKSTART_BIN', 'quickstart');

const FORM = { message: 'Where to?', schema: { type: 'object', properties: { city: { type: 'string' } } } };
const SALES = { title: 'Sales', columns: [{ label: 'Region' }], rows: [['North'], ['South']], selectable: true };
/** The calls that a question leads to. */
const CALLS = {
  Status: tools.lookUp,
  Refund: tools.refund,
  Report: tools.slow,
  Paint: { name: 'paint_wall', args: { colour: 'red' } },
  PaintLong: { name: 'paint_wall', args: { colour: 'blue' } },
  Address: { name: 'request_input', args: FORM },
  Sales: { name: 'ui_table', args: SALES },
};
const LONG = Array.from({ length: 30 }, (_, number) => `word${number}`).join(' ');

/** Calls the tool of the question, and then says what it returned. */
function answer({ input }) {
  const texts = input.map(({ role, content }) => role === 'user' && [content].flat().at(-1));
  const at = texts.findLastIndex(Boolean);
  const question = texts[at].text ?? texts[at];
  const outputs = input.slice(at).filter(({ type }) => type === 'function_call_output');
  if (question === 'Long' || (question === 'PaintLong' && outputs.length)) return { text: LONG, pace: 10 };
  if (outputs.length) return { text: `It returned ${JSON.stringify(outputs.at(-1).output)}` };
  if (question === 'Slow') return { text: LONG, pace: 50 };
  const call = CALLS[question];
  return call ? { calls: [{ id: `call_${input.length}`, ...call }] } : { text: `Answer to: ${question}` };
}

let model;
let app;
let plain;
before(async () => {
  model = await startFakeOpenAi({ answer });
  const settings = openai('openai', model.baseUrl);
  [app, plain] = await Promise.all([startQuickstart(settings, { stored: true }), startQuickstart(settings)]);
});
after(() => Promise.all([app?.stop(), plain?.stop(), model?.stop()]));
const startOwn = () => startQuickstart(openai('openai', model.baseUrl), { stored: true });

/** `open` opens a chat that ends with the test. */
const it = (name, run) =>
  test(name, async (t) => {
    const open = async (options) => {
      const chat = createChat({ api: app.api, persist: 'none', ...options });
      t.after(() => chat.close());
      await chat.ready;
      return chat;
    };
    await run(open, t);
  });

const calls = (chat, name) => chat.messages.flatMap(({ parts }) => parts).filter(({ type }) => type === `tool-${name}`);
/** Runs a test with a server that stores chats, and with one that does not. */
function onBoth(name, run) {
  for (const isStored of [true, false]) {
    it(`${name}, ${isStored ? 'stored' : 'not stored'}`, async (open) => {
      await run(await open({ api: (isStored ? app : plain).api }), isStored, open);
    });
  }
}
const ask = (chat, question) => chat.sendMessage({ text: question });
const ids = ({ messages }) => messages.map(({ id }) => id);
const lastText = ({ messages }) => text(messages.at(-1));

test('contract_000_06 the demo model calls a server tool, and its result is in the answer', async (t) => {
  const demo = await startQuickstart(DEMO);
  t.after(demo.stop);
  const chat = createChat({ api: demo.api, persist: 'none' });
  t.after(() => chat.close());
  await chat.ready;
  const states = [];
  chat.subscribe(() => states.at(-1) !== chat.status && states.push(chat.status));
  await ask(chat, 'What is the status of order 1012?');
  assert.deepEqual(states, ['submitted', 'streaming', 'ready']);
  assert.match(lastText(chat), /delivered/);
  assert.deepEqual(chat.messages.map(({ role }) => role), ['user', 'assistant']);
});

onBoth('contract_000_14 the seals of the server go back unchanged', async (chat, isStored) => {
  assert.equal(chat.isStored, isStored);
  await ask(chat, 'Status');
  assert.match(JSON.stringify(chat.messages[1]), /"seal"/);
  await ask(chat, 'Hello');
  // A server without a store tells the model about a tool's result only if its seal is right.
  const [body] = model.requests.slice(-1).map((request) => JSON.stringify(request.body.input));
  assert.match(body, /function_call_output/);
  assert.equal(lastText(chat), 'Answer to: Hello');
});

for (const [approved, isStored, state] of [
  [true, true, 'output-available'],
  [false, false, 'output-denied'],
]) {
  it(`an approval is ${approved ? 'given' : 'refused'}, and the call ends so`, async (open) => {
    const server = isStored ? app : plain;
    const chat = await open({ api: server.api });
    await ask(chat, 'Refund');
    const [call] = calls(chat, 'refund_order');
    assert.deepEqual([call.state, chat.isOpen(call), chat.status], ['approval-requested', true, 'ready']);
    assert.match(call.approval.requestReason, /Give this money back/);
    await chat.approve(call, approved, { reason: 'Agreed by phone' });
    assert.equal(calls(chat, 'refund_order')[0].state, state);
    const order = await (await fetch(`${server.origin}/api/orders/1002`)).json();
    assert.equal(order.refunded === order.total, approved);
    assert.equal(chat.messages.length, 2, 'the answer goes on in its message');
    await chat.approve(call, true);
    assert.equal(chat.isOpen(call), false, 'a settled call stays settled');
  });
}

onBoth('contract_000_11 a tool that the page registers runs in it, and its result goes back', async (chat) => {
  const runs = [];
  const inputSchema = { properties: { colour: { type: 'string' } } };
  chat.registerTool({ name: 'paint_wall', description: 'Paints', title: 'Paint', inputSchema }, async (input, run) => {
    runs.push([input, run.toolCallId, run.signal.aborted, await run.confirm('Paint it?')]);
    return { painted: 'the north wall' };
  });
  chat.onConfirm = async (question) => question === 'Paint it?';
  await ask(chat, 'Paint');
  const [call] = calls(chat, 'paint_wall');
  assert.deepEqual(runs, [[{ colour: 'red' }, call.toolCallId, false, true]]);
  assert.deepEqual([call.state, call.output, call.title], ['output-available', { painted: 'the north wall' }, 'Paint']);
  assert.match(lastText(chat), /the north wall/);
});

it('contract_000_12 an exception of a page tool is what the model reads', async (open) => {
  const chat = await open();
  chat.registerTool({ name: 'paint_wall', description: 'Paints' }, () => {
    throw new Error('The paint is dry.');
  });
  await ask(chat, 'Paint');
  assert.equal(calls(chat, 'paint_wall')[0].state, 'output-error');
  assert.match(lastText(chat), /The paint is dry/);
});

it('a stored call of a page tool waits until a page offers the tool', async (open) => {
  const chat = await open({ body: { tools: [{ name: 'paint_wall', description: 'Paints' }] } });
  await ask(chat, 'Paint');
  assert.equal(calls(chat, 'paint_wall')[0].state, 'input-available');
  const other = await open({ chatId: chat.chatId });
  other.registerTool({ name: 'paint_wall', description: 'Paints' }, () => 'painted later');
  await until(other, () => other.status === 'ready' && /painted later/.test(lastText(other)));
});

it('a stored call of a page tool runs when a page with the tool opens the chat, and once', async (open) => {
  const chat = await open({ body: { tools: [{ name: 'paint_wall', description: 'Paints' }] } });
  await ask(chat, 'Paint');
  const own = await tab();
  let runs = 0;
  own.page.registerTool({ name: 'paint_wall', description: 'Paints' }, () => `painted ${(runs += 1)} times`);
  const other = own.createChat({ api: app.api, persist: 'none', chatId: chat.chatId });
  await until(other, () => other.status === 'ready' && /painted 1 times/.test(lastText(other)));
  assert.equal(runs, 1);
  other.close();
});

it('an answer that goes on after a tool of the page is followed without repeating itself', async (open) => {
  const chat = await open();
  let runs = 0;
  const offer = (to) => to.registerTool({ name: 'paint_wall', description: 'Paints' }, () => (runs += 1));
  offer(chat);
  const sent = ask(chat, 'PaintLong');
  await until(chat, () => /word3/.test(lastText(chat)));
  const other = await open({ chatId: chat.chatId });
  offer(other);
  await sent;
  await until(other, () => other.status === 'ready' && lastText(other) === LONG);
  const types = ({ messages }) => messages.map(({ parts }) => parts.map(({ type }) => type));
  assert.deepEqual(types(other), types(chat));
  assert.equal(runs, 1);
});

onBoth('contract_000_13 a form waits for the user, and its values go back', async (chat) => {
  await ask(chat, 'Address');
  const [form] = calls(chat, 'request_input');
  assert.deepEqual([chat.status, form.state, chat.isOpen(form)], ['ready', 'input-available', true]);
  assert.deepEqual(form.input, FORM);
  await chat.addToolResult({ toolCallId: form.toolCallId, output: { city: 'Vienna' } });
  assert.match(lastText(chat), /Vienna/);
  assert.deepEqual([chat.messages.length, chat.isOpen(form)], [2, false]);
});

onBoth('contract_001_07 stop ends the run in the server, and the next question is answered', async (chat) => {
  const sent = ask(chat, 'Report');
  await until(chat, () => calls(chat, 'export_report')[0]?.preliminary, 'progress');
  chat.stop();
  await sent;
  assert.equal(chat.status, 'ready');
  assert.equal(chat.isIncomplete(chat.messages.at(-1).id), true);
  await ask(chat, 'Hello');
  assert.equal(lastText(chat), 'Answer to: Hello');
});

onBoth('edited questions and repeated answers are branches', async (chat, isStored, open) => {
  await ask(chat, 'One');
  const [question, first] = chat.messages;
  assert.deepEqual(chat.branches(question.id), { count: 1, current: 0 });
  await chat.edit(question.id, 'Two');
  assert.deepEqual(chat.messages.map(text), ['Two', 'Answer to: Two']);
  assert.deepEqual(chat.branches(chat.messages[0].id), { count: 2, current: 1 });
  const selected = chat.selectBranch(chat.messages[0].id, 0);
  await until(chat, () => ids(chat)[0] === question.id);
  assert.equal(chat.status, isStored ? 'submitted' : 'ready', 'a question waits until the server has the branch');
  await selected;
  assert.deepEqual(ids(chat), [question.id, first.id]);
  assert.deepEqual(chat.branches(question.id), { count: 2, current: 0 });
  await chat.regenerate();
  assert.deepEqual(chat.branches(chat.messages[1].id), { count: 2, current: 1 });
  assert.notEqual(chat.messages[1].id, first.id);
  // The shown branch is the one that goes on.
  await ask(chat, 'Three');
  assert.deepEqual(chat.messages.map(text), ['One', 'Answer to: One', 'Three', 'Answer to: Three']);
  if (!isStored) return;
  const other = await open({ chatId: chat.chatId });
  assert.deepEqual(ids(other), ids(chat));
});

it('a stored chat is opened, listed, searched, renamed and deleted', async (open) => {
  const chat = await open();
  const name = `Orders of ${chat.chatId.slice(0, 6)}`;
  await ask(chat, 'Status');
  await chat.renameThread(chat.chatId, name);
  const other = await open();
  assert.equal(other.messages.length, 0);
  const { threads } = await other.threads({ query: name.toLowerCase() });
  assert.deepEqual(threads.map(({ id, title }) => ({ id, title })), [{ id: chat.chatId, title: name }]);
  assert.ok(Date.parse(threads[0].updatedAt) > 0);
  await other.setChatId(chat.chatId);
  assert.deepEqual(other.messages.map(text), chat.messages.map(text));
  await ask(other, 'Hello');
  assert.equal(other.messages.length, 4);
  await other.deleteThread(chat.chatId);
  assert.deepEqual([other.messages.length, other.chatId === chat.chatId], [0, false]);
  assert.deepEqual((await other.threads({ query: name })).threads, []);
});

it('stop ends the wait for the server that changes the branch', async (open, t) => {
  const chat = await open();
  await ask(chat, 'One');
  await chat.edit(chat.messages[0].id, 'Two');
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', (url, init) => (init?.method === 'PATCH' ? new Promise(() => {}) : fetch(url, init)));
  const selected = chat.selectBranch(chat.messages[0].id, 0);
  await until(chat, () => chat.status === 'submitted');
  chat.stop();
  await selected;
  assert.equal(chat.status, 'ready');
});

it('a chat that is opened during its answer shows the rest', async (open) => {
  const chat = await open();
  const sent = ask(chat, 'Slow');
  await until(chat, () => /word3/.test(lastText(chat)));
  const other = await open({ chatId: chat.chatId });
  await until(other, () => other.status === 'streaming' && /word0/.test(lastText(other)));
  assert.equal(chat.status, 'streaming', 'the answer is not complete');
  await sent;
  await until(other, () => other.status === 'ready');
  assert.deepEqual(other.messages.map(text), ['Slow', LONG]);
});

it('contract_001_25 an answer goes on after the server was killed', async (open) => {
  const own = await startOwn();
  try {
    const chat = await open({ api: own.api });
    const sent = ask(chat, 'Long');
    await until(chat, () => /word3/.test(lastText(chat)));
    await own.kill();
    await until(chat, () => chat.status === 'error', 'the loss is shown');
    assert.deepEqual([chat.error.kind, chat.error.canRetry], ['interrupted', true]);
    await own.start();
    await sent;
    assert.deepEqual([chat.status, chat.error, lastText(chat)], ['ready', undefined, LONG]);
    const other = await open({ api: own.api, chatId: chat.chatId });
    assert.deepEqual([ids(chat), chat.messages.map(text)], [ids(other), other.messages.map(text)]);
  } finally {
    await own.stop();
  }
});

it('an approval that waits survives the end of the server, and counts once', async (open) => {
  const own = await startOwn();
  try {
    const chat = await open({ api: own.api });
    await ask(chat, 'Refund');
    await own.kill();
    await own.start();
    const other = await open({ api: own.api, chatId: chat.chatId });
    const call = (of) => calls(of, 'refund_order')[0];
    assert.equal(other.isOpen(call(other)), true);
    await Promise.all([other.approve(call(other), true), chat.approve(call(chat), true)]);
    await other.setChatId(chat.chatId);
    await until(other, () => other.status === 'ready');
    assert.equal(call(other).state, 'output-available');
    const order = await (await fetch(`${own.origin}/api/orders/1002`)).json();
    assert.equal(order.refunded, order.total);
  } finally {
    await own.stop();
  }
});

onBoth('components keep their state, which goes back to the server', async (chat, isStored, open) => {
  await ask(chat, 'Sales');
  const id = calls(chat, 'ui_table')[0].output.instanceId;
  chat.setState(id, { selected: ['North', 'South'] });
  chat.setState(id, { selected: ['South'] });
  assert.deepEqual(chat.state(id).selected, ['South']);
  await ask(chat, 'Hello');
  assert.match(JSON.stringify(model.requests.at(-1).body), /selected[^\]]*South/, 'the model reads the state');
  if (!isStored) return;
  const other = await open({ chatId: chat.chatId });
  assert.deepEqual(other.state(id).selected, ['South']);
});

it('contract_000_07 a chat of the time before the server had a store is opened, and then stored', async (open, t) => {
  globalThis.localStorage = new FakeStorage();
  t.after(() => delete globalThis.localStorage);
  const kept = await open({ api: plain.api, persist: 'local' });
  await ask(kept, 'One');
  kept.close();
  const chat = await open({ persist: 'local' });
  assert.deepEqual([chat.isStored, chat.chatId, chat.messages.length], [true, kept.chatId, 2]);
  const isListed = async () => (await chat.threads({ query: 'One' })).threads.filter(({ id }) => id === chat.chatId).length;
  assert.equal(await isListed(), 1);
  await ask(chat, 'Two');
  const other = await open();
  await other.setChatId(chat.chatId);
  assert.deepEqual(other.messages.map(text), ['One', 'Answer to: One', 'Two', 'Answer to: Two']);
  assert.equal(await isListed(), 1);
  assert.doesNotMatch(localStorage.getItem(`hsafaChat_assistant.chat.${chat.chatId}`) ?? '', /Answer/);
});

it('another tab follows the answer of a stored chat, and its question goes on from there', async (open) => {
  const chat = await open();
  await ask(chat, 'One');
  const { createChat: create } = await tab();
  const other = create({ api: app.api, persist: 'none', chatId: chat.chatId });
  await other.ready;
  const sent = ask(chat, 'Long');
  await until(other, () => other.status === 'streaming' && /word3/.test(lastText(other)));
  await sent;
  await until(other, () => other.status === 'ready' && lastText(other) === LONG);
  await ask(other, 'Two');
  await until(chat, () => lastText(chat) === 'Answer to: Two');
  assert.deepEqual(ids(chat), ids(other));
  await other.deleteThread(other.chatId);
  await until(chat, () => chat.messages.length === 0);
  other.close();
});

it('a question of a page that is behind follows what the chat has', async (open) => {
  const chat = await open();
  await ask(chat, 'One');
  const behind = await open({ chatId: chat.chatId });
  behind.close();
  const late = await open({ chatId: chat.chatId });
  await chat.deleteThread(chat.chatId);
  await until(late, () => late.messages.length === 0);
  await ask(late, 'Two');
  assert.deepEqual(late.messages.map(text), ['Two', 'Answer to: Two']);
});

it('a page that is loaded before its server finds its chat later', async (open) => {
  const own = await startOwn();
  try {
    const chat = await open({ api: own.api });
    await ask(chat, 'One');
    await own.kill();
    const early = await open({ api: own.api, chatId: chat.chatId });
    assert.deepEqual([early.isStored, early.messages.length], [false, 0]);
    await own.start();
    await until(early, () => early.messages.length === 2);
    assert.equal(early.isStored, true);
  } finally {
    await own.stop();
  }
});

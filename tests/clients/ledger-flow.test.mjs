// The flow of a chat: stop, resume, regenerate, branch and continue.

import assert from 'node:assert/strict';

import { calls } from '../lib/ledger.mjs';
import { last, shape, textOf, toolParts, until } from './chat.mjs';
import { get, post } from './wire.mjs';
import { answered, ASKING, call, ledgerSuite, respond, states, whenAnswered } from './ledger.mjs';

const { scenario, ran } = ledgerSuite();

const said = (chat, text) => until(() => chat.messages.length > 1 && textOf(last(chat)).includes(text), `"${text}"`);

scenario('flow: the page stops the answer', async ({ model, open }) => {
  model.script({ text: 'Once upon a time', end: 'hang' });
  const chat = open();
  const sending = chat.sendMessage({ text: 'Tell me' });
  await said(chat, 'a time');
  const stopped = performance.now();
  await chat.stop();
  await sending;
  assert.deepEqual([chat.status, chat.errors.length], ['ready', 0]);
  const closed = await until(() => model.requests[0].closedAt, 'the connection to the model closes');
  assert.ok(closed - stopped <= 250, `${(closed - stopped).toFixed(0)} ms`);
  return chat;
});

scenario('flow: the stop route ends the answer', async ({ app, model, open }) => {
  model.script({ text: 'Once upon a time', end: 'hang' });
  const chat = open();
  const stop = (user) =>
    fetch(`${app.api}/${encodeURIComponent(chat.id)}/stop`, { method: 'POST', headers: { 'x-user': user } });
  const sending = chat.sendMessage({ text: 'Tell me' });
  await said(chat, 'a time');
  assert.deepEqual(await (await stop('eve')).json(), { stopped: false }, 'another user cannot stop it');
  assert.deepEqual(await (await stop('ada')).json(), { stopped: true });
  await sending;
  await until(() => model.requests[0].closedAt, 'the connection to the model closes');
  assert.deepEqual([chat.status, chat.errors.length], ['ready', 0]);
  assert.deepEqual(await (await stop('ada')).json(), { stopped: false }, 'no run is left to stop');
  return chat;
});

scenario('flow: there is nothing to resume', async ({ app, model, open }) => {
  model.script({ text: 'Hello.' });
  const chat = open();
  await chat.sendMessage({ text: 'Hi' });
  const before = structuredClone(chat.messages);
  await chat.resumeStream();
  assert.deepEqual([chat.status, chat.errors.length], ['ready', 0]);
  assert.deepEqual(chat.messages, before);
  const stream = await get(`${app.api}/${encodeURIComponent(chat.id)}/stream`);
  assert.deepEqual([stream.status, await stream.text()], [204, '']);
  return chat;
});

scenario('flow: regenerate, after a tool', async ({ model, open }) => {
  model.script({ calls: [call(calls.balance())] }, { text: 'First.' }, { calls: [call(calls.balance('travel'))] }, { text: 'Second.' });
  const chat = open();
  await chat.sendMessage({ text: 'How much?' });
  const { id } = last(chat);
  await chat.regenerate();
  assert.equal(chat.posted[1].trigger, 'regenerate-message');
  assert.deepEqual([chat.messages.length, textOf(last(chat))], [2, 'Second.']);
  assert.notEqual(last(chat).id, id, 'another answer is another message');
  assert.ok(!model.requests[2].raw.includes('First.'));
  return chat;
});

scenario('flow: regenerate an earlier answer', async ({ model, open }) => {
  model.script({ text: 'One.' }, { text: 'Two.' }, { text: 'Another one.' });
  const chat = open();
  await chat.sendMessage({ text: 'First?' });
  await chat.sendMessage({ text: 'Second?' });
  await chat.regenerate({ messageId: chat.messages[1].id });
  assert.deepEqual(chat.messages.map(textOf), ['First?', 'Another one.']);
  assert.ok(!model.requests[2].raw.includes('Second?'));
  return chat;
});

scenario('flow: edit a question, after a tool', async ({ model, open }) => {
  model.script({ calls: [call(calls.balance())] }, { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
  const chat = open();
  await chat.sendMessage({ text: 'How much?' });
  await chat.sendMessage({ text: 'And now?' });
  await chat.sendMessage({ text: 'What else?', messageId: chat.messages[2].id });
  assert.deepEqual(chat.messages.map(textOf), ['How much?', 'One.', 'What else?', 'Three.']);
  assert.ok(!model.requests.at(-1).raw.includes('And now?'));
  return chat;
});

scenario('flow: an error within the answer, and the next message', async ({ model, open }) => {
  model.script({ calls: [call(calls.balance())] }, { text: 'It is', end: 'error' }, { text: 'Sorry: 5.' });
  const chat = open();
  await chat.sendMessage({ text: 'How much?' });
  assert.equal(chat.status, 'error');
  assert.deepEqual(states(chat), ['output-available'], 'the parts before the error are kept');
  assert.equal(textOf(last(chat)), 'It is');
  await chat.sendMessage({ text: 'Yes?' });
  assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'Sorry: 5.']);
  return chat;
});

scenario('flow: an error before the answer, and another try', async ({ model, open }) => {
  model.script({ before: { status: 400 } }, { text: 'Hello.' });
  const chat = open();
  await chat.sendMessage({ text: 'Hi' });
  assert.equal(chat.status, 'error');
  await chat.regenerate();
  assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'Hello.']);
  return chat;
});

scenario('flow: sent twice', async ({ api, model, open }) => {
  model.script({ text: 'Only once', end: 'hang' }, { text: 'Fine.' });
  const chat = open();
  const sending = chat.sendMessage({ text: 'Pay once' });
  await said(chat, 'Only once');
  const twin = open({ id: chat.id });
  await twin.sendMessage({ ...chat.messages[0] });
  assert.equal(twin.status, 'error');
  assert.match(twin.error.message, /duplicate_run/);
  const again = await post(api, chat.posted[0], { 'x-user': 'ada' });
  assert.equal(again.status, 409);
  assert.deepEqual([chat.status, model.requests.length], ['streaming', 1], 'the first run continues');
  const stranger = open({ id: chat.id, headers: { 'x-user': 'eve' } });
  await stranger.sendMessage({ ...chat.messages[0] });
  assert.equal(stranger.status, 'ready', 'the same id is another chat for another user');
  await chat.stop();
  await sending;
  return chat;
});

scenario('flow: another message replaces the answer', async ({ model, open }) => {
  model.script({ text: 'Well, you see', end: 'hang' }, { text: 'Briefly: no.' });
  const first = open();
  const sending = first.sendMessage({ text: 'May I?' });
  await said(first, 'you see');
  const other = open({ id: first.id });
  await other.sendMessage({ text: 'Briefly, please' });
  await sending;
  assert.deepEqual([first.status, first.errors.length], ['ready', 0], 'the first run ends without an error');
  await until(() => model.requests[0].closedAt, 'its connection to the model closes');
  assert.equal(textOf(last(other)), 'Briefly: no.');
  return first;
});

scenario('flow: continue an answer that was cut', async ({ model, open }) => {
  model.script({ text: 'This goes on and', end: 'length' }, { text: ' on.' });
  const chat = open();
  await chat.sendMessage({ text: 'Tell me all' });
  const { id } = last(chat);
  await chat.sendMessage();
  assert.equal(chat.posted[1].messageId, id);
  assert.equal(chat.messages.length, 2, 'one message');
  assert.equal(last(chat).id, id);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text', 'step-start', 'text']);
  assert.equal(textOf(last(chat)), 'This goes on and on.');
  return chat;
});

scenario('flow: a tool is stopped, and the chat continues', async ({ model, open }) => {
  model.script({ calls: [call(calls.statement())] }, { text: 'Fine.' });
  const chat = open();
  const sending = chat.sendMessage({ text: 'My statement' });
  await until(() => chat.messages.length > 1 && toolParts(last(chat)).some((part) => part.preliminary), 'progress');
  await chat.stop();
  await sending;
  await chat.sendMessage({ text: 'Never mind' });
  assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'Fine.']);
  return chat;
});

scenario('flow: an approval is answered after another question', async ({ model, open }) => {
  const asked = call(calls.asked());
  model.script({ calls: [asked] }, { text: 'It is due on Friday.' }, { text: 'Paid.' });
  const chat = open();
  await chat.sendMessage({ text: 'Pay the rent' });
  const { id } = last(chat);
  const approval = toolParts(last(chat))[0].approval.id;
  await chat.sendMessage({ text: 'When is it due?' });
  await chat.addToolApprovalResponse({ id: approval, approved: true });
  await chat.sendMessage();
  assert.deepEqual([chat.status, chat.posted.at(-1).messageId], ['ready', id]);
  assert.deepEqual((await ran(chat)).map((entry) => entry.call), [asked.id]);
  assert.deepEqual(chat.messages.map(textOf), ['Pay the rent', 'Paid.', 'When is it due?', 'It is due on Friday.']);
  assert.equal(chat.messages[1].id, id, 'the answer continues in its own message');
  return chat;
}, ASKING);

scenario('flow: an approval is answered, and another question is sent with it', async ({ model, open }) => {
  model.script({ calls: [call(calls.asked())] }, { text: 'Ask me again, please.' });
  const chat = open();
  await chat.sendMessage({ text: 'Pay the rent' });
  await chat.addToolApprovalResponse({ id: toolParts(last(chat))[0].approval.id, approved: true });
  await chat.sendMessage({ text: 'And when is it due?' });
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.deepEqual(await ran(chat), [], 'a new question does not run the approved call');
  return chat;
}, ASKING);

scenario('flow: a branch of a chat in which something was approved', async ({ ai, model, open }) => {
  const asked = call(calls.asked());
  model.script({ calls: [asked] }, { text: 'Paid.' }, { text: 'Yes.' }, { text: 'On Monday.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay the rent' });
  await respond(chat, asked.id, true);
  await answered(chat, 'Paid.');
  await chat.sendMessage({ text: 'Sure?' });
  await chat.sendMessage({ text: 'When?', messageId: chat.messages[2].id });
  assert.deepEqual(chat.messages.map(textOf), ['Pay the rent', 'Paid.', 'When?', 'On Monday.']);
  assert.equal((await ran(chat)).length, 1);
  return chat;
}, ASKING);

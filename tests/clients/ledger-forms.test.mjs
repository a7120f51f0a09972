// Forms (`request_input`) and front-end tools with the AI SDK's chat.

import assert from 'node:assert/strict';

import { calls } from '../lib/ledger.mjs';
import { last, shape, until } from './chat.mjs';
import { assertLegal, items, outputOf } from './kept.mjs';
import { answered, call, ledgerSuite, part, states, whenAnswered } from './ledger.mjs';

const { scenario, ran } = ledgerSuite();

const fill = (chat, id, answer) => chat.addToolOutput({ tool: 'request_input', toolCallId: id, ...answer });

scenario('form: answered', async ({ ai, model, open }) => {
  const form = call(calls.form());
  model.script({ text: 'Who?', calls: [form] }, { text: 'Thank you.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay somebody' });
  assert.deepEqual([states(chat), chat.posted.length], [['input-available'], 1]);
  assert.deepEqual(part(chat, form.id).input, form.args, 'the page receives the question and the schema');
  await fill(chat, form.id, { output: { iban: 'DE02', cents: 1 } });
  await answered(chat, 'Thank you.');
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], form.id)), { iban: 'DE02', cents: 1 });
  assert.deepEqual(shape(last(chat)), ['step-start', 'text', 'tool-request_input', 'step-start', 'text']);
  assert.equal(chat.messages.length, 2);
  return chat;
});

scenario('form: an answer that does not match the schema', async ({ ai, model, open }) => {
  const form = call(calls.form());
  model.script({ calls: [form] }, { text: 'That is no sum.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay somebody' });
  await fill(chat, form.id, { output: { iban: 'DE02', cents: 0 } });
  await answered(chat, 'That is no sum.');
  assert.deepEqual(states(chat), ['output-error'], 'the page receives the error');
  assert.match(part(chat, form.id).errorText, /\/cents/);
  assert.ok(outputOf(model.requests[1], form.id).includes(part(chat, form.id).errorText), 'the model receives the same error');
  return chat;
});

scenario('form: declined', async ({ ai, model, open }) => {
  const form = call(calls.form());
  model.script({ calls: [form] }, { text: 'As you wish.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay somebody' });
  await fill(chat, form.id, { state: 'output-error', errorText: 'The user closed the form.' });
  await answered(chat, 'As you wish.');
  assert.ok(outputOf(model.requests[1], form.id).includes('The user closed the form.'));
  return chat;
});

scenario('form: a new question while it is open', async ({ model, open }) => {
  model.script({ calls: [call(calls.form())] }, { text: 'It is the 3rd.' });
  const chat = open();
  await chat.sendMessage({ text: 'Pay somebody' });
  await chat.sendMessage({ text: 'What day is it?' });
  await answered(chat, 'It is the 3rd.');
  assertLegal(model.requests[1]);
  return chat;
});

scenario('front-end tool: round trip without any code on the server', async ({ model, open }) => {
  const show = call(calls.show('savings'));
  model.script({ text: 'Look:', calls: [show] }, { text: 'There it is.' });
  const shown = [];
  const chat = open({ pageTools: { show_account: (input) => (shown.push(input), 'shown') } });
  await chat.sendMessage({ text: 'Show me' });
  await answered(chat, 'There it is.');
  assert.deepEqual(shown, [{ account: 'savings' }]);
  assert.equal(chat.posted[1].messageId, last(chat).id);
  assert.equal(chat.messages.length, 2);
  assert.deepEqual(await ran(chat), [], 'the server runs nothing');
  return chat;
});

scenario('front-end tool: two in one step, one after the other', async ({ ai, model, open }) => {
  const [one, two] = [call(calls.show('rent')), call(calls.show('travel'))];
  model.script({ calls: [one, two] }, { text: 'Both.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Show both' });
  await chat.addToolOutput({ tool: 'show_account', toolCallId: two.id, output: 'second' });
  assert.equal(chat.posted.length, 1);
  await chat.addToolOutput({ tool: 'show_account', toolCallId: one.id, output: 'first' });
  await answered(chat, 'Both.');
  assertLegal(model.requests[1]);
  const order = items(model.requests[1], 'function_call').map((item) => item.call_id);
  assert.deepEqual(order, [one.id, two.id], 'calls keep the order of the model');
  return chat;
});

scenario('front-end tool: three steps in a row', async ({ model, open }) => {
  const [one, two] = [call(calls.show('rent')), call(calls.show('travel'))];
  model.script({ calls: [one] }, { calls: [call(calls.balance())] }, { calls: [two] }, { text: 'That is all.' });
  const chat = open({ pageTools: { show_account: () => 'shown' } });
  await chat.sendMessage({ text: 'Show me around' });
  await answered(chat, 'That is all.');
  const step = (tool) => ['step-start', `tool-${tool}`];
  const expected = [...step('show_account'), ...step('balance'), ...step('show_account'), 'step-start', 'text'];
  assert.deepEqual(shape(last(chat)), expected);
  assert.equal(chat.posted.length, 3);
  await until(() => chat.status === 'ready', 'the chat is ready');
  return chat;
});

// Approvals with the AI SDK's own chat: the request, the calls that run, and the outputs that the model receives.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { calls } from '../lib/ledger.mjs';
import { last, openChat, shape, textOf, versions } from './chat.mjs';
import { assertKept, assertLegal, items, outputOf } from './kept.mjs';
import { ASKING, answered, call, ledgerSuite, part, respond, states, whenAnswered } from './ledger.mjs';

const suite = ledgerSuite();
const { scenario, ran } = suite;

scenario('approval: approve', async ({ ai, model, open }) => {
  const asked = call(calls.asked());
  model.script({ text: 'I need a yes.', calls: [asked] }, { text: 'Done.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay the rent' });
  assert.deepEqual([chat.status, chat.posted.length], ['ready', 1]);
  assert.equal(chat.finishes[0].finishReason, 'tool-calls');
  assert.ok(part(chat, asked.id).approval.signature, 'the request is sealed');
  const { message } = last(chat).metadata.omniassist.approvals[asked.id];
  assert.equal(message, 'Make this transfer?', 'the page receives the question of the host');
  assert.deepEqual(await ran(chat), []);
  await respond(chat, asked.id, true);
  await answered(chat, 'Done.');
  const [entry, ...more] = await ran(chat);
  assert.deepEqual([entry.tool, entry.call, entry.arguments, entry.by], ['transfer', asked.id, asked.args, 'ada']);
  assert.deepEqual(more, []);
  assert.equal(chat.messages.length, 2, 'the answer continues in the same message');
  assert.equal(chat.posted[1].messageId, last(chat).id);
  assert.deepEqual(shape(last(chat)), ['step-start', 'text', 'tool-transfer', 'step-start', 'text']);
  const { state, input, output, approval } = part(chat, asked.id);
  assert.deepEqual([state, input, output.account, approval.approved], ['output-available', asked.args, 'savings', true]);
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], asked.id)), output, 'the model hears what the page shows');
  return chat;
}, ASKING);

scenario('approval: one without a valid seal fails, and the page shows it', async ({ ai, model, open }) => {
  const asked = call(calls.asked());
  model.script({ calls: [asked] }, { text: 'It was not run.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay the rent' });
  // The page drops the metadata.
  const lost = part(chat, asked.id);
  delete lost.callProviderMetadata;
  delete lost.approval.signature;
  await respond(chat, asked.id, true);
  await answered(chat, 'It was not run.');
  assert.deepEqual(await ran(chat), []);
  const { state, errorText } = part(chat, asked.id);
  assert.equal(state, 'output-error');
  assert.match(errorText, /can no longer be verified/);
  assert.equal(outputOf(model.requests[1], asked.id), errorText, 'the model hears what the page shows');
  model.script({ text: 'As I said.' });
  await chat.sendMessage({ text: 'Was it?' });
  assert.deepEqual([chat.status, textOf(last(chat))], ['ready', 'As I said.']);
  assert.equal(outputOf(model.requests[0], asked.id), errorText);
}, ASKING);

for (const reason of [undefined, 'Not before Friday.']) {
  scenario(`approval: deny${reason ? ' with a reason' : ''}`, async ({ ai, model, open }) => {
    const asked = call(calls.asked());
    model.script({ calls: [asked] }, { text: 'As you wish.' });
    const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
    await chat.sendMessage({ text: 'Pay the rent' });
    await respond(chat, asked.id, false, reason);
    await answered(chat, 'As you wish.');
    assert.deepEqual(await ran(chat), []);
    assert.deepEqual(states(chat), ['output-denied']);
    assert.equal(part(chat, asked.id).approval.reason, reason);
    const told = outputOf(model.requests[1], asked.id);
    assert.ok(told.includes(reason ?? 'denied'), told);
    return chat;
  }, ASKING);
}

scenario('approval: two at once, one of them denied', async ({ ai, model, open }) => {
  const [one, two] = [call(calls.asked(20_000)), call(calls.asked(30_000))];
  model.script({ calls: [one, two] }, { text: 'One of two.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay both' });
  await respond(chat, two.id, true);
  assert.equal(chat.posted.length, 1, 'nothing is sent before both are answered');
  await respond(chat, one.id, false, 'Too early.');
  await answered(chat, 'One of two.');
  assert.deepEqual((await ran(chat)).map((entry) => entry.call), [two.id]);
  assert.deepEqual(states(chat), ['output-denied', 'output-available']);
  assertLegal(model.requests[1]);
  assert.ok(outputOf(model.requests[1], one.id).includes('Too early.'));
  return chat;
}, ASKING);

scenario('approval: half of a batch is sent, then the rest', async ({ model, open }) => {
  const [one, two] = [call(calls.asked(20_000)), call(calls.asked(30_000))];
  model.script({ calls: [one, two] }, { text: 'Both.' });
  const chat = open();
  await chat.sendMessage({ text: 'Pay both' });
  await respond(chat, one.id, true);
  await chat.sendMessage();
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.deepEqual(await ran(chat), [], 'no call runs while an approval is open');
  assert.equal(model.requests.length, 1);
  assert.deepEqual(states(chat), ['approval-responded', 'approval-requested']);
  await respond(chat, two.id, true);
  await chat.sendMessage();
  await answered(chat, 'Both.');
  assert.deepEqual((await ran(chat)).map((entry) => entry.call).sort(), [one.id, two.id].sort());
  assert.equal(chat.messages.length, 2);
  return chat;
}, ASKING);

scenario('approval: not needed for a small sum', async ({ model, open }) => {
  const small = call(calls.small());
  model.script({ calls: [small] }, { text: 'Done.' });
  const chat = open();
  await chat.sendMessage({ text: 'Pay 7' });
  assert.deepEqual(states(chat), ['output-available']);
  assert.equal((await ran(chat)).length, 1);
  return chat;
});

scenario('approval: refused by the policy', async ({ model, open, version }) => {
  const refused = call(calls.refused());
  model.script({ calls: [refused] }, { text: 'I may not.' });
  const chat = open();
  await chat.sendMessage({ text: 'Pay a fortune' });
  assert.deepEqual(await ran(chat), []);
  const { state, errorText, approval } = part(chat, refused.id);
  if (version === 'v7') {
    assert.deepEqual([state, approval.isAutomatic, approval.approved], ['output-denied', true, false]);
    assert.equal(approval.reason, 'Too much for one transfer.');
  } else {
    assert.deepEqual([state, errorText], ['output-error', 'Too much for one transfer.']);
  }
  assert.ok(outputOf(model.requests[1], refused.id).includes('Too much for one transfer.'));
  return chat;
});

scenario('approval: version 5 has no approvals, and the model receives an error', async ({ model, open }) => {
  const asked = call(calls.close());
  model.script({ calls: [asked] }, { text: 'Please do it at the desk.' });
  const chat = open();
  await chat.sendMessage({ text: 'Close it' });
  assert.deepEqual([chat.status, states(chat)], ['ready', ['output-error']]);
  assert.match(part(chat, asked.id).errorText, /approval/);
  assert.ok(outputOf(model.requests[1], asked.id).includes(part(chat, asked.id).errorText));
  assert.deepEqual(await ran(chat), []);
  return chat;
}, ['v5']);

scenario('approval: the request contains the question', async ({ model, open }) => {
  const asked = call(calls.asked());
  model.script({ calls: [asked] });
  const chat = open();
  await chat.sendMessage({ text: 'Pay' });
  assert.equal(part(chat, asked.id).approval.requestReason, 'Make this transfer?');
  return chat;
}, ['v7']);

scenario('approval: a new question while it is open', async ({ ai, model, open }) => {
  const asked = call(calls.asked());
  model.script({ calls: [asked] }, { text: 'Rent is due on Friday.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Pay the rent' });
  await chat.sendMessage({ text: 'When is it due?' });
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.equal(textOf(last(chat)), 'Rent is due on Friday.');
  assertLegal(model.requests[1]);
  assert.deepEqual(await ran(chat), []);
  return chat;
}, ASKING);

scenario('approval: the tool fails', async ({ ai, model, open }) => {
  const asked = call(calls.close('no such account'));
  model.script({ calls: [asked] }, { text: 'There is none.' });
  const chat = open({ sendAutomaticallyWhen: whenAnswered(ai) });
  await chat.sendMessage({ text: 'Close it' });
  await respond(chat, asked.id, true);
  await answered(chat, 'There is none.');
  assert.deepEqual(states(chat), ['output-error']);
  assert.equal(part(chat, asked.id).errorText, 'There is no account `no such account`.');
  assert.equal((await ran(chat)).length, 1);
  return chat;
}, ASKING);

scenario('approval: beside a server tool, a front-end tool and a form', async ({ ai, model, open }) => {
  const [balance, asked, show, form] = [calls.balance(), calls.asked(), calls.show(), calls.form()].map(call);
  model.script({ calls: [balance, asked, show, form] }, { text: 'All four.' });
  const shown = [];
  const chat = open({
    pageTools: { show_account: (input) => (shown.push(input), { shown: true }) },
    sendAutomaticallyWhen: whenAnswered(ai),
  });
  await chat.sendMessage({ text: 'All of it' });
  assert.deepEqual((await ran(chat)).map((entry) => entry.tool), ['balance'], 'a call without an approval runs immediately');
  await respond(chat, asked.id, true);
  const output = { iban: 'DE02', cents: 5 };
  await chat.addToolOutput({ tool: 'request_input', toolCallId: form.id, output });
  await answered(chat, 'All four.');
  assert.deepEqual(shown, [show.args]);
  assert.deepEqual((await ran(chat)).map((entry) => entry.tool), ['balance', 'transfer']);
  assert.deepEqual(states(chat), Array(4).fill('output-available'));
  assertLegal(model.requests[1]);
  assert.equal(items(model.requests[1], 'function_call_output').length, 4);
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], form.id)), output);
  return chat;
}, ASKING);

test('v7 · approval: a page that does not send its version', async () => {
  const { app, model } = suite;
  const [asked, refused] = [call(calls.asked()), call(calls.refused())];
  model.script({ calls: [asked, refused] }, { text: 'Done.' });
  const sendAutomaticallyWhen = whenAnswered(versions.v7);
  const chat = openChat(versions.v7, app.api, { headers: { 'x-user': 'ada' }, sendAutomaticallyWhen });
  await chat.sendMessage({ text: 'Pay both' });
  assert.deepEqual(states(chat), ['approval-requested', 'output-error']);
  assert.equal(part(chat, asked.id).approval.requestReason, undefined);
  await respond(chat, asked.id, true);
  await answered(chat, 'Done.');
  assert.deepEqual((await ran(chat)).map((entry) => entry.call), [asked.id]);
  await assertKept(chat, model);
});

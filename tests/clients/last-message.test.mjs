// Pages that post only the last message, with `prepareSendMessagesRequest`. The server loads the conversation.

import assert from 'node:assert/strict';

import { calls } from '../lib/ledger.mjs';
import { last, textOf, until } from './chat.mjs';
import { answered, ASKING, ledgerSuite, respond, states, whenAnswered } from './ledger.mjs';

const { scenario, ran } = ledgerSuite();

/** The body in the AI SDK's documentation, without earlier messages, and without any message to regenerate an answer. */
const lastOnly = ({ id, messages, trigger, messageId }) => ({
  body: trigger === 'regenerate-message' ? { id, trigger, messageId } : { id, message: messages.at(-1), trigger, messageId },
});
/** The shorter form, which always posts the message. */
const withMessage = ({ id, messages, trigger, messageId }) => ({ body: { id, message: messages.at(-1), trigger, messageId } });

/**
 * Runs a conversation twice: with a page that posts all messages, and with one that posts the last message. Asserts
 * that the model receives the same requests, and returns the second chat.
 */
async function twice({ model, open }, turns, prepareSendMessagesRequest, lead, init = {}) {
  const sent = [];
  let chat;
  for (const prepare of [undefined, prepareSendMessagesRequest]) {
    model.script(...structuredClone(turns));
    chat = open({ ...init, prepareSendMessagesRequest: prepare });
    await lead(chat);
    assert.equal(chat.errors.length, 0, chat.error?.message);
    assert.equal(model.left(), 0, 'the model has used every turn of the script');
    // The balance differs after each transfer.
    sent.push(model.requests.map((request) => JSON.parse(request.raw.replace(/\\"cents\\":99\d+/g, '')).input));
  }
  assert.ok(chat.posted.every((body) => !('messages' in body)), 'no post has the conversation');
  assert.deepEqual(sent[1], sent[0]);
  return chat;
}

const turns = (...turns) => turns.map((turn, index) => ({ ...turn, calls: turn.calls?.map((what) => ({ id: `call_${index}`, ...what })) }));

scenario('last message: two questions and a tool of the server', (suite) =>
  twice(
    suite,
    turns({ reasoning: 'I look.', encrypted: 'sealed-thought', calls: [calls.balance()] }, { text: 'A million.' }, { text: 'Yes.' }),
    lastOnly,
    async (chat) => {
      await chat.sendMessage({ text: 'How much is there?' });
      await chat.sendMessage({ text: 'Sure?' });
      assert.equal(textOf(last(chat)), 'Yes.');
    },
  ));

scenario('last message: a tool of the page', async (suite) => {
  const chat = await twice(
    suite,
    turns({ text: 'I show it.', calls: [calls.show()] }, { text: 'Here it is.' }, { text: 'It is.' }),
    lastOnly,
    async (chat) => {
      await chat.sendMessage({ text: 'Show me the rent' });
      await answered(chat, 'Here it is.');
      await chat.sendMessage({ text: 'Is it all?' });
    },
    { pageTools: { show_account: () => ({ shown: true }) } },
  );
  assert.equal(chat.posted[1].message.role, 'assistant');
  assert.equal(chat.posted[1].message.id, chat.posted[1].messageId);
  return chat;
});

scenario('last message: an approval', async (suite) => {
  const chat = await twice(
    suite,
    turns({ calls: [calls.asked()] }, { text: 'Paid.' }, { text: 'Today.' }),
    lastOnly,
    async (chat) => {
      await chat.sendMessage({ text: 'Pay the rent' });
      await respond(chat, 'call_0', true);
      await answered(chat, 'Paid.');
      await chat.sendMessage({ text: 'When?' });
    },
    { sendAutomaticallyWhen: whenAnswered(suite.ai) },
  );
  assert.equal((await ran(chat)).length, 1);
  return chat;
}, ASKING);

for (const [name, prepare] of Object.entries({ lastOnly, withMessage })) {
  scenario(`last message: regenerate and edit, ${name}`, async (suite) => {
    const chat = await twice(
      suite,
      turns({ calls: [calls.balance()] }, { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Four.' }, { text: 'Five.' }),
      prepare,
      async (chat) => {
        await chat.sendMessage({ text: 'First?' });
        await chat.sendMessage({ text: 'Second?' });
        await chat.regenerate();
        await chat.sendMessage({ text: 'Another?', messageId: chat.messages[2].id });
        await chat.regenerate({ messageId: chat.messages[1].id });
        assert.deepEqual(chat.messages.map(textOf), ['First?', 'Five.']);
      },
    );
    assert.deepEqual(chat.posted.map((body) => body.trigger === 'regenerate-message'), [false, false, true, false, true]);
    return chat;
  });
}

scenario('last message: the page stops the answer', async ({ model, open }) => {
  model.script({ text: 'Once upon a time', end: 'hang' }, { text: 'It was a ledger.' });
  const chat = open({ prepareSendMessagesRequest: lastOnly });
  const sending = chat.sendMessage({ text: 'Tell me' });
  await until(() => chat.messages.length > 1 && textOf(last(chat)).includes('a time'), 'the answer begins');
  await chat.stop();
  await sending;
  await chat.sendMessage({ text: 'Go on' });
  assert.equal(textOf(last(chat)), 'It was a ledger.');
  const input = JSON.stringify(model.requests[1].body.input);
  for (const text of ['Tell me', 'Once upon', 'Go on']) assert.ok(input.includes(text), text);
  return chat;
});

scenario('last message: a chat of another user is another chat', async ({ model, open }) => {
  model.script({ calls: [{ id: 'call_secret', ...calls.balance() }] }, { text: 'The secret.' }, { text: 'Who are you?' });
  const chat = open({ prepareSendMessagesRequest: lastOnly });
  await chat.sendMessage({ text: 'Say it' });
  assert.deepEqual(states(chat), ['output-available']);
  const stranger = open({ id: chat.id, headers: { 'x-user': 'eve' }, prepareSendMessagesRequest: lastOnly });
  await stranger.sendMessage({ text: 'What was it?' });
  assert.equal(textOf(last(stranger)), 'Who are you?');
  assert.ok(!model.requests[2].raw.includes('The secret.') && !model.requests[2].raw.includes('Say it'));
  return chat;
});

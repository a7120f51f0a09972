// The legal operations on a conversation. Each must be accepted without loss.

import assert from 'node:assert/strict';

import { last, textOf } from '../chat.mjs';
import { assertHolds } from '../kept.mjs';
import { open, say, script } from './chats.mjs';

/** A question that the model answers with text. */
export const END = script([{ text: 'Goodbye.' }]);

/** Opens the same chat in another tab with these messages. */
const tab = ({ app, chat, version }, messages) =>
  open(app, version, { id: chat.id, messages: structuredClone(messages) });

/** Asserts that the server accepted the post, and that the model received all of it. */
function assertTaken(chat, model) {
  assert.equal(chat.status, 'ready', chat.error?.message);
  const [{ messages }, [request]] = [chat.posted[0], model.requests];
  assertHolds(request, messages);
}

const indices = (messages, role) => messages.flatMap((message, index) => (message.role === role ? [index] : []));

export const LEGAL = {
  async edit({ model, dice, ...base }) {
    const { messages } = base.chat;
    const chat = tab(base, messages);
    const at = dice.pick(indices(messages, 'user'));
    model.script();
    await say(chat, { text: END, messageId: messages[at].id });
    assertTaken(chat, model);
    assert.deepEqual([chat.messages.length, textOf(last(chat))], [at + 2, 'Goodbye.']);
  },
  async regenerate({ model, dice, ...base }) {
    const { messages } = base.chat;
    const chat = tab(base, messages);
    const at = dice.pick(indices(messages, 'assistant'));
    model.script();
    await chat.regenerate({ messageId: messages[at].id });
    assertTaken(chat, model);
    assert.equal(chat.posted[0].messages.length, at);
  },
  async truncate({ model, dice, ...base }) {
    const { messages } = base.chat;
    const chat = tab(base, messages.slice(0, dice.pick(indices(messages, 'assistant')) + 1));
    model.script();
    await say(chat, { text: END });
    assertTaken(chat, model);
  },
  async branch({ model, dice, ...base }) {
    const { messages } = base.chat;
    const chat = tab(base, messages.slice(0, dice.pick(indices(messages, 'user'))));
    const [call] = [{ id: `call_branch_${dice.next()}`, name: 'balance', args: { account: 'rent' } }];
    model.script();
    await say(chat, { text: script([{ calls: [call] }, { text: 'Done.' }], 'another way') });
    assertTaken(chat, model);
    model.script();
    chat.posted.length = 0;
    await say(chat, { text: END });
    assertTaken(chat, model);
  },
};

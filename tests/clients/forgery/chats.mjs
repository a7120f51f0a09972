// Honest conversations between the official clients and a ledger. The user's message contains the script of the model.

import { calls } from '../../lib/ledger.mjs';
import { last, openChat, toolParts, until, versions } from '../chat.mjs';
import { whenAnswered } from '../ledger.mjs';

const QUERY = { v5: '?ai-sdk=5', v6: '', v7: '?ai-sdk=7' };

/** Returns a user's message with the script of these turns. */
export const script = (turns, words = '') => JSON.stringify({ words, turns });

/** Answers as the model: with the next turn of the script in the last user message. */
export function answer(body) {
  const at = body.input.findLastIndex((item) => item.role === 'user');
  let answered = body.input.slice(at + 1).filter((item) => item.type === 'function_call_output').length;
  for (const turn of turnsOf(body.input[at])) {
    const made = turn.calls?.length ?? 0;
    if (made === 0 || answered < made) return { ...turn, pace: 'none' };
    answered -= made;
  }
  return { text: 'That is all.', pace: 'none' };
}

function turnsOf(message) {
  for (const { text } of message?.content ?? []) {
    try {
      return JSON.parse(text).turns ?? [];
    } catch {
      // Not a script.
    }
  }
  return [];
}

let made = 0;
const call = (what) => ({ id: `call_${(made += 1)}`, ...what });

/** Returns the model's turns for one question of a settled conversation. */
function turns(dice) {
  const text = { text: `So ${dice.word()}.` };
  const account = dice.pick(['rent', 'savings', 'travel']);
  const reasoning = () => (dice.oneIn(2) ? { reasoning: `Hm ${dice.word()}.`, encrypted: `enc-${dice.next()}+/=` } : {});
  switch (dice.below(6)) {
    case 0: return [{ ...reasoning(), ...text }];
    case 1: return [{ ...reasoning(), text: 'Look:', calls: [call(calls.balance(account))] }, { ...reasoning(), ...text }];
    case 2: return [{ calls: [call(calls.balance(`no ${dice.word()}`)), call(calls.balance(account))] }, text];
    case 3: return [{ calls: [call(calls.small(1 + dice.below(99)))] }, { calls: [call(calls.balance(account))] }, text];
    case 4: return [{ calls: [call(calls.show(account)), call(calls.balance(account))] }, text];
    default: return [{ calls: [call({ name: 'balance', args: { account: 7 } })] }, { calls: [call(calls.form())] }, text];
  }
}

/** Opens a chat that answers forms and front-end tools automatically, but not approvals. */
export function open(app, version, { user = 'ada', ...init } = {}) {
  const ai = versions[version];
  const chat = openChat(ai, app.api + QUERY[version], {
    headers: { 'x-user': user },
    onToolCall: ({ toolCall: { toolName: tool, toolCallId } }) => {
      const outputs = { show_account: 'shown', request_input: { iban: `DE${toolCallId}`, cents: 5 } };
      if (tool in outputs) void chat.addToolOutput({ tool, toolCallId, output: outputs[tool] });
    },
    sendAutomaticallyWhen: whenAnswered(ai),
    ...init,
  });
  return Object.assign(chat, { version, user });
}

/** Sends a message and waits until all automatic posts are done. */
export async function say(chat, message) {
  await chat.sendMessage(message);
  await until(
    () => ['ready', 'error'].includes(chat.status) && !toolParts(last(chat)).some((part) => part.state === 'input-available'),
    'the chat is settled',
  );
}

/** Makes a conversation without open questions. */
export async function settled(app, version, dice, init) {
  const chat = open(app, version, init);
  const questions = 2 + dice.below(2);
  for (let index = 0; index < questions; index += 1) await say(chat, { text: script(turns(dice), dice.word()) });
  // At least one result has a seal of the server.
  const check = [{ calls: [call(calls.balance('rent'))] }, { text: 'Checked.' }];
  await say(chat, { text: script(check, dice.word()) });
  return chat;
}

/** Makes a conversation that ends with answered approvals, which are not posted yet. */
export async function approved(app, version, dice, init) {
  const chat = await settled(app, version, dice, { ...init, sendAutomaticallyWhen: undefined });
  const asked = () => call(dice.oneIn(3) ? calls.close(`no ${dice.word()}`) : calls.asked(10_001 + dice.below(50_000)));
  const batch = dice.oneIn(2) ? [asked()] : [asked(), asked()];
  await say(chat, { text: script([{ calls: batch }, { text: 'Done.' }], dice.word()) });
  for (const part of toolParts(last(chat)).filter((part) => part.state === 'approval-requested')) {
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
  }
  return chat;
}

/** Returns the client's next request, with this question if there is one. */
export function request(chat, question) {
  const messages = structuredClone(chat.messages);
  if (question !== undefined) messages.push({ id: `q${chat.posted.length}`, role: 'user', parts: [{ type: 'text', text: question }] });
  const messageId = question === undefined ? last(chat).id : undefined;
  const body = { id: chat.id, messages, trigger: 'submit-message', messageId };
  return { body: JSON.parse(JSON.stringify(body)), user: chat.user, query: QUERY[chat.version] };
}

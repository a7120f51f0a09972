// Chats whose connection or server is lost in a given state, and which come back by the client's own means. A scripted
// model answers; it holds each answer at the place that the state names.

import assert from 'node:assert/strict';

import { WorkflowChatTransport } from '@ai-sdk/workflow/client';

import { tools } from '../lib/app.mjs';
import { holdAt } from '../lib/fake-openai.mjs';
import { until } from '../lib/quickstart.mjs';
import { openChat, plain, textOf, toolParts, versions } from './chat.mjs';
import { get } from './wire.mjs';

/** The answer of every chat. The model sends each word as one piece. */
const PIECES = ['before ', 'SECOND ', 'after. '];
const TEXT = PIECES.join('');
const IN_TEXT = '"delta":"SECOND ';

const call = (tool, args = tool.args) => ({ name: tool.name, args });
const refund = call(tools.refund, { order_id: 1002, amount: 0.01 });
const form = {
  name: 'request_input',
  args: { message: 'What is your name?', schema: { type: 'object', properties: { name: { type: 'string' } } } },
};

const part = (chat) => toolParts(chat.messages.at(-1) ?? { parts: [] }).at(-1);
const hasText = ({ messages }) => messages.at(-1)?.role === 'assistant' && textOf(messages.at(-1)).endsWith(PIECES[0]);
const isAsked = (chat) => chat.status === 'ready' && part(chat)?.state === 'approval-requested';
const isOpen = (chat) => chat.status === 'ready' && part(chat)?.state === 'input-available';

const approve = (chat) => chat.addToolApprovalResponse({ id: part(chat).approval.id, approved: true });
function output(chat) {
  const { type, toolCallId } = part(chat);
  return chat.addToolOutput({ tool: type.slice('tool-'.length), toolCallId, output: { done: true } });
}
const told = (chat) => () => `the state, but ${JSON.stringify(chat.messages)} ${chat.error}`;

/**
 * The states. `call` is the call of the first turn, `first` and `second` are the places at which the model holds its
 * turns, and `is` is true for a chat in the state. `answer` answers what the run waits for: before the loss if the message
 * is `continued`, else after it. A run that is `over` ends while its client is away. `calls` is the number of calls of
 * tools of the page. Version 5 has no approvals.
 */
export const STATES = {
  // The model may be called before the page has the response, and that cannot be lost.
  'before text': { first: 'response.created', is: (chat, cell) => cell.holds > 0 && chat.line.answered > 0 },
  'in text': { first: IN_TEXT, is: hasText },
  'in arguments': {
    call: call(tools.ticket), first: '"delta":"rcel is', is: (chat) => part(chat)?.input?.subject !== undefined,
  },
  'in a tool': { call: call(tools.slow), is: (chat) => part(chat)?.preliminary },
  'waiting for an approval': { call: refund, is: isAsked, answer: approve, without: ['v5'] },
  'waiting for the page': { call: call(tools.navigate), is: isOpen, answer: output, calls: 1 },
  'waiting for a form': { call: form, is: isOpen, answer: output, calls: 1 },
  'just ended': { first: IN_TEXT, is: hasText, over: true },
  'continued after an approval': {
    call: refund, second: IN_TEXT, is: isAsked, answer: approve, continued: true, without: ['v5'],
  },
  'continued after an output': {
    call: call(tools.navigate), second: IN_TEXT, is: isOpen, answer: output, continued: true, calls: 1,
  },
};

/** The clients. The last one is version 7 with the transport for workflows, which asks for the rest of a run itself. */
export const CLIENTS = ['v5', 'v6', 'v7', 'workflow'];

/** Returns the turn of the model for a request of one of the cells. */
export function answerOf(cells) {
  return ({ input }) => {
    const id = JSON.stringify(input).match(/Cell (\d+)\./)?.[1];
    const cell = cells.get(id);
    if (!cell) throw new Error('a request that belongs to no cell');
    return cell.turn(input.some(({ type }) => type === 'function_call_output'));
  };
}

/** The connections of a page, which can be lost. A lost one fails like in a browser. */
class Line {
  #open = new Set();
  answered = 0;

  fetch = async (url, options) => {
    const response = await fetch(url, options);
    this.answered += 1;
    if (!response.body) return response;
    const reader = response.body.getReader();
    let drop;
    const body = new ReadableStream({
      start: (controller) => {
        drop = () => {
          this.#open.delete(drop);
          controller.error(new TypeError('network error'));
          reader.cancel().catch(() => {});
        };
        this.#open.add(drop);
      },
      pull: async (controller) => {
        const { done, value } = await reader.read().catch(() => (drop(), {}));
        if (!this.#open.has(drop)) return;
        if (!done) return controller.enqueue(value);
        this.#open.delete(drop);
        controller.close();
      },
      cancel: (reason) => {
        this.#open.delete(drop);
        return reader.cancel(reason);
      },
    });
    return new Response(body, response);
  };

  drop() {
    for (const drop of [...this.#open]) drop();
  }
}

let last = 0;

/** A chat of one client in one state. */
export class Cell {
  holds = 0;
  calls = [];
  pages = [];

  constructor(api, client, state) {
    last += 1;
    Object.assign(this, { api, client, state: STATES[state], id: String(last) });
    this.chatId = `resumed-${this.id}-${process.pid}`;
    this.opened = new Promise((resolve) => (this.open = resolve));
  }

  turn(isSecond) {
    const { call, first, second } = this.state;
    const at = isSecond ? second : first;
    const hold = at && holdAt(at, () => ((this.holds += 1), this.opened));
    if (call && !isSecond) return { calls: [{ id: `call_${this.id}`, ...call }], hold };
    return { text: TEXT, hold };
  }

  /** Opens a page, as after a reload if it has messages. */
  page(messages) {
    const { api, chatId } = this;
    const ai = versions[this.client] ?? versions.v7;
    const version = this.client === 'workflow' ? 7 : this.client.slice(1);
    const line = new Line();
    const init = { id: chatId, messages, onToolCall: ({ toolCall }) => this.calls.push(toolCall) };
    init.sendAutomaticallyWhen = ({ messages }) =>
      ai.lastAssistantMessageIsCompleteWithToolCalls({ messages })
      || Boolean(ai.lastAssistantMessageIsCompleteWithApprovalResponses?.({ messages }));
    init.transport = this.client === 'workflow'
      ? Object.assign(
          new WorkflowChatTransport({
            api,
            fetch: line.fetch,
            prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
              headers: { 'content-type': 'application/json' },
              body: { id, messages, trigger, messageId },
            }),
          }),
          // `resumeStream` gets the message from its start.
          { resumeStreamIsReplay: true },
        )
      : new ai.DefaultChatTransport({
          api: `${api}?ai-sdk=${version}`,
          fetch: line.fetch,
          prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?ai-sdk=${version}` }),
        });
    const chat = Object.assign(openChat(ai, api, init), { line });
    this.pages.push(chat);
    return chat;
  }

  /** Brings the chat into its state. */
  async begin() {
    const { is, answer, continued } = this.state;
    const chat = (this.chat = this.page([]));
    this.sent = chat.sendMessage({ text: `Cell ${this.id}. Hello.` });
    await until(() => is(chat, this), told(chat));
    if (!continued) return;
    await this.sent;
    this.sent = answer(chat);
    await until(() => hasText(chat), told(chat));
  }

  /** Returns the stored messages, as a page loads them. */
  async stored() {
    const response = await get(`${this.api}/threads/${this.chatId}/messages`);
    assert.equal(response.status, 200);
    return (await response.json()).messages;
  }

  async run() {
    return (await (await get(`${this.api}/threads/${this.chatId}`)).json()).run;
  }

  /** Comes back after the loss. `how` is `reload`, or the page is still there. `othersGoOn` is true if a server answers at once. */
  async comeBack(how, othersGoOn) {
    if (this.state.over) {
      this.open();
      await until(async () => (await this.run()) === null, 'the run is over');
    }
    const isBack = this.client === 'workflow' && (how === 'drop' || (othersGoOn && how !== 'reload')) && !isSettled(this.chat);
    if (how === 'reload') {
      this.chat = this.page(await this.stored());
    } else if (!isBack) {
      await until(() => isSettled(this.chat), 'the page has noticed the loss');
      await this.sent;
    }
    if (this.client === 'v5' && this.chat.status === 'error') {
      // The known exception: version 5 adds the replay to what the page has, so the page must open the chat anew.
      this.doubled = { chat: this.chat, resumed: this.chat.resumeStream(), before: partsOf(this.chat) };
      this.chat = this.page(await this.stored());
    }
    await this.resume(isBack);
    // A server that takes the run over cuts the pages that cannot withdraw text, and they come back once more.
    if (othersGoOn && this.chat.status === 'error') {
      if (this.client === 'v5') this.chat = this.page(await this.stored());
      await this.resume();
    }
    const { chat } = this;
    await this.check();
    // A stream that a server cut when it took the run over has a part of the text.
    if (this.doubled && !(othersGoOn && this.doubled.chat.status === 'error')) await this.checkDoubled(this.doubled);
    if (!this.state.answer || this.state.continued) return;
    await this.state.answer(chat);
    await until(() => isSettled(chat) && textOf(chat.messages.at(-1)).includes(TEXT), told(chat));
    await this.check();
  }

  /** Reads the rest of the answer. A client that `isBack` does so already. */
  async resume(isBack = false) {
    const { chat } = this;
    const { answered } = chat.line;
    const resumed = isBack ? this.sent : chat.resumeStream();
    await until(() => chat.line.answered > answered || isBack, 'the server answers');
    this.open();
    await resumed;
    // A run of a server that was killed goes on when its lease has ended.
    await until(() => isSettled(chat), 'the answer is complete', 20_000);
  }

  /** Asserts that version 5 shows the text that it had, and the text of the whole message after it. */
  async checkDoubled({ chat, resumed, before }) {
    await resumed;
    const text = textOf({ parts: before }) + textOf((await this.stored()).at(-1));
    assert.equal(textOf({ parts: partsOf(chat) }), text);
  }

  /** Asserts that the page has the stored messages, and that its tools were called once. */
  async check() {
    const { chat } = this;
    assert.equal(chat.status, 'ready', chat.error?.message);
    assert.deepEqual(comparable(chat.messages), comparable(await this.stored()));
    const front = this.calls.filter(({ toolName }) => ['navigate', 'request_input'].includes(toolName));
    assert.equal(front.length, this.state.calls ?? 0, 'calls of the tools of the page');
  }
}

/** Returns the parts of the last answer. */
const partsOf = ({ messages }) => (messages.at(-1).role === 'assistant' ? comparable(messages).at(-1).parts : []);
const isSettled = (chat) => chat.status === 'ready' || chat.status === 'error';

/**
 * Returns messages without what differs between a page and the store: the store has complete texts only, no approval
 * of a call that has its output, and no `requestReason`, which is in the metadata of the message.
 */
const comparable = (messages) =>
  JSON.parse(JSON.stringify(messages)).map(({ parts, ...message }) => ({
    ...message,
    parts: parts.map(withArguments).map(plain).map(({ approval, ...part }) => ({
      ...(['text', 'reasoning'].includes(part.type) && { state: 'done' }),
      ...part,
      ...(!part.state?.startsWith('output-') && { approval: approval && { ...approval, requestReason: undefined } }),
    })),
  }));

/** Returns a part with the parsed arguments of a call that cannot run. Versions 5 and 6 store them as text. */
function withArguments(part) {
  return part.input === undefined && typeof part.rawInput === 'string' ? { ...part, input: JSON.parse(part.rawInput) } : part;
}

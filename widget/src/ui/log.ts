import { element } from './dom.js';
import { Scroll } from './scroll.js';
import { Heights } from './heights.js';
import { keptFocus } from './kept-focus.js';
import { messageView } from '../parts/index.js';
import { isAnswering, isTool, lastQuestion } from '../chat/part.js';
import type { Message } from '../chat/types.js';
import type { View, ViewContext } from './view.js';

/** The messages of a page. Three pages are in the document: the one that the user sees, and those beside it. */
const PAGE = 40;
/** The time after which an answer that arrives lets older messages be drawn again, in milliseconds. */
const OTHERS_MS = 500;

/** The messages of the conversation. Those far from the position of the user are replaced by their height. */
export class Log implements View {
  readonly node: HTMLElement;
  readonly scroll: Scroll;
  readonly #context: ViewContext;
  readonly #thread = element('div', { part: 'messages' });
  readonly #before = element('div');
  readonly #after = element('div');
  readonly #waiting = element('div', { part: 'waiting', hidden: true, 'aria-hidden': 'true' }, dot(), dot(), dot());
  /** The free space below a question that stays at the top. */
  readonly #rest = element('div');
  readonly #heights = new Heights();
  readonly #follow: string;
  #views = new Map<Message, View>();
  #from = 0;
  #chatId = '';
  #lastQuestion: string | undefined;
  #othersAt = 0;

  constructor(context: ViewContext, empty: Node, follow: string, scrolled: () => void) {
    this.#context = context;
    this.#follow = follow;
    this.#thread.append(this.#before, this.#after, this.#waiting, this.#rest);
    const label = context.texts.conversation;
    this.node = element(
      'div',
      { part: 'log', role: 'log', 'aria-live': 'off', 'aria-label': label, tabindex: '0' },
      empty,
      this.#thread,
    );
    this.scroll = new Scroll(this.node, this.#thread, scrolled);
  }

  update(): void {
    const { chat } = this.#context;
    const { messages } = chat;
    if (chat.chatId !== this.#chatId) this.#open(chat.chatId);
    this.#draw(messages, this.#window(messages));
    this.#waiting.hidden = !isAnswering(chat) || !isQuiet(messages.at(-1));
    this.#follows(messages);
    this.scroll.settle();
  }

  /** Returns the node of a message, if it is in the document. */
  nodeOf(message: Message): HTMLElement | undefined {
    return this.#views.get(message)?.node;
  }

  remove(): void {
    this.scroll.remove();
    for (const view of this.#views.values()) view.remove?.();
  }

  #open(chatId: string): void {
    this.#chatId = chatId;
    this.#heights.clear();
    this.#lastQuestion = lastQuestion(this.#context.chat.messages)?.id;
    this.#rest.style.blockSize = '';
    this.scroll.toEnd();
  }

  /** Follows a question that was just sent. */
  #follows(messages: readonly Message[]): void {
    const question = lastQuestion(messages);
    const isNew = question?.id !== this.#lastQuestion;
    this.#lastQuestion = question?.id;
    if (isNew && this.#follow !== 'question') this.scroll.toEnd();
    if (this.#follow !== 'question' || !question) return;
    if (isNew && !this.#views.has(question)) {
      this.#show(messages, Math.max(0, messages.length - PAGE));
      this.#draw(messages);
    }
    const node = this.nodeOf(question);
    if (!node) return;
    const top = node.offsetTop - 16;
    this.#rest.style.blockSize = `${Math.max(0, this.node.clientHeight - (this.#rest.offsetTop - top))}px`;
    if (isNew) this.scroll.moveTo(top);
  }

  #window(messages: readonly Message[]): ReadonlySet<Message> {
    const { isAtStart, isFollowing } = this.scroll;
    const first = isFollowing ? messages.length - 1 : isAtStart ? 0 : this.#firstVisible(messages);
    const page = Math.max(0, Math.floor(first / PAGE) - 1);
    if (page === 0) void this.#context.chat.loadOlder();
    return this.#show(messages, page * PAGE);
  }

  /** Returns the position of the first message that the user sees. */
  #firstVisible(messages: readonly Message[]): number {
    const top = this.node.scrollTop;
    for (const [message, { node }] of this.#views) {
      if (node.offsetTop <= top && node.offsetTop + node.offsetHeight > top) return messages.indexOf(message);
    }
    return this.#heights.at(messages, top);
  }

  /** Puts the messages from a position into the document, and takes the others out. What is seen stays in place. */
  #show(messages: readonly Message[], from: number): ReadonlySet<Message> {
    const shown = messages.slice(from, from + 3 * PAGE);
    const old = this.#views;
    if (from === this.#from && shown.length === old.size && shown.every((message) => old.has(message))) return new Set();
    const top = this.node.scrollTop;
    const wanted = new Set(shown);
    const kept = [...old].find(
      ([message, { node }]) => wanted.has(message) && node.offsetTop + node.offsetHeight > top,
    );
    const keptTop = kept?.[1].node.offsetTop ?? 0;
    for (const [{ id }, { node }] of old) this.#heights.set(id, node);

    const giveFocus = keptFocus(this.node, [...old.values()].map(({ node }) => node));

    this.#from = from;
    this.#views = new Map(shown.map((message) => [message, old.get(message) ?? messageView(message, this.#context)]));
    for (const [message, view] of old) {
      if (wanted.has(message)) continue;
      view.node.remove();
      view.remove?.();
    }
    let place: Element = this.#before;
    for (const { node } of this.#views.values()) {
      if (place.nextSibling !== node) place.after(node);
      place = node;
    }
    this.#before.style.blockSize = `${this.#heights.sum(messages, 0, from)}px`;
    this.#after.style.blockSize = `${this.#heights.sum(messages, from + shown.length, messages.length)}px`;
    const fresh = new Set(shown.filter((message) => !old.has(message)));
    for (const message of fresh) this.#views.get(message)?.update();
    giveFocus([...this.#views.values()].map(({ node }) => node));
    if (kept && !this.scroll.isFollowing) this.scroll.keepAt(top + kept[1].node.offsetTop - keptTop);
    return fresh;
  }

  /** Draws what may have changed. While an answer arrives, that is the answer; older messages are drawn less often. */
  #draw(messages: readonly Message[], fresh: ReadonlySet<Message> = new Set()): void {
    const now = performance.now();
    const all = this.#context.chat.status !== 'streaming' || now - this.#othersAt > OTHERS_MS;
    if (all) this.#othersAt = now;
    const last = messages.at(-1);
    for (const [message, view] of this.#views) if ((all || message === last) && !fresh.has(message)) view.update();
  }
}

const dot = (): HTMLElement => element('span');

/** Returns `true` if nothing of an answer moves: it has no content yet, or a tool has just ended. */
function isQuiet(message: Message | undefined): boolean {
  const last = message?.role === 'assistant' ? message.parts.findLast(({ type }) => !type.startsWith('data-')) : undefined;
  if (!last || last.type === 'step-start') return true;
  return isTool(last) ? last.state.startsWith('output-') && !last.preliminary : 'text' in last && last.text === '';
}

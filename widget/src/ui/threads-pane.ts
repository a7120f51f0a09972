import { isAnswering } from '../chat/part.js';
import { element } from './dom.js';
import { threadList } from '../parts/index.js';
import type { View, ViewContext } from './view.js';

/** The width of a window, in pixels, from which the list of chats stays beside the conversation. */
const WIDE = 880;

/** The list of chats: over the conversation in a narrow window, and beside it in a wide one. */
export class ThreadsPane implements View {
  readonly node: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #context: ViewContext;
  readonly #window: HTMLElement;
  #list: ReturnType<typeof threadList> | undefined;
  #chatId = '';
  /** What the list depends on: the open chat, and whether it has messages and is answering. */
  #listed = '';

  constructor(context: ViewContext, window: HTMLElement, button: HTMLButtonElement) {
    this.#context = context;
    this.#window = window;
    this.#button = button;
    this.#chatId = context.chat.chatId;
    this.node = element('nav', { part: 'threads-pane', hidden: true, 'aria-label': context.texts.threads });
  }

  get isOpen(): boolean {
    return !this.node.hidden;
  }

  toggle(isOpen = !this.isOpen): void {
    const hadFocus = this.node.matches(':focus-within');
    this.node.hidden = !isOpen;
    this.#button.setAttribute('aria-expanded', String(isOpen));
    this.#window.toggleAttribute('data-threads', isOpen);
    // The conversation of a chat that was opened by a key.
    if (hadFocus && !isOpen) this.#window.querySelector<HTMLElement>('[part~=log]')?.focus();
    if (!isOpen) return;
    if (!this.#list) this.node.append((this.#list = threadList(this.#context)).node);
    void this.#list.load();
  }

  /** Closes the list if it covers the conversation. Returns `false` if it does not. */
  closeOver(): boolean {
    if (!this.isOpen || this.#isWide) return false;
    this.toggle(false);
    this.#button.focus();
    return true;
  }

  update(): void {
    const { chatId, messages } = this.#context.chat;
    // A chat that is still being loaded has no id.
    if (this.#chatId && chatId !== this.#chatId && !this.#isWide) this.toggle(false);
    this.#chatId = chatId;
    const listed = `${chatId} ${messages.length > 0} ${isAnswering(this.#context.chat)}`;
    const isNew = listed !== this.#listed;
    this.#listed = listed;
    if (!this.isOpen) return;
    this.#list?.update();
    if (isNew) void this.#list?.load();
  }

  remove(): void {
    this.#list?.remove?.();
  }

  get #isWide(): boolean {
    return this.#window.clientWidth >= WIDE;
  }
}

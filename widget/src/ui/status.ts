import type { ChatError } from '../chat/types.js';
import { button } from './button.js';
import { element, filled, setText } from './dom.js';
import { icon } from './icon.js';
import type { View, ViewContext } from './view.js';

/** Returns `true` if the server did not write the chat for this user: the session is another one, or the key of the server. */
const isForeign = (error?: ChatError): boolean => (error?.cause as { code?: string } | undefined)?.code === 'seal_invalid';

/** The notice above the composer. It says what failed and what to do. */
export class Status implements View {
  readonly node: HTMLElement;
  readonly #context: ViewContext;
  readonly #text = element('p', { part: 'notice-text' });
  readonly #retry: HTMLButtonElement;
  readonly #reload: HTMLButtonElement;
  readonly #new: HTMLButtonElement;
  readonly #end = new AbortController();

  constructor(context: ViewContext, retry: () => void, newChat: () => void) {
    this.#context = context;
    this.#retry = button(context.texts.retry, 'retry-button', retry);
    this.#reload = button(context.texts.reload, 'reload-button', () => location.reload());
    this.#new = button(context.texts.newChat, 'new-chat-button', newChat);
    const buttons = [this.#retry, this.#reload, this.#new];
    this.node = element('div', { part: 'notice', hidden: true }, icon('warning'), this.#text, ...buttons);
    const { signal } = this.#end;
    for (const type of ['online', 'offline']) addEventListener(type, () => this.update(), { signal });
  }

  update(): void {
    const text = this.#sentence();
    const { error, status } = this.#context.chat;
    this.#reload.hidden = error?.kind !== 'outdated';
    this.#retry.hidden = status !== 'error' || !error?.canRetry;
    this.#new.hidden = !isForeign(error);
    if (this.node.hidden === !text && this.#text.textContent === text) return;
    this.node.hidden = !text;
    setText(this.#text, text);
    if (text) this.#context.announce(text);
  }

  remove(): void {
    this.#end.abort();
  }

  #sentence(): string {
    const { chat, texts } = this.#context;
    const { error, status } = chat;
    if (!navigator.onLine) return texts.offline;
    if (!error) return '';
    // While it is not in the state `error`, the chat tries again by itself.
    if (status !== 'error') return error.kind === 'offline' ? texts.retryingOffline : texts.retryingBusy;
    if (error.kind === 'offline') return texts.errorOffline;
    if (error.kind === 'outdated') return texts.outdated;
    if (error.kind === 'unreadable') return texts.errorUnreadable;
    if (error.kind === 'interrupted') return texts.errorInterrupted;
    if (error.status === 401) return texts.errorSignedOut;
    if (isForeign(error)) return texts.errorForeign;
    // The server names a number of bytes.
    if (error.status === 413) return texts.errorTooLarge;
    if (error.kind !== 'refused' || error.reason !== undefined) return error.message;
    if (error.status === 403) return texts.errorForbidden;
    return filled(texts.errorStatus, { status: error.status ?? '' });
  }
}

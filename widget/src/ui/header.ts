import { iconButton } from './button.js';
import { element } from './dom.js';
import type { View, ViewContext } from './view.js';

interface Actions {
  newChat(): void;
  toggleThreads(): void;
  /** Absent if the window cannot be closed. */
  close?: (() => void) | undefined;
}

/** The title, and the buttons for the list of chats, a new chat, and closing. */
export class Header implements View {
  readonly node: HTMLElement;
  readonly threads: HTMLButtonElement;
  readonly #new: HTMLButtonElement;
  readonly #context: ViewContext;

  constructor(context: ViewContext, heading: string, actions: Actions) {
    const { texts } = context;
    this.#context = context;
    this.threads = iconButton('chats', texts.threads, 'icon-button threads-button', actions.toggleThreads);
    this.threads.setAttribute('aria-expanded', 'false');
    this.#new = iconButton('new', texts.newChat, 'icon-button new-button', actions.newChat);
    this.node = element(
      'header',
      { part: 'header' },
      this.threads,
      element('slot', { name: 'header' }, element('h2', { part: 'heading' }, heading)),
      this.#new,
      actions.close && iconButton('close', texts.closeChat, 'icon-button close-button', actions.close),
    );
  }

  update(): void {
    const isEmpty = this.#context.chat.messages.length === 0;
    if (this.#new.hidden !== isEmpty) this.#new.hidden = isEmpty;
  }
}

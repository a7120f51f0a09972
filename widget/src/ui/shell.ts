import { isAnswering, lastQuestion } from '../chat/part.js';
import { Announcer } from './announce.js';
import { iconButton } from './button.js';
import { isComposing } from './composing.js';
import { Composer } from './composer.js';
import { Questions } from './confirm.js';
import { element, filled } from './dom.js';
import type { Drafts } from './drafts.js';
import { takeDrops } from './drop.js';
import { Empty } from './empty.js';
import { perFrame } from './frame.js';
import { Header } from './header.js';
import { Log } from './log.js';
import type { Settings } from './settings.js';
import { Status } from './status.js';
import type { Texts } from './texts.js';
import { ThreadsPane } from './threads-pane.js';
import type { View, ViewContext } from './view.js';
import type { ChatWindow } from './window.js';
import type { Chat, Message } from '../chat/types.js';

interface Host {
  chat: Chat;
  drafts: Drafts;
  window: ChatWindow;
  texts: Texts;
  settings: Settings;
  setOpen(isOpen: boolean): void;
  fire(type: string, detail: unknown): boolean;
  slotted(name: string): boolean;
}

/** The shortest time between two drawings while an answer arrives, in milliseconds. */
const STREAM_MS = 45;

/** The parts of the chat, drawn once in each frame in which something has changed. */
export class Shell {
  readonly #window: ChatWindow;
  readonly #chat: Chat;
  readonly #composer: Composer;
  readonly #log: Log;
  readonly #views: View[];
  readonly #announcer: Announcer;
  readonly #pane: ThreadsPane;
  readonly #questions: Questions;
  readonly #frame = perFrame(() => this.#draw());
  readonly #unsubscribe: () => void;
  readonly #toEnd: HTMLButtonElement;
  readonly #texts: Texts;
  /** The answers that the user has not seen, because the window is closed or shows an earlier place. */
  #answers: number;
  #news = 0;
  #first: Message | undefined;
  /** `true` once the chat of the browser or the server is loaded. Its answers are not new. */
  #isReady = false;

  constructor({ chat, drafts, window, texts, settings, setOpen, fire, slotted }: Host) {
    const { mode, locale, imageOrigins } = settings;
    const announcer = new Announcer(chat, texts);
    const context: ViewContext = {
      chat,
      drafts,
      texts,
      locale,
      imageOrigins,
      announce: (sentence) => announcer.say(sentence),
      fire,
      slotted,
    };
    const heading = settings.heading ?? texts.assistant;
    const canClose = mode === 'popup' || mode === 'sidebar';
    this.#chat = chat;
    this.#window = window;
    this.#texts = texts;
    this.#announcer = announcer;
    this.#answers = countAnswers(chat);

    const ask = (text: string): void => {
      void chat.sendMessage({ text });
      this.#composer.input.focus();
    };
    const empty = new Empty(context, settings.suggestions, ask);
    const newChat = () => {
      chat.newChat();
      this.focus();
    };
    const header = new Header(context, heading, {
      newChat,
      toggleThreads: () => this.#pane.toggle(),
      close: canClose ? () => setOpen(false) : undefined,
    });
    this.#log = new Log(context, empty.node, settings.follow, () => this.#frame.request());
    this.#composer = new Composer(context, {
      accept: settings.accept,
      editLast: () => this.#editLast(),
    });
    const retry = () => {
      if (!this.#composer.sendAgain()) void chat.regenerate();
      this.#composer.input.focus();
    };
    const status = new Status(context, retry, newChat);
    this.#questions = new Questions(context, (hadFocus) => {
      if (hadFocus) this.#log.node.focus();
      this.#frame.request();
    });
    // A shell that takes the place of this one asks what is open. Without one, the answer is no.
    chat.onConfirm = async (...question) =>
      (await this.#questions.ask(...question)) ?? (await chat.onConfirm?.(...question)) ?? false;
    this.#toEnd = iconButton('end', texts.toEnd, 'icon-button to-end', () => {
      this.#log.scroll.toEnd();
      this.#composer.input.focus();
    });
    this.#toEnd.append(element('span', { part: 'count', hidden: true }));

    const place = element('div', { part: 'place' }, this.#log.node, this.#toEnd);
    const foot = element(
      'div',
      { part: 'foot' },
      this.#questions.node,
      status.node,
      this.#composer.node,
      element('slot', { name: 'footer' }),
    );
    const main = element('div', { part: 'main' }, place, foot, announcer.node);
    const body = element('div', { part: 'body' }, main);
    this.#pane = new ThreadsPane(context, body, header.threads);
    body.prepend(this.#pane.node);
    window.node.append(header.node, body);
    for (const node of [header.node, body]) node.addEventListener('keydown', (event) => this.#key(event));
    takeDrops(body, texts.dropFiles, this.#composer.takesFiles ? (files) => this.#composer.add(files) : undefined);
    this.#views = [empty, header, this.#pane, this.#log, status, this.#composer];
    let wasStreaming = false;
    this.#unsubscribe = chat.subscribe(() => {
      const isStreaming = chat.status === 'streaming';
      // The first words of an answer are shown at once.
      this.#frame.request(isStreaming && wasStreaming ? STREAM_MS : 0);
      wasStreaming = isStreaming;
    });
    void chat.ready.then(() => {
      this.#draw();
      this.#isReady = true;
    });
  }

  /** Moves the focus to the field. A list of chats that covers it is closed. */
  focus(): void {
    this.#pane.closeOver();
    this.#composer.input.focus();
  }

  /** Shows what has changed at once. */
  update(): void {
    this.#draw();
  }

  remove(): void {
    this.#unsubscribe();
    this.#chat.onConfirm = undefined;
    this.#questions.remove();
    this.#frame.cancel();
    for (const view of this.#views) view.remove?.();
  }

  #draw(): void {
    const answers = countAnswers(this.#chat);
    const isOpen = this.#window.isOpen;
    if (isOpen) {
      for (const view of this.#views) view.update();
      this.#announcer.update();
    }
    const sees = isOpen && this.#log.scroll.isAtEnd;
    const [first] = this.#chat.messages;
    if (sees || !this.#isReady || answers < this.#answers) this.#news = 0;
    // The answers of older messages that were loaded are not new.
    else if (!this.#first || first === this.#first) this.#news += answers - this.#answers;
    this.#answers = answers;
    this.#first = first;
    this.#window.count(isOpen ? 0 : this.#news + Number(this.#questions.isOpen));
    if (isOpen) this.#showEnd(!sees);
  }

  #showEnd(isAway: boolean): void {
    const button = this.#toEnd;
    const count = button.lastElementChild as HTMLElement;
    button.hidden = !isAway;
    count.hidden = this.#news === 0;
    count.textContent = String(this.#news);
    const label = this.#news ? filled(this.#texts.newAnswers, { count: this.#news }) : this.#texts.toEnd;
    button.setAttribute('aria-label', label);
    button.title = label;
  }

  /** F6 moves between the conversation and the field. Escape closes the list of chats before the window. */
  #key(event: KeyboardEvent): void {
    if (event.defaultPrevented || isComposing(event)) return;
    if (event.key === 'F6') {
      if (this.#composer.input.matches(':focus')) this.#log.node.focus();
      else this.focus();
    } else if (event.key !== 'Escape' || !this.#pane.closeOver()) return;
    event.preventDefault();
  }

  #editLast(): void {
    const message = lastQuestion(this.#chat.messages);
    if (!message || isAnswering(this.#chat)) return;
    this.#log.scroll.toEnd();
    this.#log.nodeOf(message)?.querySelector<HTMLElement>('[part~=edit]')?.click();
  }
}

/** Counts the complete answers, and those that wait for the user. */
function countAnswers(chat: Chat): number {
  const answers = chat.messages.filter(({ role }) => role === 'assistant');
  const isGrowing = isAnswering(chat) && chat.messages.at(-1)?.role === 'assistant';
  return answers.length - Number(isGrowing);
}

import { early } from './early.js';
import { Drafts } from './drafts.js';
import { ChatEvents } from './events.js';
import { CHAT_ATTRIBUTES, LIVE_ATTRIBUTES, SHELL_ATTRIBUTES, settingsOf } from './settings.js';
import { Shell } from './shell.js';
import { ChatWindow } from './window.js';
import { sheet } from './style/index.js';
import type { Texts } from './texts.js';
import { valueOf } from '../chat/base.js';
import { createChat } from '../chat/deferred.js';
import { Registry } from '../chat/registry.js';
import { directionOf, textsFor } from '../i18n/index.js';
import type { Chat, ChatOptions } from '../chat/types.js';

/** The methods of the chat that the element has too. */
const METHODS = [
  'sendMessage',
  'stop',
  'regenerate',
  'edit',
  'newChat',
  'setChatId',
  'addToolResult',
  'registerTool',
  'registerContext',
  'addContext',
] as const;

export interface OmniAssistChat extends Pick<Chat, (typeof METHODS)[number]> {}

/** `<omniassist-chat>`: the assistant in a page. */
export class OmniAssistChat extends HTMLElement {
  static readonly observedAttributes = [...SHELL_ATTRIBUTES, ...CHAT_ATTRIBUTES, ...LIVE_ATTRIBUTES];

  /** Headers of each request, or a function that returns them. Read at each request. Default: none. */
  headers: ChatOptions['headers'] = early(this, 'headers');
  /** Cookies for another origin. Read at each request. Default: `same-origin`. */
  credentials: ChatOptions['credentials'] = early(this, 'credentials');

  /** The tools and the context of the element, which stay when another agent or server gets another chat. */
  readonly #registry = new Registry();
  #texts: Partial<Texts> = early(this, 'texts') ?? {};
  #chat: Chat | undefined;
  #drafts: Drafts | undefined;
  #window: ChatWindow | undefined;
  #shell: Shell | undefined;
  #drawing = 0;
  #isDue = false;
  #focusNext = false;

  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet()];
  }

  /** Replaces some of the texts. New ones are drawn at once. Default: none. */
  get texts(): Partial<Texts> {
    return this.#texts;
  }
  set texts(texts: Partial<Texts>) {
    const isSame = JSON.stringify(texts) === JSON.stringify(this.#texts);
    this.#texts = texts;
    if (!isSame) this.#request();
  }

  /** The conversation. It is made when it is needed first. */
  get chat(): Chat {
    return (this.#chat ??= this.#makeChat());
  }

  /** `true` if the window is open. */
  get isOpen(): boolean {
    return this.#window?.isOpen ?? false;
  }

  /** Opens the window of the modes `popup` and `sidebar`, and moves the focus into it. */
  open(): void {
    this.#focusNext = true;
    if (!this.hasAttribute('open')) this.setAttribute('open', '');
    else this.#opened();
  }

  close(): void {
    this.removeAttribute('open');
  }

  toggle(): void {
    if (this.hasAttribute('open')) this.close();
    else this.open();
  }

  connectedCallback(): void {
    this.#request();
  }

  disconnectedCallback(): void {
    // An element that is only moved in the page is connected again by then.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#removeShell();
      this.#closeChat();
    });
  }

  attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (old === value) return;
    if (name === 'open') return this.#opened();
    if (name === 'chat') {
      if (value) void (this.isConnected ? this.chat : this.#chat)?.setChatId(value);
      return;
    }
    if (CHAT_ATTRIBUTES.includes(name)) this.#closeChat();
    this.#request();
  }

  /** Draws the element once after all changes of attributes. */
  #request(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.isConnected) void this.#make();
    });
  }

  async #make(): Promise<void> {
    const drawing = ++this.#drawing;
    const settings = settingsOf(this);
    const texts = { ...(await textsFor(settings.locale)), ...this.#texts };
    if (drawing !== this.#drawing || !this.isConnected) return;
    // A window that covers a phone, or has the focus, stays open and keeps it.
    this.#focusNext ||= !!this.#window?.node.matches(':modal, :focus-within');
    this.#removeShell();
    const setOpen = (isOpen: boolean): void => (isOpen ? this.open() : this.close());
    const window = new ChatWindow({
      mode: settings.mode,
      heading: settings.heading ?? texts.assistant,
      texts,
      setOpen,
      fill: (window) => {
        this.#shell = new Shell({
          chat: this.chat,
          drafts: (this.#drafts ??= new Drafts(settings.isKept)),
          window,
          texts,
          settings,
          setOpen,
          fire: (type, detail) => this.#fire(type, detail),
          slotted: (name) => this.querySelector(`:scope > [slot="${CSS.escape(name)}"]`) !== null,
        });
      },
      focus: () => this.#shell?.focus(),
    });
    this.#window = window;
    for (const node of window.nodes) {
      node.lang = settings.locale;
      if (!this.hasAttribute('dir') && (this.hasAttribute('locale') || !this.closest('[dir]'))) node.dir = directionOf(settings.locale);
    }
    this.shadowRoot?.append(...window.nodes);
    window.start();
    if (this.#chat) window.fill();
    if (this.hasAttribute('open')) this.#opened();
    else if (this.#focusNext && window.isOpen) {
      this.#focusNext = false;
      this.#shell?.focus();
    }
    this.#shell?.update();
  }

  #opened(): void {
    const window = this.#window;
    if (!window || !this.isConnected) return;
    const wasOpen = window.isOpen;
    if (this.hasAttribute('open')) window.open(this.#focusNext);
    else window.close();
    this.#focusNext = false;
    this.#shell?.update();
    if (wasOpen !== window.isOpen) this.#fire(wasOpen ? 'omni-close' : 'omni-open', {});
  }

  #makeChat(): Chat {
    const read = (name: string): string | undefined => this.getAttribute(name) ?? undefined;
    const options = {
      api: read('api'),
      agent: read('agent'),
      chatId: read('chat'),
      storagePrefix: read('storage-prefix'),
      persist: (['local', 'session', 'none'] as const).find((kind) => kind === read('persist')),
    };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const chat = createChat(
      {
        ...given,
        older: 'asked',
        headers: () => valueOf(this.headers) ?? {},
        credentials: () => valueOf(this.credentials),
      },
      this.#registry,
    );
    const events = new ChatEvents(chat, (type, detail) => this.#fire(type, detail));
    chat.subscribe(() => events.update());
    // A closed window counts the answers.
    queueMicrotask(() => this.#window?.fill());
    return chat;
  }

  #closeChat(): void {
    this.#chat?.close();
    this.#chat = undefined;
    this.#drafts = undefined;
  }

  #removeShell(): void {
    this.#shell?.remove();
    this.#window?.remove();
    this.#shell = undefined;
    this.#window = undefined;
  }

  #fire(type: string, detail: unknown): boolean {
    return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }));
  }
}

for (const name of METHODS) {
  Object.defineProperty(OmniAssistChat.prototype, name, {
    value(this: OmniAssistChat, ...words: never[]) {
      return (this.chat[name] as (...words: never[]) => unknown)(...words);
    },
  });
}

/** Defines the element, unless the page has it already. */
export function define(): void {
  if (!customElements.get('omniassist-chat')) customElements.define('omniassist-chat', OmniAssistChat);
}

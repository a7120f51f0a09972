import { createChat } from '../chat/index.js';
import type { Chat, ChatError, ChatOptions, ChatStatus, Message } from '../chat/types.js';

/**
 * The state of a chat at one time. Its messages are copies, so that a framework sees what has changed. Those before an answer
 * that arrives stay the same objects.
 */
export interface ChatSnapshot {
  messages: Message[];
  status: ChatStatus;
  error: ChatError | undefined;
  chatId: string;
  isStored: boolean;
}

const EMPTY: ChatSnapshot = { messages: [], status: 'ready', error: undefined, chatId: '', isStored: false };

/** A chat that is made when it is used first, and closed when no component uses it any more. */
export class ChatStore {
  readonly #options: ChatOptions;
  #chat: Chat | undefined;
  #snapshot = EMPTY;
  #users = 0;

  constructor(options: ChatOptions) {
    this.#options = options;
  }

  get chat(): Chat {
    if (!this.#chat) {
      this.#chat = createChat(this.#options);
      this.#look(this.#chat);
    }
    return this.#chat;
  }

  /** Calls `listener` after each change. Returns a function that ends that. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const { chat } = this;
    this.#users += 1;
    const end = chat.subscribe(() => {
      this.#look(chat);
      listener();
    });
    return () => {
      end();
      this.#users -= 1;
      // A framework may end a component and begin it again at once.
      queueMicrotask(() => {
        if (this.#users || this.#chat !== chat) return;
        this.#chat = undefined;
        chat.close();
      });
    };
  };

  /** Returns the same object until the chat changes. */
  readonly snapshot = (): ChatSnapshot => this.#snapshot;

  #look({ messages, status, error, chatId, isStored }: Chat): void {
    const last = this.#snapshot;
    // While an answer arrives, only the last message changes. Copies of a long chat would take most of the time.
    const isArriving = status === 'streaming' && last.status === status && last.chatId === chatId;
    const copies = messages.map((message, at) => {
      const known = isArriving && at < messages.length - 1 ? last.messages[at] : undefined;
      return known?.id === message.id ? known : { ...message, parts: message.parts.map((part) => ({ ...part })) };
    });
    this.#snapshot = { messages: copies, status, error, chatId, isStored };
  }
}

/** The snapshot on a server that renders the page. */
export const emptySnapshot = (): ChatSnapshot => EMPTY;

/** Returns what makes a chat another one. */
export const identityOf = ({ api, agent, persist }: ChatOptions): string => JSON.stringify([api, agent, persist]);

/** Returns the functions of the chat of a store. They stay the same ones. */
export const functionsOf = (store: ChatStore) => ({
  sendMessage: ((message) => store.chat.sendMessage(message)) as Chat['sendMessage'],
  stop: () => store.chat.stop(),
  regenerate: ((messageId) => store.chat.regenerate(messageId)) as Chat['regenerate'],
  edit: ((messageId, text) => store.chat.edit(messageId, text)) as Chat['edit'],
  approve: ((part, approved, options) => store.chat.approve(part, approved, options)) as Chat['approve'],
  addToolResult: ((result) => store.chat.addToolResult(result)) as Chat['addToolResult'],
  setChatId: (chatId: string) => store.chat.setChatId(chatId),
  newChat: () => store.chat.newChat(),
  getChat: () => store.chat,
});

import { validateMessages } from '../validate/index.js';
import { textOf } from './part.js';
import type { Message } from './types.js';

/** An entry of the index of chats. */
export interface StoredThread {
  id: string;
  title: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
}

/** A chat in the storage of the browser. */
export interface StoredChat {
  id: string;
  messages: Message[];
  agentId?: string;
  /** The ids of incomplete answers. */
  cut?: string[];
  /** The state of `Branching`. */
  branches?: unknown;
  /** The calls that the page began to run. */
  begun?: string[];
}

const TITLE_CHARS = 80;

/** Chats in the storage of the browser. The keys and values are those of Hsafa, so its chats are read too. */
export class ChatStorage {
  readonly #area: Storage | undefined;
  readonly #name: string;
  readonly #agent: string;

  /** `prefix` and the agent begin each key. */
  constructor(area: Storage | undefined, agent: string, prefix = 'hsafaChat_') {
    this.#area = area;
    this.#agent = agent;
    this.#name = `${prefix}${agent}`;
  }

  /** Returns `true` if a change of this key, by another page, concerns this chat or all of them. */
  isAbout(key: string | null, area: Storage | null, chat: string): boolean {
    return area === this.#area && (key === null || key === this.#chatKey(chat));
  }

  get index(): StoredThread[] {
    const list = this.#read(`${this.#name}.chats`);
    const isThread = ({ id, title, updatedAt }: Partial<StoredThread>): boolean =>
      typeof id === 'string' && typeof title === 'string' && !Number.isNaN(new Date(updatedAt as number).getTime());
    return Array.isArray(list) ? list.filter((one) => isThread(Object(one))) : [];
  }

  /** The id of the chat that was open last. */
  get current(): string | undefined {
    return this.#area?.getItem(`${this.#name}.currentChatId`) || undefined;
  }

  set current(chat: string | undefined) {
    this.#write(`${this.#name}.currentChatId`, chat);
  }

  /**
   * Returns a chat. The text of one that is not of the expected form stays under the key of the chat with `.refused`, and
   * `refused` gets the error.
   */
  load(chat: string, refused?: (error: Error) => void): StoredChat | undefined {
    const key = this.#chatKey(chat);
    const text = this.#area?.getItem(key);
    if (!text) return undefined;
    try {
      return { ...checked(JSON.parse(text)), id: chat };
    } catch (error) {
      // Without space for both, the text gets the place of the chat.
      if (!this.#put(`${key}.refused`, text)) {
        this.#write(key, undefined);
        this.#put(`${key}.refused`, text);
      }
      refused?.(error as Error);
      return undefined;
    }
  }

  /** Returns the texts of a chat, for a search. */
  textOf(chat: string): string {
    return this.load(chat)?.messages.map(textOf).join('\n') ?? '';
  }

  /** Stores a chat. If the storage is full, the oldest other chats are deleted, unless the chat is too large without them. */
  save(chat: StoredChat, isListed: boolean): void {
    const text = JSON.stringify({ ...chat, agentId: this.#agent });
    const before = this.#read(this.#chatKey(chat.id)) as StoredChat | undefined;
    const isNew = JSON.stringify(before?.messages) !== JSON.stringify(chat.messages);
    const known = this.index.find(({ id }) => id === chat.id);
    const others = this.index.filter(({ id }) => id !== chat.id).sort((a, b) => a.updatedAt - b.updatedAt);
    const removed: [key: string, text: string][] = [];
    while (!this.#put(this.#chatKey(chat.id), text)) {
      const oldest = others[removed.length];
      if (!oldest) return removed.forEach(([key, old]) => this.#put(key, old));
      const key = this.#chatKey(oldest.id);
      removed.push([key, this.#area?.getItem(key) ?? '']);
      this.#write(key, undefined);
    }
    for (const { id } of others.slice(0, removed.length)) this.delete(id);
    if (!isListed || !isNew) return;
    const question = chat.messages.find(({ role }) => role === 'user');
    const title = known?.title || textOf(question).slice(0, TITLE_CHARS);
    this.#list({ createdAt: Date.now(), ...known, id: chat.id, title, updatedAt: Date.now() });
  }

  rename(chat: string, title: string): void {
    const known = this.index.find(({ id }) => id === chat);
    if (known) this.#list({ ...known, title });
  }

  delete(chat: string): void {
    for (const end of ['', '.refused']) this.#write(this.#chatKey(chat) + end, undefined);
    this.#write(`${this.#name}.chats`, JSON.stringify(this.index.filter(({ id }) => id !== chat)));
  }

  #list(thread: StoredThread): void {
    const others = this.index.filter(({ id }) => id !== thread.id);
    this.#put(`${this.#name}.chats`, JSON.stringify([thread, ...others]));
  }

  #chatKey(chat: string): string {
    return `${this.#name}.chat.${chat}`;
  }

  #read(key: string): unknown {
    try {
      return JSON.parse(this.#area?.getItem(key) ?? 'null') ?? undefined;
    } catch {
      return undefined;
    }
  }

  #put(key: string, text: string): boolean {
    try {
      this.#area?.setItem(key, text);
      return true;
    } catch {
      return false;
    }
  }

  #write(key: string, text: string | undefined): void {
    if (text === undefined) this.#area?.removeItem(key);
    else this.#put(key, text);
  }
}

/** Returns the storage of the browser. `undefined` if there is none, or the user forbids it. */
export function areaOf(persist: 'local' | 'session' | 'none'): Storage | undefined {
  if (persist === 'none') return undefined;
  try {
    const area = persist === 'local' ? globalThis.localStorage : globalThis.sessionStorage;
    // The user may forbid the use of it only.
    area?.getItem('');
    return area;
  } catch {
    return undefined;
  }
}

/** Reads a chat of any version. Throws if a value is not of the expected form. */
function checked(value: unknown): Omit<StoredChat, 'id'> {
  const { branches = [], cut = [], begun = [], ...rest } = Array.isArray(value) ? { messages: value } : Object(value);
  const read = (place: { messages?: unknown }) => (place.messages ? validateMessages(place.messages) : {});
  return {
    ...rest,
    ...validateMessages(rest.messages),
    branches: branches.map(([parent, tails]: [string, object[]]) => [parent, tails.map((tail) => ({ ...tail, ...read(tail) }))]),
    cut: [...cut],
    begun: [...begun],
  };
}

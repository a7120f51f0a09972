import type { ChatFailure } from './failure.js';
import { once, reach } from './retry.js';
import type { Server } from './server.js';
import type { Message, Thread } from './types.js';

/** A page of messages of a stored chat. */
interface MessagePage {
  messages: Message[];
  /** `true` if there are older messages. */
  more: boolean;
}

/** The chats that the server stores. */
export class StoredChats {
  readonly #server: Server;
  readonly #signal: AbortSignal;

  constructor(server: Server, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
  }

  /** Sends a request for all chats, or one of them. */
  async request(path: string, init: Parameters<Server['send']>[1] = {}): Promise<Response> {
    const signal = this.#signal;
    return reach(() => this.#server.send(`${this.#server.api}/threads${path}`, { signal, ...init }), signal);
  }

  /** Returns `true` if the server stores the chats of this user. */
  async areOpen(signal: AbortSignal): Promise<boolean> {
    return (await this.#server.send(`${this.#server.api}/threads?limit=1`, { signal })).ok;
  }

  /** Changes the title of a chat, or the message at the end of its shown branch. */
  async change(chat: string, change: { title: string } | { head: string }): Promise<void> {
    await this.request(pathOf(chat), { method: 'PATCH', body: change });
  }

  /** Deletes a chat. It is not tried again later: the user may have thought better of it. */
  async delete(chat: string): Promise<void> {
    await once(() => this.#server.send(`${this.#server.api}/threads${pathOf(chat)}`, { method: 'DELETE' })).catch(ignoreMissing);
  }

  /** Returns a chat. `undefined` if there is none with this id. */
  async find(chat: string, signal: AbortSignal): Promise<Thread | undefined> {
    return this.#load<Thread>(pathOf(chat), signal).catch(ignoreMissing);
  }

  /** Returns the newest messages. */
  messages(chat: string, signal: AbortSignal): Promise<MessagePage> {
    return this.#load(`${pathOf(chat)}/messages`, signal);
  }

  /** Returns the messages before one. */
  async before(chat: string, message: string, limit: number): Promise<MessagePage> {
    const response = await this.request(`${pathOf(chat)}/messages?limit=${limit}&before=${encodeURIComponent(message)}`);
    return response.json() as Promise<MessagePage>;
  }

  async #load<T>(path: string, signal: AbortSignal): Promise<T> {
    const response = await once(() => this.#server.send(`${this.#server.api}/threads${path}`, { signal }));
    return response.json() as Promise<T>;
  }
}

function ignoreMissing(error: ChatFailure): undefined {
  if (error.status !== 404 && error.status !== 410) throw error;
}

const pathOf = (chat: string): string => `/${encodeURIComponent(chat)}`;

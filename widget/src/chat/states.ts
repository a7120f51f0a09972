import type { Conversation, InstanceData } from './conversation.js';
import type { ChatFailure } from './failure.js';
import { reach } from './retry.js';
import type { Server } from './server.js';

/** The members of a chat that the states of its components use. */
export interface StateHooks {
  /** Aborted when the chat is closed. */
  readonly end: AbortSignal;
  changed(): void;
  /** A change could not be sent. */
  failed(error: unknown): void;
}

/** The states of components. A server that stores chats keeps each change at once; others get it with the next post. */
export class InstanceStates {
  /** Resolves when no change is on its way. */
  kept: Promise<void> = Promise.resolve();
  readonly #server: Server;
  readonly #conversation: Conversation;
  readonly #hooks: StateHooks;
  /** The changes that no server has received, by chat and instance. */
  readonly #changes = new Map<string, Record<string, unknown>>();

  constructor(server: Server, conversation: Conversation, hooks: StateHooks) {
    this.#server = server;
    this.#conversation = conversation;
    this.#hooks = hooks;
  }

  change(instance: string, change: Record<string, unknown>, isStored: boolean): void {
    const { id } = this.#conversation;
    const data = this.#conversation.instance(instance);
    if (!data) return;
    data.state = { ...data.state, ...change };
    if (isStored) {
      const key = keyOf(id, instance);
      this.#changes.set(key, { ...this.#changes.get(key), ...change });
      this.kept = this.kept.then(() => this.#keep(id, instance, data));
    }
    this.#hooks.changed();
  }

  async #keep(chatId: string, instance: string, data: InstanceData): Promise<void> {
    const key = keyOf(chatId, instance);
    let change = this.#changes.get(key);
    // A request before this one has sent it.
    if (!change) return;
    /** Changes what is shown. The messages may have been loaded again without the change of the user. */
    const shown = (answer?: object): InstanceData => {
      const { id } = this.#conversation;
      const now = (id === chatId && this.#conversation.instance(instance)) || data;
      return Object.assign(now, { state: { ...now.state, ...this.#changes.get(key) } }, answer);
    };
    const put = (): Promise<Response> => {
      change = this.#changes.get(key);
      return this.#server.putState(instance, { chatId, ...shown() });
    };
    try {
      const { rev, seal } = await (await reach(put, this.#hooks.end)).json();
      shown({ rev, seal });
    } catch (error) {
      const { status, cause } = error as ChatFailure & { cause?: { state?: object } };
      // Another page has changed the state: this page shows that.
      if (status === 409) shown(cause?.state);
      else this.#hooks.failed(error);
    }
    // The user may have changed the state in the meantime.
    if (this.#changes.get(key) === change) this.#changes.delete(key);
    this.#hooks.changed();
  }
}

const keyOf = (chatId: string, instance: string): string => `${chatId} ${instance}`;

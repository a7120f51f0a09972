import type { Conversation, InstanceData } from './conversation.js';
import type { Server } from './server.js';

/** The states of components. A server that stores chats keeps each change at once; others get it with the next post. */
export class InstanceStates {
  /** Resolves when no change is on its way. */
  kept: Promise<void> = Promise.resolve();
  readonly #server: Server;
  readonly #conversation: Conversation;
  readonly #changed: () => void;
  /** The instances whose newest state is not on its way. */
  readonly #waiting = new Set<string>();

  constructor(server: Server, conversation: Conversation, changed: () => void) {
    this.#server = server;
    this.#conversation = conversation;
    this.#changed = changed;
  }

  change(instance: string, change: Record<string, unknown>, isStored: boolean): void {
    const data = this.#conversation.instance(instance);
    if (!data) return;
    data.state = { ...data.state, ...change };
    // A change during a request is sent after it, together with later ones.
    if (isStored && !this.#waiting.has(instance)) {
      this.#waiting.add(instance);
      const { id } = this.#conversation;
      this.kept = this.kept.then(() => this.#keep(id, instance, data));
    }
    this.#changed();
  }

  async #keep(chatId: string, instance: string, data: InstanceData): Promise<void> {
    this.#waiting.delete(instance);
    const response = await this.#server.putState(instance, { chatId, ...data }).catch(() => undefined);
    const answer = await response?.json().catch(() => undefined);
    // Another page has changed the state: this page shows that.
    if (response?.status === 409) Object.assign(data, answer?.error?.state);
    // The user may have changed the state in the meantime.
    else if (response?.ok) Object.assign(data, { rev: answer.rev, seal: answer.seal });
    this.#changed();
  }
}

import type { ChatStatus, Message, ToolPart } from './types.js';

/** A message from one tab to the others. */
export type TabMessage =
  /** Asks if there is another tab. */
  | { type: 'hello' | 'here' }
  /** A run of this tab has another status. `messages`: from position `from` on, of a chat that no server stores. */
  | { type: 'status'; chatId: string; status: ChatStatus; from?: number; messages?: Message[]; cut?: string[]; begun?: string[]; branches?: unknown }
  /** A call was settled. */
  | { type: 'settled'; chatId: string; toolCallId: string; change: Partial<ToolPart> }
  /** The user wants the run to stop. */
  | { type: 'stop'; chatId: string }
  | { type: 'deleted'; chatId: string };

/** The other tabs with the same assistant. */
export class Tabs {
  readonly #channel: BroadcastChannel | undefined;
  readonly #name: string;
  /** Ends the claims of this tab, by their chats and calls. */
  readonly #claims = new Map<string, () => void>();
  /** `true` if there may be another tab. */
  hasOthers = false;

  constructor(name: string, onMessage: (message: TabMessage) => void) {
    this.#name = name;
    try {
      this.#channel = new BroadcastChannel(name);
    } catch {
      // There is none, or the page may not store anything.
      return;
    }
    // A process of Node.js may end while the channel is open.
    (this.#channel as { unref?(): void }).unref?.();
    this.#channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      this.hasOthers = true;
      if (data.type === 'hello') this.#channel?.postMessage({ type: 'here' });
      onMessage(data);
    };
    this.#channel.postMessage({ type: 'hello' });
  }

  post(message: TabMessage): void {
    if (this.hasOthers) this.#channel?.postMessage(message);
  }

  /**
   * Returns `true` for the first tab that claims a call, so that one tab alone posts it. A tab keeps its claim until it is
   * closed or releases it. Without locks in the browser, every claim succeeds.
   */
  claim(chatId: string, toolCallId: string): Promise<boolean> | true {
    const locks = globalThis.navigator?.locks;
    if (!locks) return true;
    const call = `${chatId} ${toolCallId}`;
    return new Promise((resolve) => {
      const keep = (lock: unknown): Promise<void> | undefined => {
        resolve(lock !== null);
        return lock ? new Promise((free) => this.#claims.set(call, free)) : undefined;
      };
      locks.request(`${this.#name} ${call}`, { ifAvailable: true }, keep).catch(() => resolve(true));
    });
  }

  /** Ends the claim of a call that every tab knows to be settled. */
  release(chatId: string, toolCallId: string): void {
    const call = `${chatId} ${toolCallId}`;
    this.#claims.get(call)?.();
    this.#claims.delete(call);
  }

  close(): void {
    for (const free of this.#claims.values()) free();
    this.hasOthers = false;
    this.#channel?.close();
  }
}

import type { Message } from '../chat/types.js';

/** The height of a message that was never in the document, in pixels. */
const GUESS = 96;

/** The heights of messages that were in the document, with the space below them. */
export class Heights {
  readonly #known = new Map<string, number>();

  set(id: string, node: HTMLElement): void {
    if (!node.isConnected) return;
    this.#known.set(id, node.offsetHeight + (parseFloat(getComputedStyle(node).marginBlockEnd) || 0));
  }

  clear(): void {
    this.#known.clear();
  }

  sum(messages: readonly Message[], from: number, to: number): number {
    let sum = 0;
    for (let index = from; index < to; index += 1) sum += this.#of(messages[index]);
    return sum;
  }

  /** Returns the position of the message at a distance from the top. */
  at(messages: readonly Message[], top: number): number {
    let sum = 0;
    for (let index = 0; index < messages.length; index += 1) {
      sum += this.#of(messages[index]);
      if (sum > top) return index;
    }
    return messages.length - 1;
  }

  #of(message: Message | undefined): number {
    return this.#known.get(message?.id ?? '') ?? GUESS;
  }
}

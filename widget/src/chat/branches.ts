import type { Branches, Message } from './types.js';

/** The messages from a place of the conversation to its end. */
interface Tail {
  /** The id of its first message. */
  first: string;
  /** The id of its last message. */
  leaf: string;
  /** Absent for a tail that is shown, or that the server has. */
  messages?: Message[] | undefined;
}

/** The alternatives of a conversation, by the message before them. */
export class Branching {
  #places = new Map<string, Tail[]>();

  branches(messages: readonly Message[], at: number): Branches {
    const tails = this.#tails(messages, at);
    const found = tails.findIndex(({ first }) => first === messages[at]?.id);
    // A tail has no entry before it is left for the first time.
    return found < 0 ? { count: tails.length + 1, current: tails.length } : { count: tails.length, current: found };
  }

  /** Cuts off the messages from a place, and keeps them as an alternative. */
  leave(messages: Message[], at: number): void {
    const tails = this.#tails(messages, at);
    const parent = idBefore(messages, at);
    const left = messages.splice(at);
    const [first, last] = [left[0], left.at(-1)];
    if (!first || !last) return;
    this.#places.set(parent, tails);
    let tail = tails.find((one) => one.first === first.id);
    if (!tail) tails.push((tail = { first: first.id, leaf: '' }));
    Object.assign(tail, { leaf: last.id, messages: left });
  }

  /** Shows another alternative. Returns the id of its last message. */
  select(messages: Message[], at: number, position: number): string | undefined {
    const { current } = this.branches(messages, at);
    const tail = this.#tails(messages, at)[position];
    if (!tail || position === current) return undefined;
    this.leave(messages, at);
    messages.push(...(tail.messages ?? []));
    tail.messages = undefined;
    return tail.leaf;
  }

  /** Returns a form for the storage. */
  saved(withMessages: boolean): unknown {
    const shown = ({ first, leaf, messages }: Tail): Tail =>
      withMessages ? { first, leaf, messages } : { first, leaf };
    return [...this.#places].map(([parent, tails]) => [parent, tails.map(shown)]);
  }

  restore(saved: unknown): void {
    this.#places = new Map((Array.isArray(saved) ? saved : []) as [string, Tail[]][]);
  }

  #tails(messages: readonly Message[], at: number): Tail[] {
    return this.#places.get(idBefore(messages, at)) ?? [];
  }
}

const idBefore = (messages: readonly Message[], at: number): string => messages[at - 1]?.id ?? '';

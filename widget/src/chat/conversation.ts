import { Branching } from './branches.js';
import { isSettled, isTool, lastStep } from './part.js';
import type { StoredChat } from './storage.js';
import type { DataPart, Message, Part, ToolPart } from './types.js';

/** The data of an instance of a component. */
export interface InstanceData {
  component: string;
  rev: number;
  state?: Record<string, unknown>;
  server?: unknown;
  seal?: string;
}

/** The open conversation. The array of its messages stays the same one. */
export class Conversation {
  id = '';
  readonly messages: Message[];
  branching = new Branching();
  /** The ids of incomplete answers. */
  cut = new Set<string>();
  /** The calls that the page began to run, until a server has received their results. */
  begun = new Set<string>();
  /** The results of this tab, by the ids of the calls, until a server has received them. */
  readonly unsent = new Map<string, Partial<ToolPart>>();
  /** The id of the last message that the server has, which is empty without one. `undefined`: it has no such conversation. */
  known: string | undefined;

  constructor(messages: Message[]) {
    this.messages = messages;
  }

  get last(): Message | undefined {
    return this.messages.at(-1);
  }

  /** `true` if the last message is a question that no server has. */
  get isUnsent(): boolean {
    return this.last?.role === 'user' && this.last.id !== this.known;
  }

  open(id: string, saved?: Partial<StoredChat>): void {
    this.id = id;
    this.messages.splice(0, this.messages.length, ...(saved?.messages ?? []));
    this.branching = new Branching();
    this.restore(saved);
    this.unsent.clear();
    this.known = undefined;
  }

  /** Takes what a storage or another tab has of the calls and the branches. Without branches, they stay. */
  restore({ branches, cut, begun }: Partial<StoredChat> = {}): void {
    if (branches) this.branching.restore(branches);
    this.cut = new Set(cut);
    this.begun = new Set(begun);
  }

  /** Returns what the storage keeps. A server that stores the chat has the messages, except for a question that was not sent. */
  saved(isStored: boolean, isBusy: boolean): StoredChat {
    const { id, last } = this;
    const messages = this.messages.filter((message) => !isStored || (this.isUnsent && message === last));
    // A run that has not ended is saved as cut, unless the server goes on with it.
    const cut = [...this.cut, ...(isBusy && !isStored && last?.role === 'assistant' ? [last.id] : [])];
    const begun = [...this.begun];
    return { id, messages, cut, begun, branches: this.branching.saved(!isStored) };
  }

  /** Takes the newest messages that the server has. A message that is shown already stays the same object. */
  take(loaded: Message[]): void {
    const { messages } = this;
    const known = new Map(messages.map((message) => [message.id, message]));
    const begin = messages.findIndex(({ id }) => id === loaded[0]?.id);
    const next = loaded.map((message) => {
      const shown = known.get(message.id);
      if (!shown || JSON.stringify(shown) === JSON.stringify(message)) return shown ?? message;
      return Object.assign(shown, { metadata: undefined }, message);
    });
    messages.splice(Math.max(begin, 0), messages.length, ...next);
  }

  /** Applies what the user or a page did to a call. */
  settle(toolCallId: string, change: Partial<ToolPart>): void {
    const part = this.call(toolCallId);
    if (part && !isSettled(part)) Object.assign(part, change);
  }

  /** Settles the calls again if their messages were loaded meanwhile. Returns `true` if no server has received that. */
  renew(): boolean {
    for (const [toolCallId, change] of this.unsent) {
      this.settle(toolCallId, change);
      if (this.call(toolCallId)?.state !== change.state) this.unsent.delete(toolCallId);
    }
    return this.unsent.size > 0;
  }

  /** Returns `true` if the call can still be settled. After a later message it is too late. */
  isOpen({ toolCallId }: ToolPart): boolean {
    const { last } = this;
    const isIt = (part: Part): boolean => isTool(part) && part.toolCallId === toolCallId && !isSettled(part);
    return last?.role === 'assistant' && lastStep(last).some(isIt);
  }

  /** Returns the open calls with complete arguments. */
  openCalls(): ToolPart[] {
    const { last } = this;
    const isWaiting = (part: Part): part is ToolPart => isTool(part) && part.state === 'input-available';
    return last ? lastStep(last).filter(isWaiting) : [];
  }

  call(toolCallId: string): ToolPart | undefined {
    const parts = this.messages.flatMap((message) => message.parts);
    return parts.findLast((part): part is ToolPart => isTool(part) && part.toolCallId === toolCallId);
  }

  /** Returns the newest data part of an instance. */
  instance(id: string): InstanceData | undefined {
    const isIt = (part: Part): boolean => part.type === 'data-ui-state' && (part as DataPart).id === id;
    for (let at = this.messages.length - 1; at >= 0; at -= 1) {
      const found = this.messages[at]?.parts.find(isIt);
      if (found) return (found as DataPart).data as InstanceData;
    }
    return undefined;
  }

  /** Returns the message that shows an instance. */
  homeOf(instance: string): Message | undefined {
    const isIt = (part: Part): boolean =>
      (part.type === 'data-ui-state' && (part as DataPart).id === instance) ||
      (isTool(part) && part.toolCallId === instance);
    return this.messages.findLast(({ parts }) => parts.some(isIt)) ?? this.last;
  }
}

import type { Conversation } from './conversation.js';
import { toolName } from './part.js';
import { page, type Registry } from './registry.js';
import type { Tabs } from './tabs.js';
import type { ToolDescriptor, ToolHandler, ToolPart } from './types.js';

/** The words of a call that ended with its page. */
const RELOADED = 'The page was loaded again while this tool ran. Its result is not known.';

/** The members of a chat that its calls use. */
export interface CallHooks {
  /** Asks the user. */
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
  /** A call has changed. */
  changed(): void;
}

/** The calls that the page or the user settles. */
export class OpenCalls {
  readonly #conversation: Conversation;
  readonly #registry: Registry;
  readonly #tabs: Tabs;
  readonly #hooks: CallHooks;
  /** The calls that this page ran or runs. */
  readonly #runs = new Map<string, Promise<void>>();

  constructor(conversation: Conversation, registry: Registry, tabs: Tabs, hooks: CallHooks) {
    this.#conversation = conversation;
    this.#registry = registry;
    this.#tabs = tabs;
    this.#hooks = hooks;
  }

  /** Returns the tool of the page that a call needs. */
  tool(part: ToolPart): { tool: ToolDescriptor; handler: ToolHandler } | undefined {
    const name = toolName(part);
    return this.#registry.tools.get(name) ?? page.tools.get(name);
  }

  /** Settles a call in the state `from`. Returns `false` if another tab or an earlier click has settled it. */
  async settle(toolCallId: string, from: ToolPart['state'], change: Partial<ToolPart>): Promise<boolean> {
    const conversation = this.#conversation;
    const { id } = conversation;
    // The part of the caller may be one that was loaded again meanwhile.
    const part = conversation.call(toolCallId);
    if (part?.state !== from || !conversation.isOpen(part) || !(await this.#tabs.claim(id, toolCallId))) return false;
    // It may have been loaded again while this tab made its claim.
    if (conversation.call(toolCallId)?.state !== from || id !== conversation.id) return false;
    this.#apply(toolCallId, change);
    return true;
  }

  /** Runs a tool of the page. It never rejects. */
  run(part: ToolPart, signal: AbortSignal): Promise<void> {
    const run = this.#run(part, signal);
    this.#runs.set(part.toolCallId, run);
    return run;
  }

  async #run(part: ToolPart, signal: AbortSignal): Promise<void> {
    const { id, begun } = this.#conversation;
    const { toolCallId } = part;
    const entry = this.tool(part);
    if (entry?.tool.title) part.title ??= entry.tool.title;
    if (!entry || !(await this.#tabs.claim(id, toolCallId)) || signal.aborted) return;
    begun.add(toolCallId);
    this.#hooks.changed();
    const confirm = (question: string): Promise<boolean> => this.#hooks.confirm(question, signal);
    const change = await Promise.resolve()
      .then(() => entry.handler(part.input as never, { signal, toolCallId, confirm }))
      // Only JSON reaches the model.
      .then((output) => ({ state: 'output-available', output: JSON.parse(JSON.stringify(output ?? null)) }) as const)
      .catch((error: unknown) => {
        const errorText = String((error as Error)?.message ?? error);
        return { state: 'output-error', errorText } as const;
      });
    // The user has stopped it, or opened another chat.
    if (this.#conversation.begun.has(toolCallId)) this.#apply(toolCallId, change);
    else this.#runs.delete(toolCallId);
  }

  /** Settles the calls that ended with their page, and none that another tab runs. Resolves with `true` if there are any. */
  async reloaded(): Promise<boolean> {
    const { begun } = this.#conversation;
    const calls = this.#conversation.openCalls().filter(({ toolCallId: id }) => begun.has(id) && !this.#runs.has(id));
    const change = { state: 'output-error', errorText: RELOADED } as const;
    const ended = await Promise.all(calls.map(({ toolCallId }) => this.settle(toolCallId, 'input-available', change)));
    return ended.includes(true);
  }

  /** The calls that this page runs, and those that it ran without a server that has their results. */
  get running(): Promise<void>[] {
    return [...this.#conversation.begun].flatMap((toolCallId) => this.#runs.get(toolCallId) ?? []);
  }

  /**
   * Runs the stored calls for which the page has a tool, beside those that it runs already, and settles those that ended with
   * their page. Those of an answer that the user stopped do not run.
   */
  async runOpen(signal: AbortSignal): Promise<Promise<void>[]> {
    await this.reloaded();
    return [...this.running, ...this.runnable.map((part) => this.run(part, signal))];
  }

  get runnable(): ToolPart[] {
    const { last, cut, begun } = this.#conversation;
    if (!last || cut.has(last.id)) return [];
    return this.#conversation.openCalls().filter((part) => this.tool(part) && !begun.has(part.toolCallId));
  }

  #apply(toolCallId: string, change: Partial<ToolPart>): void {
    this.#conversation.unsent.set(toolCallId, change);
    this.#conversation.settle(toolCallId, change);
    this.#tabs.post({ type: 'settled', chatId: this.#conversation.id, toolCallId, change });
    this.#hooks.changed();
  }
}

import type { ContextMessage, ToolDescriptor, ToolHandler } from './types.js';

/** The most context of a post, which a server takes. The older one is left out. */
export const MOST_CONTEXT = 1_000;
/** The most tools of a post, which a server takes. */
export const MOST_TOOLS = 64;

/** The tools and the context that code of the page offers. */
export class Registry {
  readonly #tools = new Map<string, { tool: ToolDescriptor; handler: ToolHandler }>();
  readonly #readers = new Map<string, () => unknown>();
  #queued: ContextMessage[] = [];
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` when a tool is added or removed. Returns a function that ends that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Registers a tool. A later one with the same name replaces an earlier one. Returns a function that removes it. */
  registerTool(tool: ToolDescriptor, handler = tool.execute?.bind(tool)): () => void {
    if (!handler) throw new TypeError(`The tool ${tool.name} has neither a handler nor \`execute\`.`);
    const entry = { tool, handler };
    this.#tools.set(tool.name, entry);
    this.#changed();
    return () => {
      if (this.#tools.get(tool.name) !== entry) return;
      this.#tools.delete(tool.name);
      this.#changed();
    };
  }

  /** Registers context that is read at each send. Returns a function that removes it. */
  registerContext(name: string, read: () => unknown): () => void {
    this.#readers.set(name, read);
    return () => {
      if (this.#readers.get(name) === read) this.#readers.delete(name);
    };
  }

  /** Adds context for the next send. */
  addContext(context: ContextMessage): void {
    this.#queued.push({ timestamp: Date.now(), ...context });
    if (this.#queued.length > MOST_CONTEXT) this.#queued.shift();
  }

  get tools(): ReadonlyMap<string, { tool: ToolDescriptor; handler: ToolHandler }> {
    return this.#tools;
  }

  /** Returns the registered context and the added one, which is then no longer kept. A reader that throws adds nothing. */
  takeContext(): ContextMessage[] {
    const read = [...this.#readers].map(([type, value]) => ({ type, data: dataOf(value), timestamp: Date.now() }));
    const queued = this.#queued;
    this.#queued = [];
    return [...queued, ...read].filter(({ data }) => data !== undefined);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function dataOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    console.error(error);
    return undefined;
  }
}

/** The tools and the context that the page offers to all of its chats. */
export const page = new Registry();

/** Registers a tool that the page runs, for all chats. Default of `handler`: `tool.execute`. Returns a function that removes it. */
export const registerTool = (tool: ToolDescriptor, handler?: ToolHandler): (() => void) =>
  page.registerTool(tool, handler);

/** Registers context that is read at each send of each chat. Returns a function that removes it. */
export const registerContext = (name: string, read: () => unknown): (() => void) => page.registerContext(name, read);

/** Adds context for the next send. */
export const addContext = (context: ContextMessage): void => page.addContext(context);

// WebMCP: the tools of the page for agents of the browser, and the tools of the browser's list for the assistant.

import { newId } from '../chat/id.js';
import { MOST_TOOLS, page } from '../chat/registry.js';
import type { ToolDescriptor, ToolHandler, ToolRun } from '../chat/types.js';

/** A tool of the browser's list. Older browsers give the schema as JSON. */
interface BrowserTool extends Omit<ToolDescriptor, 'inputSchema'> {
  inputSchema?: Record<string, unknown> | string;
}

interface Offer extends ToolDescriptor {
  execute(input: unknown, options?: { signal?: AbortSignal }): unknown;
}

/** The interface of browsers, of which older ones have only a part. */
interface ModelContext extends Partial<EventTarget> {
  registerTool(tool: Offer, options?: { signal?: AbortSignal }): unknown;
  unregisterTool?(name: string): void;
  getTools?(): Promise<BrowserTool[]>;
  executeTool?(tool: BrowserTool, input: unknown, options?: { signal?: AbortSignal }): Promise<string | null>;
}

const modelContext = (): ModelContext | undefined =>
  (document as { modelContext?: ModelContext }).modelContext ??
  (navigator as { modelContext?: ModelContext }).modelContext;

/**
 * Offers the registered tools to the browser, and registers the tools that other code offers to the browser. Does nothing
 * in a browser without WebMCP. Returns a function that ends both.
 */
export function webmcp(): () => void {
  const context = modelContext();
  if (!context) return () => {};
  const offered = new Map<string, { handler: ToolHandler; stop: AbortController }>();
  const taken = new Map<string, { handler: ToolHandler; remove: () => void }>();
  let isEnded = false;

  const withdraw = (name: string): void => {
    offered.get(name)?.stop.abort();
    offered.delete(name);
    context.unregisterTool?.(name);
  };
  const offerAll = (): void => {
    for (const [name, { handler }] of offered) if (page.tools.get(name)?.handler !== handler) withdraw(name);
    for (const [name, { tool, handler }] of page.tools) {
      if (offered.has(name) || taken.get(name)?.handler === handler) continue;
      const stop = new AbortController();
      offered.set(name, { handler, stop });
      void offer(context, tool, handler, stop.signal);
    }
  };
  const takeAll = async (): Promise<void> => {
    const tools = (await context.getTools?.()) ?? [];
    if (isEnded) return;
    const names = new Set(tools.map(({ name }) => name));
    for (const [name, { remove }] of taken) {
      if (names.has(name)) continue;
      taken.delete(name);
      remove();
    }
    for (const tool of tools) {
      // A server refuses other names, and more tools.
      if (!/^[\w-]{1,64}$/.test(tool.name) || page.tools.size >= MOST_TOOLS || page.tools.has(tool.name)) continue;
      const handler: ToolHandler = (input, { signal }) => execute(context, tool.name, input, signal);
      // The entry is needed before the registry reports the tool.
      const entry = { handler, remove: () => {} };
      taken.set(tool.name, entry);
      try {
        entry.remove = page.registerTool(described(tool), handler);
      } catch {
        taken.delete(tool.name); // Its schema is no JSON.
      }
    }
  };

  const unsubscribe = page.subscribe(offerAll);
  const changed = (): void => void takeAll().catch(() => {}); // Without the list, there are no tools.
  context.addEventListener?.('toolchange', changed);
  offerAll();
  changed();
  return () => {
    isEnded = true;
    unsubscribe();
    context.removeEventListener?.('toolchange', changed);
    for (const name of [...offered.keys()]) withdraw(name);
    for (const { remove } of taken.values()) remove();
  };
}

async function offer(
  context: ModelContext,
  tool: ToolDescriptor,
  handler: ToolHandler,
  signal: AbortSignal,
): Promise<void> {
  const execute = (input: unknown, options?: { signal?: AbortSignal }): unknown => {
    const run: ToolRun = {
      signal: options?.signal ?? signal,
      toolCallId: `webmcp-${newId()}`,
      // There is no chat that could ask.
      confirm: async (question) => window.confirm(question),
    };
    return handler(input as never, run);
  };
  try {
    await context.registerTool({ inputSchema: { type: 'object', properties: {} }, ...tool, execute }, { signal });
  } catch {
    // Other code offers a tool with this name to the browser already.
  }
}

const described = ({ name, description, title, inputSchema }: BrowserTool): ToolDescriptor => ({
  name,
  description,
  ...(title && { title }),
  ...(inputSchema && { inputSchema: typeof inputSchema === 'string' ? JSON.parse(inputSchema) : inputSchema }),
});

async function execute(context: ModelContext, name: string, input: unknown, signal: AbortSignal): Promise<unknown> {
  const tool = (await context.getTools?.())?.find((tool) => tool.name === name);
  if (!tool || !context.executeTool) throw new Error(`The page no longer offers ${name}.`);
  // Browsers that give the schema as JSON take the arguments as JSON too.
  const argument = typeof tool.inputSchema === 'string' ? JSON.stringify(input) : input;
  const output = await context.executeTool(tool, argument, { signal });
  try {
    return JSON.parse(output ?? 'null');
  } catch {
    return output;
  }
}

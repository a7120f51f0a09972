import { isOutdated, NO_SERVER, ownBase } from './base.js';
import type { Client } from './client.js';
import { Registry } from './registry.js';
import type { Chat, ChatError, ChatOptions, Message } from './types.js';

/** The parts of a chat that are there before its engine is loaded. */
export interface Begun {
  readonly messages: Message[];
  readonly registry: Registry;
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
}

type Awaiting = 'sendMessage' | 'newChat' | 'regenerate' | 'edit' | 'selectBranch' | 'setChatId' | 'approve' | 'addToolResult';

const OUTDATED = 'The server has a newer version. Load the page again.';

/**
 * Creates a conversation with an assistant, without a user interface. Its engine is another module, which is loaded at
 * once. `registry` has its tools and context, which can outlast it. Default: its own.
 */
export function createChat(options: ChatOptions = {}, registry = new Registry()): Chat {
  const api = (options.api ?? ownBase()).replace(/\/+$/, '');
  const messages: Message[] = [];
  const listeners = new Set<() => void>();
  const changed = (): void => listeners.forEach((listener) => listener());
  let client: Client | undefined;
  let error: ChatError | undefined;
  let isClosed = false;

  async function load(): Promise<Client> {
    try {
      const { Client } = await import('./client.js');
      const confirm: Begun['confirm'] = async (...words) => (await chat.onConfirm?.(...words)) ?? false;
      if (!client) {
        client = new Client({ ...options, api }, { messages, registry, confirm });
        client.subscribe(changed);
        if (isClosed) client.close();
      }
      error = undefined;
      return client;
    } catch (cause) {
      const isOld = await isOutdated();
      const kind = isOld ? 'outdated' : 'offline';
      error = Object.assign(new Error(isOld ? OUTDATED : NO_SERVER, { cause }), { kind, canRetry: !isOld } as const);
      changed();
      options.onError?.(error);
      throw error;
    }
  }
  /** Returns a method of the engine that waits for it. A failure to load it shows in `error`. */
  const later =
    <K extends Awaiting>(name: K) =>
    async (...words: Parameters<Chat[K]>): Promise<void> => {
      const loaded = await load().catch(() => undefined);
      await (loaded?.[name] as ((...words: Parameters<Chat[K]>) => Promise<void>) | undefined)?.apply(loaded, words);
    };

  const chat: Chat = {
    api,
    agent: options.agent,
    messages,
    ready: load().then((loaded) => loaded.ready, () => {}),
    onConfirm: undefined,
    get chatId() {
      return client?.chatId ?? options.chatId ?? '';
    },
    get status() {
      return error ? 'error' : (client?.status ?? 'ready');
    },
    get error() {
      return error ?? client?.error;
    },
    get isStored() {
      return client?.isStored ?? false;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    sendMessage: later('sendMessage'),
    regenerate: later('regenerate'),
    edit: later('edit'),
    selectBranch: later('selectBranch'),
    setChatId: later('setChatId'),
    approve: later('approve'),
    addToolResult: later('addToolResult'),
    threads: async (wanted) => (await load()).threads(wanted),
    renameThread: async (...words) => (await load()).renameThread(...words),
    deleteThread: async (id) => (await load()).deleteThread(id),
    dispatch: async (...words) => (await load()).dispatch(...words),
    fetch: async (...words) => (await load()).fetch(...words),
    loadOlder: async () => void (await client?.loadOlder()),
    stop: () => client?.stop(),
    newChat: () => (client ? client.newChat() : void later('newChat')()),
    branches: (id) => client?.branches(id) ?? { count: 1, current: 0 },
    isIncomplete: (id) => client?.isIncomplete(id) ?? false,
    isOpen: (part) => client?.isOpen(part) ?? false,
    state: (id) => client?.state(id),
    setState: (id, change) => client?.setState(id, change),
    registerTool: (tool, handler) => registry.registerTool(tool, handler),
    registerContext: (name, read) => registry.registerContext(name, read),
    addContext: (context) => registry.addContext(context),
    close() {
      isClosed = true;
      client?.close();
      listeners.clear();
    },
  };
  return chat;
}

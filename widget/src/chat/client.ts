import { applyData } from './answer.js';
import { OpenCalls } from './calls.js';
import { Conversation } from './conversation.js';
import type { Begun } from './deferred.js';
import { ChatFailure, failureOf } from './failure.js';
import { Mirror } from './mirror.js';
import { newId } from './id.js';
import { isSettled, isText, isTool } from './part.js';
import { MOST_CONTEXT, MOST_TOOLS, page, type Registry } from './registry.js';
import { once, pause, pauseAfter } from './retry.js';
import { type RunHost, Runner, type RunRequest } from './runner.js';
import { Server } from './server.js';
import { chunks } from './sse.js';
import { InstanceStates, type StateHooks } from './states.js';
import { areaOf, ChatStorage } from './storage.js';
import { StoredChats } from './stored.js';
import { type TabMessage, Tabs } from './tabs.js';
import { listKept, listStored } from './threads.js';
import type * as types from './types.js';
import type { ChatOptions, ContextMessage, Message, Part, ToolDescriptor, ToolPart } from './types.js';
import { uploaded } from './upload.js';

export { validateMessages } from '../validate/index.js';

/** The longest time that a request waits for the stop of the request before it. */
const STOP_MS = 2_000;
/** The beginning of the error of a chat in the storage of the browser, before the place that is wrong. */
const REFUSED = 'The stored chat cannot be read:';
/** The longest time for which a message waits to learn if the server stores chats. */
const DETECT_MS = 10_000;
/** The longest pause between two questions if the server stores chats. */
const LONGEST_PAUSE_MS = 8_000;
/** The engine of a chat: everything but what its page can use before the engine is loaded. */
export class Client {
  readonly ready: Promise<void>;

  readonly #options: ChatOptions;
  readonly #server: Server;
  readonly #storage: ChatStorage;
  readonly #conversation: Conversation;
  readonly #registry: Registry;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #tabs: Tabs;
  readonly #runner: Runner;
  readonly #states: InstanceStates;
  readonly #calls: OpenCalls;
  readonly #mirror: Mirror;
  #stored: StoredChats | undefined;
  /** `false` until a server has said if it stores chats. */
  #isDetected = false;
  #detecting: Promise<void> | undefined;
  /** `true` if a tool was registered during the answer. */
  #hasOffer = false;
  /** The request that stops the last run. */
  #stopping: Promise<unknown> | undefined;
  /** The id of the first message, if the server has messages before it. */
  #oldest: string | undefined;
  /** Resolves when the messages before the shown ones are there, or with the reason why they are not. */
  #older: Promise<ChatFailure | void> | undefined;
  /** The context that no server has received. */
  #context: ContextMessage[] = [];

  constructor(options: ChatOptions & { api: string }, { messages, registry, confirm }: Begun) {
    this.#conversation = new Conversation(messages);
    this.#registry = registry;
    this.#options = options;
    this.#server = new Server(options);
    const area = areaOf(options.persist ?? 'session');
    this.#storage = new ChatStorage(area, options.agent ?? 'assistant', options.storagePrefix);
    this.#tabs = new Tabs(`omniassist ${this.#server.runs}`, (message) => this.#received(message));
    const host: RunHost & StateHooks = {
      end: this.#end.signal,
      stored: () => this.#stored,
      body: () => this.#body(),
      received: () => {
        this.#context = [];
      },
      deleted: () => this.#forget(this.chatId),
      hasBefore: (oldest) => {
        this.#oldest = oldest;
        if (this.#loadsAll) void this.loadOlder();
      },
      changed: () => {
        this.#mirror.progress();
        this.#changed();
      },
      statusChanged: () => this.#statusChanged(),
      failed: (error) => this.#failed(error),
    };
    this.#states = new InstanceStates(this.#server, this.#conversation, host);
    this.#calls = new OpenCalls(this.#conversation, registry, this.#tabs, {
      confirm,
      changed: () => {
        this.#save();
        this.#changed();
      },
    });
    this.#runner = new Runner(this.#conversation, this.#server, this.#calls, host);
    this.#mirror = new Mirror(this.#tabs, this.#conversation, this.#runner);
    const { signal } = this.#end;
    const offer = (): void => this.#offered();
    const removals = [page.subscribe(offer), this.#registry.subscribe(offer)];
    signal.addEventListener('abort', () => removals.forEach((remove) => remove()));
    globalThis.addEventListener?.('pagehide', () => this.#save(), { signal });
    globalThis.addEventListener?.('pageshow', (event) => this.#shownAgain(event as PageTransitionEvent), { signal });
    globalThis.addEventListener?.('storage', (event) => this.#storageChanged(event as StorageEvent), { signal });
    this.#conversation.open(newId());
    this.ready = this.#begin();
  }

  get chatId(): string {
    return this.#conversation.id;
  }
  get messages(): readonly Message[] {
    return this.#conversation.messages;
  }
  get status(): types.ChatStatus {
    return this.#runner.status;
  }
  get error(): types.ChatError | undefined {
    return this.#runner.error;
  }
  get isStored(): boolean {
    return this.#stored !== undefined;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async sendMessage({ text, files = [] }: { text: string; files?: types.Attachment[] }): Promise<void> {
    await this.#begun();
    if (this.#runner.isBusy) return;
    const id = newId();
    const push = (parts: Part[]): void => {
      if (text) parts.push({ type: 'text', text });
      this.#conversation.messages.push({ id, role: 'user', parts });
    };
    const upload: RunRequest = async (signal) => {
      this.#runner.isUploading = true;
      const store = (file: File): Promise<Response> => once(() => this.#server.upload(file, signal));
      push(await uploaded(files, this.isStored ? store : undefined, signal));
      this.#runner.isUploading = false;
      return this.#runner.post()(signal);
    };
    await this.#runner.run(files.length ? upload : (push([]), undefined));
    // The server has not taken it. Each later message would be refused too, as it is posted with this one.
    if (this.error?.status === 413 && this.#conversation.last?.id === id) {
      this.#conversation.messages.pop();
      this.#changed();
    }
  }

  stop(): void {
    const { chatId } = this;
    if (this.#runner.isMirror && this.#runner.isBusy) this.#tabs.post({ type: 'stop', chatId });
    if (this.#runner.isBusy) {
      // A closed connection does not end the run of a stored chat, and a proxy may hide it for a while.
      this.#stopping = this.#server.stop(chatId, AbortSignal.timeout(STOP_MS)).catch(() => {});
    }
    this.#runner.abort();
  }

  async regenerate(messageId?: string): Promise<void> {
    if (!(await this.#begun(messageId))) return;
    const { messages, branching, cut } = this.#conversation;
    if (this.#runner.isBusy) return;
    if (this.#runner.isLost && !messageId) return this.#runner.run(this.#runner.sync(true));
    const at = messageId ? messages.findIndex(({ id }) => id === messageId) : messages.length - 1;
    const message = messages[at];
    if (!message) return;
    if (message.role !== 'assistant') {
      branching.leave(messages, at + 1);
      return this.#runner.run();
    }
    const isCut = cut.delete(message.id);
    if (isCut && !this.isStored && at === messages.length - 1) {
      // The new answer replaces the incomplete one. Calls that have ended stay, so that none runs twice.
      message.parts.splice(message.parts.findLastIndex((part) => isTool(part) && isSettled(part)) + 1);
      if (message.parts.length) return this.#runner.run();
      messages.pop();
    } else branching.leave(messages, at);
    if (!this.isStored) return this.#runner.run();
    return this.#runner.run(this.#runner.post({ trigger: 'regenerate-message', messageId: message.id }));
  }

  async edit(messageId: string, text: string): Promise<void> {
    if (!(await this.#begun(messageId))) return;
    const { messages, branching } = this.#conversation;
    const at = messages.findIndex(({ id, role }) => id === messageId && role === 'user');
    const message = messages[at];
    if (this.#runner.isBusy || !message) return;
    const kept = message.parts.filter((part) => !isText(part));
    branching.leave(messages, at);
    messages.push({ id: newId(), role: 'user', parts: [...kept, { type: 'text', text }] });
    return this.#runner.run();
  }

  branches(messageId: string): types.Branches {
    const { messages, branching } = this.#conversation;
    const at = messages.findIndex(({ id }) => id === messageId);
    return at < 0 ? { count: 1, current: 0 } : branching.branches(messages, at);
  }

  async selectBranch(messageId: string, position: number): Promise<void> {
    const { id, messages, branching } = this.#conversation;
    const at = messages.findIndex((message) => message.id === messageId);
    if (this.#runner.isBusy || at < 0) return;
    const leaf = branching.select(messages, at, position);
    if (!leaf) return;
    this.#runner.leave();
    this.#statusChanged();
    const changed = this.#stored?.change(id, { head: leaf }).catch((error) => this.#failed(error));
    // The chat is busy from here on, so that no question is sent before the server has the branch.
    if (changed) await this.#runner.run(this.#runner.sync(false, undefined, changed));
  }

  isIncomplete(messageId: string): boolean {
    return this.#conversation.cut.has(messageId);
  }

  async setChatId(chatId: string): Promise<void> {
    await this.#begun();
    // The storage has nothing newer of an open chat, whose answer may arrive.
    if (chatId === this.chatId && !this.isStored) return;
    this.#leave();
    await this.#open(chatId);
  }

  newChat(): void {
    this.#leave();
    this.#conversation.open(newId());
    this.#storage.current = undefined;
    this.#statusChanged();
  }

  async threads(options: { cursor?: string; query?: string } = {}): Promise<types.ThreadPage> {
    await this.#detect();
    if (!this.#stored) return listKept(this.#storage, options);
    const page = await listStored(this.#stored, options);
    // The chats of the time before the server had a store come last.
    if (!page.nextCursor) page.threads.push(...listKept(this.#storage, { query: options.query ?? '' }).threads);
    return page;
  }

  async renameThread(chatId: string, title: string): Promise<void> {
    await this.#detect();
    const isKept = this.#storage.index.some(({ id }) => id === chatId);
    if (this.#stored && !isKept) await this.#stored.change(chatId, { title });
    else this.#storage.rename(chatId, title);
    this.#changed();
  }

  async deleteThread(chatId: string): Promise<void> {
    await this.#detect();
    const isKept = this.#storage.index.some(({ id }) => id === chatId);
    if (!isKept) await this.#stored?.delete(chatId);
    this.#tabs.post({ type: 'deleted', chatId });
    this.#forget(chatId);
  }

  /** Resolves with the reason if the messages cannot be loaded. */
  async loadOlder(): Promise<ChatFailure | void> {
    const { id } = this.#conversation;
    const before = this.#oldest;
    if (before) {
      this.#older = this.#loadBefore(before).catch((error) => {
        // The next call tries again.
        if (id === this.chatId) this.#oldest = before;
        return failureOf(error);
      });
    }
    return this.#older;
  }

  isOpen(part: ToolPart): boolean {
    return this.#conversation.isOpen(part);
  }

  async approve(
    part: ToolPart,
    approved: boolean,
    { reason, input }: { reason?: string; input?: unknown } = {},
  ): Promise<void> {
    const approval = { ...(part.approval as NonNullable<ToolPart['approval']>), approved };
    if (reason) approval.reason = reason;
    // The server has signed the arguments that it asked about: the edited ones go beside them.
    if (input !== undefined) approval.arguments = input;
    const change: Partial<ToolPart> = { state: 'approval-responded', approval };
    if (await this.#calls.settle(part.toolCallId, 'approval-requested', change)) await this.#runner.settled();
  }

  async addToolResult({ toolCallId, output, errorText }: Parameters<types.Chat['addToolResult']>[0]): Promise<void> {
    const change: Partial<ToolPart> =
      errorText === undefined
        ? { state: 'output-available', output: output ?? null }
        : { state: 'output-error', errorText };
    if (await this.#calls.settle(toolCallId, 'input-available', change)) await this.#runner.settled();
  }

  state(instanceId: string): Record<string, unknown> | undefined {
    return this.#conversation.instance(instanceId)?.state;
  }

  setState(instanceId: string, change: Record<string, unknown>): void {
    this.#states.change(instanceId, change, this.isStored);
  }

  fetch(url: string, init?: RequestInit): Promise<Response> {
    return this.#server.fetch(url, init);
  }

  async dispatch(instanceId: string, action: string, payload: unknown = {}): Promise<void> {
    await this.#states.kept;
    const conversation = this.#conversation;
    const body = { chatId: conversation.id, ...conversation.instance(instanceId), payload };
    const response = await once(() => this.#server.act(instanceId, action, body));
    let failure: unknown;
    for await (const chunk of chunks(response)) {
      const { type, id, data, transient } = chunk;
      // The user may have opened another chat.
      if (conversation.id !== body.chatId) return;
      if (type === 'error') failure = chunk.errorText;
      if (type === 'data-ui-event' && data?.type === 'error') failure = data.data;
      // The state of another instance belongs to the message that shows it.
      const home = conversation.homeOf(type === 'data-ui-state' ? id : instanceId);
      if (!type.startsWith('data-') || transient || !home) continue;
      applyData(home.parts, chunk);
      this.#changed();
    }
    this.#save();
    if (failure !== undefined) throw failureOf(failure);
  }

  close(): void {
    if (this.#end.signal.aborted) return;
    this.#save();
    this.#end.abort();
    this.#runner.leave();
    this.#mirror.close();
    this.#tabs.close();
    this.#listeners.clear();
  }

  #forget(chatId: string): void {
    if (chatId === this.chatId) this.newChat();
    this.#storage.delete(chatId);
    this.#changed();
  }

  async #begin(): Promise<void> {
    const first = this.chatId;
    await this.#detect();
    const chatId = this.#options.chatId ?? this.#storage.current;
    // The page may have begun a new chat.
    if (chatId && first === this.chatId) await this.#open(chatId);
    else this.#changed();
    if (!this.#isDetected) void this.#detectLater(this.chatId).catch(() => {});
  }

  /** Opens the chat once a server has said that it stores chats, unless the user has begun something meanwhile. */
  async #detectLater(chatId: string): Promise<void> {
    for (let tries = 0; !this.#isDetected; tries += 1) {
      await pause(pauseAfter(tries, LONGEST_PAUSE_MS), this.#end.signal);
      await this.#detect();
    }
    if (this.#stored && chatId === this.chatId && this.status === 'ready') await this.#open(chatId);
  }

  /**
   * Resolves when the first chat is open, and the server was asked if it stores chats. A branch at the first shown message
   * needs those before it: if they cannot be loaded, this shows why, and resolves with `false`.
   */
  async #begun(branch?: string): Promise<boolean> {
    await this.ready;
    await this.#detect();
    const failure = branch && this.messages[0]?.id === branch && (await this.loadOlder());
    if (failure) this.#runner.fail(failure);
    return !failure;
  }

  /** Asks the server if it stores the chats of this user. */
  #detect(): Promise<void> {
    if (this.#isDetected) return Promise.resolve();
    this.#detecting ??= this.#ask()
      // The next request asks again.
      .catch(() => {})
      .finally(() => (this.#detecting = undefined));
    return this.#detecting;
  }

  async #ask(): Promise<void> {
    const { signal: end } = this.#end;
    // An older browser waits for as long as the connection is open.
    const signal = AbortSignal.any?.([end, AbortSignal.timeout(DETECT_MS)]) ?? end;
    const stored = new StoredChats(this.#server, end);
    if ((await this.#server.hasStore(signal)) && (await stored.areOpen(signal))) this.#stored = stored;
    this.#isDetected = true;
  }

  /** Opens a chat. Resolves when its messages are there; the answer that a server is writing goes on. */
  async #open(chatId: string): Promise<void> {
    const refusals: Error[] = [];
    this.#conversation.open(chatId, this.#storage.load(chatId, (error) => refusals.push(error)));
    for (const { message } of refusals) this.#runner.fail(new ChatFailure('unreadable', `${REFUSED} ${message}`, { canRetry: false }));
    if (!this.#stored) {
      if (this.messages.length) this.#storage.current = chatId;
      this.#changed();
      if (await this.#calls.reloaded()) void this.#runner.settled();
      else this.#offered();
      return;
    }
    await new Promise<void>((resolve) => {
      const end = this.subscribe(() => this.status === 'error' && resolve());
      const sync = this.#runner.sync(false, resolve);
      void this.#runner.run(sync).then(end).then(() => resolve());
    });
  }

  /** Takes no more of the answer. A run that the server stores goes on. */
  #leave(): void {
    if (!this.isStored && !this.#runner.isMirror) this.stop();
    this.#save();
    this.#older = this.#oldest = undefined;
    this.#mirror.close();
    this.#runner.leave();
    for (const { parts } of this.messages) {
      for (const part of parts) if (isTool(part) && isSettled(part)) this.#tabs.release(this.chatId, part.toolCallId);
    }
  }

  async #body(): Promise<Record<string, unknown>> {
    // The stop of the run before must not stop this run.
    await this.#stopping;
    await this.#states.kept;
    const tools = new Map([...page.tools, ...this.#registry.tools]);
    const taken = [...this.#registry.takeContext(), ...page.takeContext()];
    const isTaken = (old: ContextMessage): boolean => taken.some(({ type, id }) => type === old.type && id === old.id);
    this.#context = [...this.#context.filter((old) => !isTaken(old)), ...taken].slice(-MOST_CONTEXT);
    return {
      ...this.#options.body,
      ...(tools.size && { tools: [...tools.values()].slice(-MOST_TOOLS).map(({ tool }) => declared(tool)) }),
      ...(this.#context.length && { context: this.#context }),
    };
  }

  /** Runs calls for which a tool is registered now. During an answer, they wait for its end. */
  #offered(): void {
    this.#hasOffer = this.#runner.isBusy;
    if (this.status === 'ready' && this.#calls.runnable.length) {
      void this.#runner.run((signal) => this.#calls.runOpen(signal));
    }
  }

  get #loadsAll(): boolean {
    return this.#options.older !== 'asked';
  }

  async #loadBefore(before: string): Promise<void> {
    const { id, messages } = this.#conversation;
    this.#oldest = undefined;
    const earlier = await this.#stored?.before(id, before, this.#loadsAll ? 1_000 : 100);
    if (!earlier?.messages.length || messages[0]?.id !== before) return;
    messages.splice(0, 0, ...earlier.messages);
    const oldest = earlier.more ? messages[0]?.id : undefined;
    this.#changed();
    if (oldest && this.#loadsAll) return this.#loadBefore(oldest);
    this.#oldest = oldest;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #statusChanged(): void {
    const { status, error, isMirror } = this.#runner;
    if (status !== 'submitted') this.#save();
    this.#mirror.report(this.isStored);
    this.#changed();
    if (error && !isMirror) this.#failed(error);
    if (this.#hasOffer && status === 'ready') this.#offered();
  }

  #failed(error: unknown): void {
    if (!this.#end.signal.aborted) this.#options.onError?.(failureOf(error));
  }

  #save(): void {
    const { signal } = this.#end;
    // A server that stores chats may not have this one yet.
    const isKept = this.isStored && this.#conversation.known !== undefined;
    const chat = this.#conversation.saved(isKept, this.#runner.isBusy);
    if (signal.aborted || !this.messages.length) return;
    this.#storage.current = chat.id;
    const hasMore = chat.messages.length || chat.cut?.length || chat.begun?.length || (chat.branches as []).length;
    if (isKept) this.#storage.delete(chat.id);
    if (hasMore) this.#storage.save(chat, !this.isStored);
  }

  #received(message: TabMessage): void {
    if (!('chatId' in message) || message.chatId !== this.chatId || this.#end.signal.aborted) return;
    if (message.type === 'deleted') this.#forget(message.chatId);
    else if (message.type === 'status') this.#mirror.show(message);
    else if (message.type === 'settled') {
      this.#conversation.settle(message.toolCallId, message.change);
      this.#changed();
    } else if (!this.#runner.isMirror) this.stop();
  }

  /** Another page without this channel has changed the chat. */
  #storageChanged({ key, storageArea }: StorageEvent): void {
    if (this.isStored || this.#runner.isBusy || this.#tabs.hasOthers) return;
    if (this.#storage.isAbout(key, storageArea, this.chatId)) this.#reload();
  }

  /** The user has come back to this page, which did not run meanwhile. A later page may have changed the chat. */
  #shownAgain({ persisted }: PageTransitionEvent): void {
    if (!persisted) return;
    if (!this.isStored) this.#reload();
    else if (!this.#runner.isBusy) void this.#runner.run(this.#runner.sync(false));
  }

  /** Shows what the storage has of the chat. An answer that arrives goes on if it is the same. */
  #reload(): void {
    const { chatId, messages } = this;
    const saved = this.#storage.load(chatId);
    if (!saved || JSON.stringify(saved.messages) === JSON.stringify(messages)) return;
    this.#mirror.close();
    this.#runner.leave();
    this.#conversation.open(chatId, saved);
    this.#changed();
  }
}

/** Returns a tool as the server reads it. */
function declared({ name, description, inputSchema }: ToolDescriptor): Record<string, unknown> {
  return { name, description, inputSchema: { type: 'object', ...inputSchema } };
}

import { Answer } from './answer.js';
import type { OpenCalls } from './calls.js';
import type { Conversation } from './conversation.js';
import { ChatFailure, failureOf, interrupted } from './failure.js';
import { isComplete, isTool } from './part.js';
import { once, pause, pauseAfter, reach } from './retry.js';
import type { Server } from './server.js';
import { chunks } from './sse.js';
import type { StoredChats } from './stored.js';
import type { ChatStatus, Message } from './types.js';

/** The age of the last event from which on a lost stream is an error. */
const QUICK_MS = 1_000;
/** The times that an answer without a store is requested again by itself. */
const REPOSTS = 5;
/** The longest pause between two attempts to follow a stored run, and the time after which pauses begin anew. */
const LONGEST_PAUSE_MS = 2_000;
const CALM_MS = 10_000;

/** The members of a chat that its runs use. */
export interface RunHost {
  /** Aborted when the chat is closed. */
  readonly end: AbortSignal;
  /** Returns the stored chats, if the server stores the chats of this user. */
  stored(): StoredChats | undefined;
  /** Returns members of the body of a post, after what must come before it. */
  body(): Promise<Record<string, unknown>>;
  /** A server has received the body. */
  received(): void;
  /** The open chat was deleted elsewhere. */
  deleted(): void;
  /** The server has messages before the first one. */
  hasBefore(oldest: string | undefined): void;
  changed(): void;
  statusChanged(): void;
}

/** Sends one request and reads its answer. Returns a promise for each tool that the page runs. */
export type RunRequest = (signal: AbortSignal) => Promise<Promise<void>[]>;

/** Sends requests until an answer is complete, or waits for the user. */
export class Runner {
  status: ChatStatus = 'ready';
  /** `true` while the files of a question are uploaded. The conversation does not have the question yet. */
  isUploading = false;
  error: ChatFailure | undefined;
  /** `true` if the run belongs to another tab. */
  isMirror = false;
  readonly #conversation: Conversation;
  readonly #server: Server;
  readonly #calls: OpenCalls;
  readonly #host: RunHost;
  #abort: AbortController | undefined;
  #lastEvent = 0;
  /** `true` if the last request that failed was one of `sync`. */
  #isSync = false;
  /** Takes back what a lost answer has added. Returns `false` if a tool may have begun. */
  #takeBack = (): boolean => false;

  constructor(conversation: Conversation, server: Server, calls: OpenCalls, host: RunHost) {
    this.#conversation = conversation;
    this.#server = server;
    this.#calls = calls;
    this.#host = host;
  }

  get isBusy(): boolean {
    return this.status === 'submitted' || this.status === 'streaming';
  }

  /** Returns `true` if the chat must be loaded before its next post: the server may have more of it than this tab. */
  get isLost(): boolean {
    if (!this.#host.stored() || !this.error) return false;
    const { kind, status } = this.error;
    const isOut = status === 401 && (this.#isSync || this.#conversation.unsent.size > 0);
    return isOut || kind === 'interrupted' || kind === 'offline';
  }

  /** Sets the status of the run of another tab. */
  mirror(status: ChatStatus): void {
    this.isMirror = true;
    this.#set(status);
  }

  /** Shows an error that no run has. */
  fail(error: ChatFailure): void {
    this.#set('error', error);
  }

  /** Posts the conversation after a call was settled. During a run, the end of the run posts it. */
  settled(): Promise<void> {
    if (!this.isBusy && isComplete(this.#conversation.last)) return this.run();
    this.#host.changed();
    return Promise.resolve();
  }

  /** Takes no more of the answer. */
  leave(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.error = undefined;
    this.status = 'ready';
  }

  /** Ends the run of this tab. What has arrived stays. */
  abort(): void {
    this.#conversation.unsent.clear();
    this.#abort?.abort();
  }

  async run(first: RunRequest = this.post(), isMirror = false): Promise<void> {
    if (this.#host.end.aborted) return;
    this.#abort?.abort();
    const abort = new AbortController();
    const { signal } = abort;
    this.#abort = abort;
    this.isMirror = isMirror;
    this.isUploading = false;
    const { error } = this;
    this.#set('submitted');
    let request = first;
    let losses = 0;
    let lostAt = 0;
    try {
      for (;;) {
        try {
          const calls = await stoppable(request(signal), signal);
          // The server knows the results of its own tools. Only results of the page and the user are news.
          const hasNews = this.#conversation.renew() || calls.length > 0;
          if (!hasNews || !isComplete(this.#conversation.last)) break;
          request = this.post();
        } catch (error) {
          signal.throwIfAborted();
          if (Date.now() - lostAt > CALM_MS) losses = 0;
          request = this.#afterLoss(error, request, losses);
          if (losses) await pause(pauseAfter(losses - 1, LONGEST_PAUSE_MS), signal);
          losses += 1;
          lostAt = Date.now();
        }
      }
      if (this.#conversation.isUnsent) this.#set('error', error ?? interrupted());
      else this.#set('ready');
    } catch (error) {
      // A later run may have begun when this one was stopped.
      if (this.#abort !== abort) return;
      this.#isSync = this.#syncs.has(request);
      const { last, cut, begun } = this.#conversation;
      if (last?.role === 'assistant' && !this.isUploading) cut.add(last.id);
      if (signal.aborted) {
        begun.clear();
        this.#set('ready');
      } else this.#set('error', failureOf(error));
    }
  }

  /** Returns the request that goes on after an error, or throws the error. */
  #afterLoss(error: unknown, request: RunRequest, losses: number): RunRequest {
    if (!(error instanceof ChatFailure)) throw error;
    const isCut = error.kind === 'interrupted';
    const age = Date.now() - this.#lastEvent;
    // The clock may have been set back.
    const isQuick = age >= 0 && age < QUICK_MS;
    if (this.#host.stored()) {
      // Another tab may have gone on with the conversation.
      const isBehind = error.status === 409 && !losses;
      const isAway = this.#syncs.has(request) && error.canRetry && error.kind !== 'failed' && error.status !== 401;
      if (!isCut && !isAway && !isBehind) throw error;
      // The run goes on in the server. The user learns that nothing arrives at the moment.
      const isNews = this.status !== 'error' && !isBehind;
      if (isNews && !(isCut && isQuick)) this.#set('error', isCut ? error : interrupted(error));
      return this.sync(!this.isMirror);
    }
    if (!isCut || !isQuick || losses >= REPOSTS || !this.#takeBack()) throw error;
    return request;
  }

  /** The requests of `sync`, which are sent again for as long as no server is reached. */
  readonly #syncs = new WeakSet<RunRequest>();

  /**
   * Returns a request that loads a stored chat, and follows the answer that the server is writing. With `asks`, it posts a
   * question that the server does not have or has not answered. `loaded` is called before the answer is read. The chat is
   * loaded after `change` has settled.
   */
  sync(asks: boolean, loaded?: () => void, change?: Promise<unknown>): RunRequest {
    const request: RunRequest = async (signal) => {
      await change;
      const conversation = this.#conversation;
      const stored = this.#host.stored();
      const { last: mine, isUnsent } = conversation;
      // The run comes first: the messages of one that has ended by then are complete.
      const thread = await stored?.find(conversation.id, signal);
      // A chat that the server does not have is in the storage of the browser, or it was deleted.
      if (!thread && conversation.known !== undefined) this.#host.deleted();
      if (!thread && !asks) return [];
      const page = thread && (await stored?.messages(conversation.id, signal));
      signal.throwIfAborted();
      const messages = page?.messages ?? [];
      conversation.known = thread && (messages.at(-1)?.id ?? '');
      const isUnknown = (asks || isUnsent) && mine?.role === 'user' && !messages.some(({ id }) => id === mine.id);
      if (thread) conversation.take(isUnknown ? [...messages, mine] : messages);
      const oldest = messages[0]?.id;
      if (page?.more && conversation.messages[0]?.id === oldest) this.#host.hasBefore(oldest);
      this.#set('submitted');
      const stream = thread?.run && (await once(() => this.#server.stream(conversation.id, signal)));
      if (stream && stream.status !== 204) {
        loaded?.();
        // The answer to an earlier question comes before one that was not sent.
        const isEarlier = isUnknown && isUnsent;
        const calls = [...(await this.#read(stream, signal, true, Number(isEarlier))), ...this.#calls.running];
        if (!asks || !isEarlier) return calls;
        await Promise.all(calls);
      }
      conversation.renew();
      const { last } = conversation;
      if (asks && last?.role === 'user') return this.post()(signal);
      if (asks && last) conversation.cut.delete(last.id);
      return this.isMirror ? this.#calls.running : this.#calls.runOpen(signal);
    };
    this.#syncs.add(request);
    return request;
  }

  /** Returns a request that posts the conversation and reads the answer. */
  post(more: Record<string, unknown> = {}): RunRequest {
    return async (signal) => {
      // The calls that this tab has settled may follow the run of another one.
      this.isMirror = false;
      this.#set('submitted');
      const conversation = this.#conversation;
      const stored = this.#host.stored();
      const body = await this.#host.body();
      signal.throwIfAborted();
      const { messages, last, unsent } = conversation;
      const sent = [...unsent.keys()];
      const answered = last?.role === 'assistant' ? last : undefined;
      this.#takeBack = taker(messages, answered);
      const isApproved = answered?.parts.some((part) => isTool(part) && part.state === 'approval-responded');
      const posted = {
        ...body,
        id: conversation.id,
        messages: stored && conversation.known !== undefined ? newest(messages) : messages,
        trigger: 'submit-message',
        messageId: answered?.id,
        ...more,
      };
      // An approved tool may have begun if the answer did not arrive. A server with a store runs it once.
      const isRepeatable = Boolean(stored) || !isApproved;
      const response = await reach(() => this.#server.post(posted, signal), signal, isRepeatable, (error) => this.#show(error));
      this.#show(undefined);
      this.#host.received();
      conversation.known = last?.id ?? '';
      sent.forEach((id) => unsent.delete(id));
      conversation.begun.clear();
      return this.#read(response, signal);
    };
  }

  async #read(response: Response, signal: AbortSignal, isReplay = false, after = 0): Promise<Promise<void>[]> {
    const { messages, cut } = this.#conversation;
    const answer = new Answer(messages, isReplay, after);
    const calls: Promise<void>[] = [];
    this.#lastEvent = Date.now();
    for await (const chunk of chunks(response)) {
      signal.throwIfAborted();
      this.#lastEvent = Date.now();
      const part = answer.apply(chunk);
      const isOfPage = part && !part.providerExecuted && !this.isMirror && this.#calls.tool(part);
      if (isOfPage) calls.push(this.#calls.run(part, signal));
      if (this.status !== 'streaming' && answer.hasContent) this.#set('streaming');
      else this.#host.changed();
    }
    if (!answer.isFinished) throw interrupted();
    cut.delete(answer.last?.id ?? '');
    return calls;
  }

  /** Shows the reason for a wait, while the request goes on. */
  #show(error: ChatFailure | undefined): void {
    this.error = error;
    this.#host.changed();
  }

  #set(status: ChatStatus, error?: ChatFailure): void {
    this.status = status;
    this.error = error;
    this.#host.statusChanged();
  }
}

/** Waits for a request and the tools of the page, and no longer when the user stops them: they may never end. */
const stoppable = (request: ReturnType<RunRequest>, signal: AbortSignal): Promise<void[]> =>
  new Promise((done, stopped) => {
    signal.addEventListener('abort', stopped);
    request.then((calls) => Promise.all(calls)).then(done, stopped);
  });

/** Returns the messages from the question before the last answer on: a server with a store has the earlier ones. */
function newest(messages: Message[]): Message[] {
  const back = (role: string, at: number): number => {
    while (at > 0 && messages[at]?.role !== role) at -= 1;
    return at;
  };
  return messages.slice(back('user', back('assistant', messages.length - 1)));
}

/** Returns the function that takes back what an answer has added to the conversation, if no tool can have begun. */
function taker(messages: Message[], answered: Message | undefined): () => boolean {
  const count = messages.length;
  const parts = answered?.parts.length ?? 0;
  const isApproved = answered?.parts.some((part) => isTool(part) && part.state === 'approval-responded');
  return () => {
    const added = answered ? answered.parts.slice(parts) : (messages[count]?.parts ?? []);
    if (isApproved || added.some((part) => isTool(part) && part.state !== 'input-streaming')) return false;
    answered?.parts.splice(parts);
    messages.splice(count);
    return true;
  };
}

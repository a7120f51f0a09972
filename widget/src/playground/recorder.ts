import { chunks, type Chunk } from '../chat/sse.js';
import type { Message } from '../chat/types.js';

/** An event of a run, as the server sent it. */
export interface RunEvent {
  /** Milliseconds since the request was sent. */
  at: number;
  chunk: Chunk;
}

/** A request to the assistant, and what it answered. */
export interface Run {
  number: number;
  agent: string | undefined;
  /** The body as it was posted. That of a resumed run has only the messages up to the question. */
  body: Record<string, any>;
  /** `true` for a run whose request another page has sent. */
  isResumed: boolean;
  events: RunEvent[];
  state: 'running' | 'ended' | 'failed';
  /** The reason of a failure, if the server refused the request or the connection broke. */
  failure?: string;
  /** The run that this one goes on with: the user or the page settled a call of it. */
  continues: Run | undefined;
}

/** Requests as the page changes them before they are sent. */
export interface Requests {
  headers(): Record<string, string>;
  /** Returns members to add to the body of a run. `continues`: the run goes on with another one. */
  members(body: Record<string, any>, continues: boolean): Record<string, unknown>;
  /** Returns the messages of the chat, of which a run is resumed. */
  messages(): readonly Message[];
}

/** Returns the text of the last message of the user in a body. */
export function questionOf({ messages, message }: Record<string, any>): string {
  const all: any[] = messages ?? (message ? [message] : []);
  const last = all.findLast(({ role }) => role === 'user');
  const texts = (last?.parts ?? []).filter(({ type }: Chunk) => type === 'text');
  return texts.map(({ text }: Chunk) => text).join('\n');
}

/** Returns the id of the message that a run writes. */
export const messageOf = ({ events }: Run): string | undefined =>
  events.find(({ chunk }) => chunk.type === 'start')?.chunk.messageId;

/** Returns the run with which a question began, and those that went on with it. */
export function groupOf(run: Run, runs: readonly Run[]): Run[] {
  let first = run;
  while (first.continues) first = first.continues;
  const group = [first];
  for (const one of runs) if (one.continues && group.includes(one.continues)) group.push(one);
  return group;
}

/**
 * Records the runs of the chats of this page. The chat has no place for a function that sends its requests, so `fetch` of
 * the page is replaced.
 */
export class Recorder {
  readonly runs: Run[] = [];
  /** Called after each change of a run. */
  onChange: (run: Run) => void = () => {};
  /** Answers requests of a replay; `undefined` for any other one. */
  replay: (url: URL) => Response | undefined = () => undefined;
  readonly #api: string;
  readonly #requests: Requests;
  readonly #fetch = globalThis.fetch.bind(globalThis);

  constructor(api: string, requests: Requests) {
    this.#api = api;
    this.#requests = requests;
    globalThis.fetch = (input, init) => this.#send(input, init);
  }

  async #send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    if (input instanceof Request) return this.#fetch(input, init);
    const url = new URL(input, location.href);
    const replayed = this.replay(url);
    if (replayed) return replayed;
    const { pathname, origin } = url;
    if (origin !== location.origin || !pathname.startsWith(this.#api)) return this.#fetch(input, init);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.#requests.headers())) headers.set(name, value);
    const given = { ...init, headers };
    const path = pathname.slice(this.#api.length).match(/^(?:\/agents\/([^/]+))?(\/[^/]+\/stream)?\/?$/);
    const agent = path?.[1] && decodeURIComponent(path[1]);
    const isPost = init.method === 'POST' && typeof init.body === 'string';
    if (path && !path[2] && isPost) return this.#run(url, given, JSON.parse(init.body as string), agent);
    // With a position, the client asks only if the server stores chats.
    if (path?.[2] && !url.search.includes('startIndex')) return this.#resume(url, given, agent);
    return this.#fetch(input, given);
  }

  async #run(url: URL, init: RequestInit, posted: Record<string, any>, agent: string | undefined): Promise<Response> {
    const continues = this.#continued(posted);
    const body = { ...posted, ...this.#requests.members(posted, continues !== undefined) };
    const run = this.#begin({ agent, body, isResumed: false, continues });
    const begun = performance.now();
    try {
      const response = await this.#fetch(url, { ...init, body: JSON.stringify(body) });
      if (response.ok) void this.#read(run, response.clone(), begun);
      else this.#end(run, `${response.status}: ${await response.clone().text()}`);
      return response;
    } catch (error) {
      this.#end(run, String(error));
      throw error;
    }
  }

  /** Records the rest of a run, if the chat has one. The server repeats its events from the beginning. */
  async #resume(url: URL, init: RequestInit, agent: string | undefined): Promise<Response> {
    const begun = performance.now();
    const response = await this.#fetch(url, init);
    if (response.status !== 200) return response;
    const all = this.#requests.messages();
    const messages = structuredClone(all.slice(0, all.findLastIndex(({ role }) => role === 'user') + 1));
    const run = this.#begin({ agent, body: { messages }, isResumed: true, continues: undefined });
    void this.#read(run, response.clone(), begun);
    return response;
  }

  #begin(begun: Pick<Run, 'agent' | 'body' | 'isResumed' | 'continues'>): Run {
    const run: Run = { ...begun, number: this.runs.length + 1, events: [], state: 'running' };
    this.runs.push(run);
    this.onChange(run);
    return run;
  }

  async #read(run: Run, response: Response, begun: number): Promise<void> {
    try {
      // Each event is recorded when it arrives.
      for await (const chunk of chunks(response, 0)) {
        run.events.push({ at: performance.now() - begun, chunk });
        if (chunk.type === 'error') return this.#end(run, String(chunk.errorText));
        this.onChange(run);
      }
      this.#end(run);
    } catch (error) {
      this.#end(run, String(error));
    }
  }

  #end(run: Run, failure?: string): void {
    run.state = failure === undefined ? 'ended' : 'failed';
    if (failure !== undefined) run.failure = failure;
    this.onChange(run);
  }

  /** Returns the run whose message the body has at its end. */
  #continued({ messages, message, trigger }: Record<string, any>): Run | undefined {
    const last = message ?? messages?.at(-1);
    if (last?.role !== 'assistant' || trigger === 'regenerate-message') return undefined;
    return this.runs.findLast((run) => messageOf(run) === last.id);
  }
}

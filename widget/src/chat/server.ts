import { valueOf } from './base.js';
import { newId } from './id.js';
import { once } from './retry.js';
import type { ChatOptions } from './types.js';

/** The characters of a body that browsers send after the page is closed: 64 KiB, with up to three bytes for each. */
const MOST_KEPT = 20_000;
/** The characters of a body from which on a server without other limits refuses it. */
const MOST_SENT = 8 * 1024 * 1024;
/** The version of the AI SDK's protocol. It has the questions of approvals. */
const VERSION = 'ai-sdk=7';

/** The routes of an assistant. */
export class Server {
  readonly api: string;
  /** The assistant, or one of its agents. */
  readonly runs: string;
  readonly #options: ChatOptions;

  constructor(options: ChatOptions & { api: string }) {
    this.#options = options;
    this.api = options.api;
    this.runs = options.agent === undefined ? this.api : `${this.api}/agents/${encodeURIComponent(options.agent)}`;
  }

  /** Sends a request with the headers and the credentials of the chat. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    // The names of headers have no case. Those of the request come before those of the chat.
    const headers = new Headers(await valueOf(this.#options.headers));
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    const request = { credentials: valueOf(this.#options.credentials), ...init, headers };
    return fetch(url, request).catch(async (error: unknown) => {
      // A host sends a request without a session on to a page that signs in. The browser refuses that of another origin.
      const probe = { ...request, method: 'HEAD', body: null, redirect: 'manual' } as const;
      const { type, status } = await fetch(this.api, probe).catch(() => Response.error());
      if (type === 'opaqueredirect') return new Response(null, { status: 401 });
      // A server that answers has ended the connection, as it does while a body arrives that is too large.
      if (status && String(init.body).length > MOST_SENT) return new Response(null, { status: 413 });
      throw error;
    });
  }

  /** Sends a request. A `body` that is no file is written as JSON. */
  send(url: string, { body, ...init }: Omit<RequestInit, 'body'> & { body?: unknown } = {}): Promise<Response> {
    if (body === undefined) return this.fetch(url, init);
    const isFile = body instanceof Blob;
    const headers = { 'content-type': isFile ? body.type || 'application/octet-stream' : 'application/json' };
    return this.fetch(url, { method: 'POST', ...init, headers, body: isFile ? body : JSON.stringify(body) });
  }

  /** Returns `true` if the server has a store. One without a store has no stream of a chat in any position. */
  async hasStore(signal: AbortSignal): Promise<boolean> {
    const url = `${this.runs}/${newId()}/stream?startIndex=0`;
    const response = await once(() => this.send(url, { signal }));
    response.body?.cancel().catch(() => {});
    return response.status !== 204;
  }

  post(body: unknown, signal: AbortSignal): Promise<Response> {
    return this.send(`${this.runs}?${VERSION}`, { body, signal });
  }

  stream(chat: string, signal: AbortSignal): Promise<Response> {
    return this.send(`${this.runs}/${encodeURIComponent(chat)}/stream?${VERSION}`, { signal });
  }

  stop(chat: string, signal: AbortSignal): Promise<Response> {
    return this.send(`${this.runs}/${encodeURIComponent(chat)}/stop`, { method: 'POST', signal });
  }

  upload(file: File, signal: AbortSignal): Promise<Response> {
    return this.send(`${this.api}/files?filename=${encodeURIComponent(file.name)}`, { body: file, signal });
  }

  /** Stores the state of an instance of a component. One that is not large is stored also while the page is closed. */
  putState(instance: string, body: unknown): Promise<Response> {
    const url = `${this.runs}/ui/${encodeURIComponent(instance)}/state`;
    return this.send(url, { method: 'PUT', body, keepalive: JSON.stringify(body).length < MOST_KEPT });
  }

  act(instance: string, action: string, body: unknown): Promise<Response> {
    const path = [instance, action].map(encodeURIComponent).join('/');
    return this.send(`${this.runs}/ui/${path}?${VERSION}`, { body });
  }
}

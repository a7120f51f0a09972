// JSON-RPC with a frame. Only messages of this frame count, and only those of a document without an origin.

import { isObject } from '../object.js';

type Id = string | number;

/** An error that an app is answered with. */
export class AppFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The requests of an app that are answered at the same time. */
const MAX_OPEN = 16;

export interface Receiver {
  request(method: string, params: Record<string, unknown>): Promise<unknown>;
  notification(method: string, params: Record<string, unknown>): void;
}

/** Returns the functions that send to a frame, and passes what it sends to the receiver. */
export function channel(frame: HTMLIFrameElement, receiver: Receiver, signal: AbortSignal) {
  const waiting = new Map<Id, () => void>();
  let open = 0;
  let sent = 0;

  function post(message: object): void {
    // The document has no origin that could be named.
    frame.contentWindow?.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  async function answer(id: Id, method: string, params: Record<string, unknown>): Promise<void> {
    if (open >= MAX_OPEN) {
      post({ id, error: { code: -32000, message: 'There are too many requests.' } });
      return;
    }
    open += 1;
    try {
      post({ id, result: await receiver.request(method, params) });
    } catch (error) {
      const code = error instanceof AppFault ? error.code : -32603;
      const message = error instanceof AppFault ? error.message : 'The request failed.';
      post({ id, error: { code, message } });
    } finally {
      open -= 1;
    }
  }

  function receive({ data: message, origin, source }: MessageEvent<unknown>): void {
    if (source === null || source !== frame.contentWindow || origin !== 'null') return;
    if (!isObject(message) || message['jsonrpc'] !== '2.0') return;
    const { id, method } = message;
    const params = isObject(message['params']) ? message['params'] : {};
    const hasId = typeof id === 'string' || typeof id === 'number';
    if (typeof method !== 'string') {
      if (hasId) waiting.get(id)?.();
    } else if (hasId) {
      void answer(id, method, params);
    } else {
      receiver.notification(method, params);
    }
  }
  window.addEventListener('message', receive, { signal });

  return {
    notify(method: string, params: unknown): void {
      post({ method, params });
    },

    /** Sends a request, and waits for any answer. */
    ask(method: string, params: unknown, ms: number): Promise<void> {
      const id = (sent += 1);
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve();
        };
        const timer = setTimeout(done, ms);
        waiting.set(id, done);
        post({ id, method, params });
      });
    },
  };
}

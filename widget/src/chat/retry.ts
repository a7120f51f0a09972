import { ChatFailure, isPage, offline, refusal } from './failure.js';

/** The pauses before the tries after the first one, in milliseconds. */
const PAUSES = [500, 1_000, 2_000, 4_000, 8_000];
/** The statuses of servers that may answer later. */
const LATER = [408, 429, 502, 503, 504];
/** The longest `Retry-After` for which a request waits. */
const LONGEST_MS = 60_000;

/** Waits, at most until the browser is connected again. Rejects as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = (settle: () => void) => (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      globalThis.removeEventListener?.('online', go);
      settle();
    };
    const [go, stop] = [end(resolve), end(() => reject(signal.reason))];
    const timer = setTimeout(go, ms);
    signal.addEventListener('abort', stop);
    globalThis.addEventListener?.('online', go);
  });
}

/** Returns the pause after this many tries, with jitter, so that not all clients come back at once. */
export const pauseAfter = (tries: number, longest = Number.POSITIVE_INFINITY): number =>
  Math.min(PAUSES[tries] ?? longest, longest) * (0.8 + 0.4 * Math.random());

/** Sends a request without retries. Rejects unless the answer has a status of success, and is no page. */
export async function once(send: () => Promise<Response>): Promise<Response> {
  const response = await send().catch((error: unknown) => {
    throw error instanceof TypeError ? offline(error) : error;
  });
  if (!response.ok || isPage(response)) throw Object.assign(await refusal(response), { wait: retryAfter(response) });
  return response;
}

/**
 * Sends a request until it is answered: six times, and for as long as the browser is offline. A request that is not
 * `isRepeatable` is sent again only if the server refused it. `waits` gets the error before each pause.
 */
export async function reach(
  send: () => Promise<Response>,
  signal: AbortSignal,
  isRepeatable = true,
  waits: (error: ChatFailure) => void = () => {},
): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await once(send);
    } catch (error) {
      if (!(error instanceof ChatFailure)) throw error;
      const { status, wait = 0 } = error as ChatFailure & { wait?: number };
      const isTemporary = status ? LATER.includes(status) || error.kind === 'offline' : isRepeatable;
      const isLast = tries >= PAUSES.length && globalThis.navigator?.onLine !== false;
      if (!isTemporary || isLast || wait > LONGEST_MS) throw error;
      waits(error);
      await pause(wait || pauseAfter(Math.min(tries, PAUSES.length - 1)), signal);
    }
  }
}

/** Returns the milliseconds of `Retry-After`, which is a number of seconds or a date. */
function retryAfter({ headers }: Response): number {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Math.max(ms || 0, 0);
}

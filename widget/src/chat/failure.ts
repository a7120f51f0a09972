import { NO_SERVER } from './base.js';
import type { ChatError } from './types.js';

/** An error of a chat. */
export class ChatFailure extends Error implements ChatError {
  override readonly name = 'ChatError';
  readonly kind: ChatError['kind'];
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly canRetry: boolean;

  constructor(
    kind: ChatError['kind'],
    message: string,
    options: { status?: number; reason?: string; canRetry?: boolean; cause?: unknown } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.status = options.status;
    this.reason = options.reason;
    this.canRetry = options.canRetry ?? true;
  }
}

export const offline = (cause?: unknown): ChatFailure => new ChatFailure('offline', NO_SERVER, { cause });

export const interrupted = (cause?: unknown): ChatFailure =>
  new ChatFailure('interrupted', 'The connection was lost before the answer was complete.', { cause });

/** Returns the error of any exception. An answer that is no JSON is none of the assistant. */
export function failureOf(error: unknown): ChatFailure {
  if (error instanceof ChatFailure) return error;
  if (error instanceof SyntaxError) return offline(error);
  return new ChatFailure('failed', error instanceof Error ? error.message : String(error), { cause: error });
}

/** Returns `true` for a page in the place of the data of an assistant. */
export const isPage = ({ headers }: Response): boolean => /^text\/html/i.test(headers.get('content-type') ?? '');

/**
 * Returns the error of a refused request, with the sentence of its body. Its cause is what the server wrote. A proxy without a
 * server counts as no server, and so does a page. A host sends a request without a session on to the page that signs in.
 */
export async function refusal(response: Response): Promise<ChatFailure> {
  const status = response.redirected && isPage(response) ? 401 : response.status;
  const text = await response.text().catch(() => '');
  let message: unknown;
  let cause: unknown;
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    message = error?.message ?? error;
    cause = error;
  } catch {
    // A proxy answered, not the server.
  }
  const canRetry = status >= 500 || [401, 408, 429].includes(status);
  if (typeof message === 'string') return new ChatFailure('refused', message, { status, reason: message, canRetry, cause });
  const isGateway = status < 300 || (status > 501 && status < 505);
  if (isGateway || (status === 500 && !text)) return new ChatFailure('offline', NO_SERVER, { status });
  return new ChatFailure('refused', `The server answered with status ${status}.`, { status, canRetry });
}

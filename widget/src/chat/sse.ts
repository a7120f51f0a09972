import { interrupted } from './failure.js';

/** A chunk of the AI SDK's UI message stream. */
export interface Chunk {
  type: string;
  [member: string]: any;
}

/**
 * The pause after a read that had to wait, in milliseconds. Reading afterwards what has arrived costs the page less than
 * waiting for each event. Chromium saves most of it only if the response has `Cache-Control: no-store`. If the connection
 * breaks during the pause, what arrived in it is lost with the rest.
 */
const PAUSE_MS = 40;

/** Yields the chunks of a stream, and pauses in a visible page. A loop that is left early closes the connection. */
export async function* chunks({ body }: Response, pauseMs = PAUSE_MS): AsyncGenerator<Chunk, void> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  try {
    for (;;) {
      const begun = performance.now();
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw error instanceof TypeError ? interrupted(error) : error;
      });
      if (done) return;
      const hasWaited = performance.now() - begun >= 1;
      // A carriage return at the end may be the first half of a line end.
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
        if (line || !data.length) continue;
        const text = data.join('\n');
        data = [];
        if (text !== '[DONE]') yield JSON.parse(text) as Chunk;
      }
      // Timers of a hidden page may wait for a minute.
      if (hasWaited && pauseMs && globalThis.document?.hidden === false) await new Promise((done) => setTimeout(done, pauseMs));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

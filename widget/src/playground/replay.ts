import { isTool } from '../chat/part.js';
import type { Chunk } from '../chat/sse.js';
import type { OmniAssistChat } from '../widget.js';
import { questionOf, type Run, type RunEvent } from './recorder.js';

/** Shows recorded runs again. No request leaves the page. */
export class Replay {
  readonly #api: string;
  #events: RunEvent[] = [];
  #atOnce = false;

  constructor(api: string) {
    this.#api = `${api}/playground/replay`;
  }

  /** Answers a request of the chat that shows a replay; `undefined` for any other one. */
  answer({ pathname }: URL): Response | undefined {
    if (!pathname.startsWith(this.#api)) return undefined;
    if (pathname.endsWith('/stream')) return new Response(null, { status: 204 });
    if (pathname !== this.#api || !this.#events.length) {
      const error = { message: 'The recording ends here.' };
      return new Response(JSON.stringify({ error }), { status: 410, headers: { 'content-type': 'application/json' } });
    }
    const events = this.#events;
    this.#events = [];
    return new Response(played(events, this.#atOnce), { headers: { 'content-type': 'text/event-stream' } });
  }

  /** Returns a chat that shows a question and the recorded answer. */
  show(group: readonly Run[], atOnce: boolean): OmniAssistChat {
    this.#events = joined(group);
    this.#atOnce = atOnce;
    const chat = document.createElement('omniassist-chat') as OmniAssistChat;
    for (const [name, value] of Object.entries({ mode: 'panel', persist: 'none', api: this.#api, heading: 'Replay' }))
      chat.setAttribute(name, value);
    const text = questionOf(group[0]?.body ?? {}) || '(a message without text)';
    void customElements.whenDefined('omniassist-chat').then(() => chat.chat.ready.then(() => chat.sendMessage({ text })));
    return chat;
  }
}

/** Joins runs that go on with each other into one stream, with the results that the page or the user gave between them. */
function joined(group: readonly Run[]): RunEvent[] {
  const events: RunEvent[] = [];
  let before = 0;
  for (const [index, run] of group.entries()) {
    const isLast = index === group.length - 1;
    const given = index ? givenIn(run) : [];
    const isTold = ({ toolCallId }: Chunk): boolean =>
      events.some(({ chunk }) => chunk.toolCallId === toolCallId && chunk.type.startsWith('tool-output-'));
    for (const chunk of given.filter((chunk) => !isTold(chunk))) events.push({ at: before, chunk });
    for (const { at, chunk } of run.events)
      if ((index === 0 || chunk.type !== 'start') && (isLast || chunk.type !== 'finish'))
        events.push({ at: before + at, chunk });
    before = events.at(-1)?.at ?? 0;
  }
  return events;
}

/** Returns the results that were posted with a run, as events. */
function givenIn({ body: { messages, message } }: Run): Chunk[] {
  const parts: any[] = (message ?? messages?.at(-1))?.parts ?? [];
  return parts.filter(isTool).flatMap(({ toolCallId, state, output, errorText }): Chunk[] => {
    if (state === 'output-available') return [{ type: 'tool-output-available', toolCallId, output }];
    return state === 'output-error' ? [{ type: 'tool-output-error', toolCallId, errorText }] : [];
  });
}

function played(events: readonly RunEvent[], atOnce: boolean): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const begun = performance.now();
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const event = events[next++];
      if (!event) return controller.close();
      const pause = begun + event.at - performance.now();
      if (!atOnce && pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(event.chunk)}\n\n`));
    },
  });
}

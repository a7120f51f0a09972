import { ChatFailure } from './failure.js';
import { newId } from './id.js';
import { isObject } from '../validate/index.js';
import { isTool } from './part.js';
import type { Chunk } from './sse.js';
import type { DataPart, Message, Part, TextPart, ToolPart } from './types.js';

/** Merges objects at every depth. Any other value replaces the old one. */
function merged(into: unknown, from: unknown): unknown {
  if (!isObject(into) || !isObject(from)) return from;
  const change = Object.entries(from).map(([key, value]) => [key, merged(into[key], value)]);
  return { ...into, ...Object.fromEntries(change) };
}

/** Adds a data part to a message, or replaces the data of the part with its id. */
export function applyData(parts: Part[], { type, id, data }: Chunk): void {
  const known = id && parts.find((part) => part.type === type && (part as DataPart).id === id);
  if (known) (known as DataPart).data = data;
  else parts.push({ type, id, data } as DataPart);
}

/** Applies chunks to the last message of a conversation, to one near it, or to a new one. */
export class Answer {
  readonly #messages: Message[];
  readonly #replay: boolean;
  readonly #after: number;
  readonly #open = new Map<string, TextPart>();
  isFinished = false;
  hasContent = false;

  /** A `replay` begins with what was shown before. `after` is the number of messages that stay after the answer. */
  constructor(messages: Message[], replay: boolean, after: number) {
    this.#messages = messages;
    this.#replay = replay;
    this.#after = after;
  }

  /** The message of the answer, or the one before it. */
  get last(): Message | undefined {
    return this.#messages.at(-1 - this.#after);
  }

  get #message(): Message {
    let { last } = this;
    if (last?.role !== 'assistant') {
      last = { id: newId(), role: 'assistant', parts: [] };
      this.#messages.splice(this.#messages.length - this.#after, 0, last);
    }
    return last;
  }

  /** Applies a chunk. Returns the part of a tool call if the chunk completed its input. */
  apply(chunk: Chunk): ToolPart | undefined {
    const { type } = chunk;
    this.hasContent ||= type !== 'start' && type !== 'start-step';
    if (/^(text|reasoning)-(start|delta|end)$/.test(type)) this.#block(chunk);
    else if (type.startsWith('tool-')) return this.#call(chunk);
    else if (type.startsWith('data-')) {
      if (!chunk.transient) applyData(this.#message.parts, chunk);
    } else this.#other(chunk);
    return undefined;
  }

  #other(chunk: Chunk): void {
    const { type, finishReason } = chunk;
    if (type === 'start') {
      const { last } = this;
      // The replay of a message takes the place of what the page has of it.
      if (this.#replay && last?.id === chunk.messageId) {
        last?.parts.splice(0);
        delete last?.metadata;
      }
      if (chunk.messageId) this.#message.id = chunk.messageId;
    } else if (type === 'start-step') this.#message.parts.push({ type: 'step-start' });
    else if (type === 'reset-step') {
      // The server was started again, and asks the model once more.
      const { parts } = this.#message;
      this.#open.clear();
      parts.splice(parts.findLastIndex((part) => part.type === 'step-start') + 1);
    } else if (type === 'finish-step') this.#open.clear();
    else if (type === 'finish' || type === 'abort') {
      this.isFinished = true;
      // An answer without a text is explained by them.
      if (/^(content-filter|length)$/.test(finishReason)) chunk.messageMetadata = { ...chunk.messageMetadata, finishReason };
    } else if (type === 'error') throw new ChatFailure('failed', chunk.errorText, {});
    else if (type.startsWith('source-') || type === 'file') this.#message.parts.push(chunk as unknown as Part);
    // A newer server may send chunks that this client does not know.
    if (chunk.messageMetadata) {
      const message = this.#message;
      message.metadata = merged(message.metadata, chunk.messageMetadata) as Record<string, unknown>;
    }
  }

  #block({ type, id, delta, providerMetadata }: Chunk): void {
    const [kind, step] = type.split('-') as ['text' | 'reasoning', string];
    const key = `${kind} ${id}`;
    if (step === 'start') {
      const part: TextPart = { type: kind, text: '', state: 'streaming' };
      this.#open.set(key, part);
      this.#message.parts.push(part);
    }
    const part = this.#open.get(key);
    if (!part) throw new Error(`No ${kind} ${id} is open.`);
    if (providerMetadata) part.providerMetadata = providerMetadata;
    if (step === 'delta') part.text += delta;
    if (step !== 'end') return;
    part.state = 'done';
    this.#open.delete(key);
  }

  #tool({ toolCallId, toolName, dynamic, approvalId }: Chunk): ToolPart {
    const { parts } = this.#message;
    const found = parts.findLast(
      (part) => isTool(part) && (toolCallId ? part.toolCallId === toolCallId : part.approval?.id === approvalId),
    );
    if (found) return found as ToolPart;
    if (!toolName) throw new Error(`No tool call ${toolCallId ?? approvalId} is open.`);
    const kind = dynamic ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
    const part = { ...kind, toolCallId, state: 'input-streaming' } as ToolPart;
    parts.push(part);
    return part;
  }

  #call(chunk: Chunk): ToolPart | undefined {
    const part = this.#tool(chunk);
    const { type, errorText, reason, signature, isAutomatic, providerMetadata } = chunk;
    const { title = part.title, providerExecuted = part.providerExecuted } = chunk;
    const [, side, end] = /^tool-(input|output)-(available|error|denied)$/.exec(type) ?? [];
    if (type === 'tool-input-start') Object.assign(part, { title, providerExecuted, rawInput: '' });
    else if (type === 'tool-input-delta') part.rawInput += chunk.inputTextDelta;
    else if (side === 'input') {
      const state = end === 'error' ? 'output-error' : 'input-available';
      Object.assign(part, { state, input: chunk.input, errorText, title, providerExecuted, rawInput: undefined });
      if (providerMetadata) part.callProviderMetadata = providerMetadata;
      return end === 'error' ? undefined : part;
    } else {
      // A replay sends the input of a call as text, so that the page does not run the call again.
      if (part.rawInput) part.input = JSON.parse(part.rawInput);
      part.rawInput = undefined;
      if (side) {
        // A failure after progress has no output: the progress is none.
        const { output, preliminary } = chunk;
        const state = `output-${end}`;
        Object.assign(part, { state, output, preliminary, errorText, resultProviderMetadata: providerMetadata });
      } else if (type === 'tool-approval-request') {
        const approval = { id: chunk.approvalId, requestReason: reason, signature, isAutomatic };
        Object.assign(part, { state: 'approval-requested', approval });
      } else if (type === 'tool-approval-response') {
        const approval = { ...part.approval, approved: chunk.approved, reason };
        Object.assign(part, { state: 'approval-responded', approval });
      }
    }
    return undefined;
  }
}

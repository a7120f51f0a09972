import type { Run } from './recorder.js';
import { parsed } from './settings.js';

/** A call of a tool by the model, and what came of it. */
export interface Call {
  id: string;
  name: string;
  input: unknown;
  /** The state of the call at the end of the run, as in the messages of the client. */
  state: string;
  output?: unknown;
  errorText?: string;
}

/** An answer of the model: what it wrote between two results of tools. */
export interface Turn {
  pieces: ({ type: 'text' | 'reasoning'; text: string } | { type: 'call'; call: Call })[];
}

/** Returns the answers of the model in runs that go on with each other. */
export function turnsOf(runs: readonly Run[]): Turn[] {
  const turns: Turn[] = [];
  const blocks = new Map<string, { text: string }>();
  const calls = new Map<string, Call>();
  /** The calls whose arguments are written. A resumed run has no others. */
  const writing = new Map<string, { name: string; text: string }>();
  let turn: Turn = { pieces: [] };
  const add = (id: string, name: string, input: unknown): Call => {
    const call: Call = { id, name, input, state: 'input-available' };
    calls.set(id, call);
    turn.pieces.push({ type: 'call', call });
    return call;
  };
  for (const { chunk } of runs.flatMap(({ events }) => events)) {
    const { type, id, toolCallId } = chunk;
    const written = writing.get(toolCallId);
    const isRead = written && /^tool-(output|approval)/.test(type);
    const call = calls.get(toolCallId) ?? (isRead && add(toolCallId, written.name, parsed(written.text, () => true).value));
    if (type === 'start-step') turns.push((turn = { pieces: [] }));
    else if (type === 'reset-step') turn.pieces = [];
    else if (type === 'text-start' || type === 'reasoning-start') {
      const piece = { type: type.slice(0, -6) as 'text' | 'reasoning', text: '' };
      blocks.set(id, piece);
      turn.pieces.push(piece);
    } else if (type === 'text-delta' || type === 'reasoning-delta') {
      const block = blocks.get(id);
      if (block) block.text += chunk.delta;
    } else if (type === 'tool-input-start') writing.set(toolCallId, { name: chunk.toolName, text: '' });
    else if (type === 'tool-input-delta') {
      if (written) written.text += chunk.inputTextDelta;
    } else if (type === 'tool-input-available') add(toolCallId, chunk.toolName, chunk.input);
    else if (!call) continue;
    else if (type === 'tool-output-available' && !chunk.preliminary)
      Object.assign(call, { state: 'output-available', output: chunk.output });
    else if (type === 'tool-output-error') Object.assign(call, { state: 'output-error', errorText: chunk.errorText });
    else if (type === 'tool-output-denied') call.state = 'output-denied';
    else if (type === 'tool-approval-request') call.state = 'approval-requested';
  }
  return turns.filter(({ pieces }) => pieces.length);
}

export const callsOf = (turns: Turn[]): Call[] =>
  turns.flatMap(({ pieces }) => pieces.flatMap((piece) => (piece.type === 'call' ? [piece.call] : [])));

export const textOf = (turns: Turn[]): string =>
  turns.flatMap(({ pieces }) => pieces.map((piece) => (piece.type === 'text' ? piece.text : ''))).join('');

/** A turn as a run takes it, with changed arguments of calls by their ids. */
export function played({ pieces }: Turn, changed: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const calls = pieces.flatMap((piece) => {
    if (piece.type !== 'call') return [];
    const { id, name, input } = piece.call;
    return [{ name, arguments: changed.has(id) ? changed.get(id) : input }];
  });
  return { text: textOf([{ pieces }]), calls };
}

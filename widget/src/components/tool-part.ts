import type { Part } from './component.js';

/** The prefix of the tools that show components. */
const PREFIX = 'ui_';
const STATE = 'data-ui-state';

/** A tool part of the AI SDK: the members that this module reads. */
interface ToolPart {
  type: string;
  toolName?: string;
  toolCallId?: string;
  state?: string;
  input?: unknown;
  rawInput?: unknown;
  output?: unknown;
  errorText?: string;
}

interface StatePart {
  type: string;
  id?: string;
  data?: { state?: Record<string, unknown> };
}

interface Message {
  parts: readonly unknown[];
}

/**
 * Returns what to draw for a part of a message of the AI SDK, with the newest state that the messages have, or `undefined`
 * if the part shows no component.
 */
export function fromToolPart(part: ToolPart, messages: readonly Message[]): Part | undefined {
  const tool = part.toolName ?? part.type.slice('tool-'.length);
  if (!/^(tool-|dynamic-tool$)/.test(part.type) || !tool.startsWith(PREFIX)) return undefined;
  const output = part.output as { instanceId?: string } | undefined;
  const instanceId = output?.instanceId ?? part.toolCallId ?? '';
  const states = messages.flatMap(({ parts }) => parts as StatePart[]).filter((one) => isState(one, instanceId));
  return {
    component: tool.slice(PREFIX.length),
    instanceId,
    props: part.input ?? part.rawInput ?? '',
    state: states.at(-1)?.data?.state,
    status: statusOf(part.state),
    error: part.errorText,
    output: output?.instanceId ? undefined : output,
  };
}

/** Returns the messages with changed members of the state of an instance. The next post sends that state. */
export function withState<M extends Message>(
  messages: readonly M[],
  instanceId: string,
  change: Record<string, unknown>,
): M[] {
  const changed = (part: StatePart) =>
    isState(part, instanceId)
      ? { ...part, data: { ...part.data, state: { ...part.data?.state, ...change } } }
      : part;
  return messages.map((message) => ({ ...message, parts: (message.parts as StatePart[]).map(changed) }));
}

const isState = (part: StatePart, id: string): boolean => part.type === STATE && part.id === id;

function statusOf(state: string | undefined): Part['status'] {
  if (state === 'input-streaming') return 'streaming';
  return state === 'input-available' || state === 'output-available' ? 'complete' : 'error';
}

import type { Chat, Message, Part, TextPart, ToolPart } from './types.js';

export const isTool = (part: Part): part is ToolPart => part.type === 'dynamic-tool' || part.type.startsWith('tool-');
export const toolName = (part: ToolPart): string => part.toolName ?? part.type.slice('tool-'.length);
export const isText = (part: Part): part is TextPart => part.type === 'text';

const SETTLED = ['output-error', 'output-denied', 'approval-responded'];

/** Returns `true` if the page and the user have nothing more to do for this call. */
export const isSettled = (part: ToolPart): boolean =>
  (part.state === 'output-available' && !part.preliminary) || SETTLED.includes(part.state);

/** Returns the parts since the last step began. */
export const lastStep = (message: Message): Part[] =>
  message.parts.slice(message.parts.findLastIndex(({ type }) => type === 'step-start') + 1);

/** Returns `true` if the last step of an answer only waits to be posted back. */
export function isComplete(message: Message | undefined): boolean {
  if (message?.role !== 'assistant') return false;
  const step = lastStep(message);
  const tools = step.filter((part): part is ToolPart => isTool(part) && !part.providerExecuted);
  const after = step.slice(step.findLastIndex(isTool) + 1);
  return tools.length > 0 && tools.every(isSettled) && !after.some((part) => isText(part) && part.state !== 'done');
}

/** Returns the text of a message, without reasoning. */
export const textOf = (message: Message | undefined): string =>
  message?.parts.filter(isText).map(({ text }) => text).join('\n\n') ?? '';

/** Returns the last message of the user. */
export const lastQuestion = (messages: readonly Message[]): Message | undefined =>
  messages.findLast(({ role }) => role === 'user');

/** Returns `true` while a request runs. */
export const isAnswering = ({ status }: Chat): boolean => status === 'submitted' || status === 'streaming';

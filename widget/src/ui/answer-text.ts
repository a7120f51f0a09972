import type { Message, Part, TextPart, ToolPart } from '../chat/types.js';

export const isToolPart = (part: Part): part is ToolPart =>
  part.type === 'dynamic-tool' || part.type.startsWith('tool-');

/** Returns the last message of the user. */
export function lastQuestion(messages: readonly Message[]): Message | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1)
    if (messages[index]?.role === 'user') return messages[index];
  return undefined;
}

/** Returns the text of a message, without reasoning. */
export const messageText = ({ parts }: Message): string =>
  parts
    .filter((part): part is TextPart => part.type === 'text')
    .map(({ text }) => text)
    .join('\n');

/** Returns the text of an answer as it is spoken: without the marks of Markdown. */
export const answerText = (message: Message): string =>
  messageText(message)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\|?[\s:|-]+\|)\s/gm, '')
    .replace(/[*_`|~]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

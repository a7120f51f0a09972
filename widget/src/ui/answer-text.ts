import { textOf } from '../chat/part.js';
import type { Message } from '../chat/types.js';

/** The characters of a text that are read at most: marks of Markdown are not spoken. */
const READ = 2_000;

/** Returns the beginning of an answer as it is spoken: without the marks of Markdown. */
export const answerText = (message: Message): string =>
  textOf(message)
    .slice(0, READ)
    .replace(/!?\[([^\]\n]{0,300})\]\([^)\n]{0,300}\)/g, '$1')
    .replace(/^[ \t]*(?:(?:#{1,6}|>|[-*+])[ \t]|\|[\t :|-]+$)/gm, '')
    .replace(/[*_`|~]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

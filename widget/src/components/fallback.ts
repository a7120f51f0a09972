import { filled } from '../ui/dom.js';
import { type Child, h } from './node.js';
import type { Texts } from './texts.js';

/** The most characters of the content that are shown. */
const CONTENT = 20_000;

/** Returns the text of what was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Describes what is shown in place of a component: its name, the reason, and its content as text. */
export function fallback(name: string, message: string | undefined, content: unknown, texts: Texts): Child {
  const text = typeof content === 'string' ? content : (JSON.stringify(content, null, 2) ?? '');
  const title = filled(message === undefined ? texts.unknown : texts.failed, { name });
  return h(
    'figure',
    { part: 'figure fallback', 'data-type': message === undefined ? 'unknown' : 'error', 'data-component-name': name },
    h('figcaption', { part: 'title' }, title),
    message === undefined ? null : h('p', { part: 'message' }, message),
    text && text !== '{}'
      ? h('pre', { part: 'source', tabindex: 0, role: 'group', 'aria-label': title }, text.slice(0, CONTENT))
      : null,
  );
}

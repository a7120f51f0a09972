import type { TextPart } from '../chat/types.js';
import { MarkdownView } from '../markdown/index.js';
import { element, setHidden } from '../ui/dom.js';
import type { ViewContext } from '../ui/view.js';
import type { PartView } from './kinds.js';

/** Makes the view of a text of the assistant. */
export function markdownIn(node: HTMLElement, { imageOrigins, texts }: ViewContext): MarkdownView {
  return new MarkdownView(node, { imageOrigins, texts: { copy: texts.copy, copied: texts.copied } });
}

export function textView(context: ViewContext): PartView<TextPart> {
  const node = element('div', { part: 'text', 'data-part': 'text' });
  const markdown = markdownIn(node, context);
  let shown: string | undefined;
  let wasDone = false;
  return {
    node,
    update({ text, state }, { busy }) {
      const done = !busy || state === 'done';
      if (text === shown && done === wasDone) return;
      [shown, wasDone] = [text, done];
      setHidden(node, text.trim() === '');
      markdown.set(text, done);
    },
  };
}

/** The characters from which on a text of the user gets a limited height. It is scrolled, also by keys. */
const LONG = 2_000;

/** The text of the user: no markup, with its line breaks. */
export function saidView(): PartView<TextPart> {
  const node = element('p', { part: 'said', 'data-part': 'text' });
  return {
    node,
    update({ text }) {
      if (text.length > LONG) node.tabIndex = 0;
      if (node.textContent !== text) node.textContent = text;
    },
  };
}

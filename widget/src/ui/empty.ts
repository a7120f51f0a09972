import { button } from './button.js';
import { element } from './dom.js';
import type { View, ViewContext } from './view.js';

/** The view of a chat without messages: a greeting and questions to begin with. */
export class Empty implements View {
  readonly node: HTMLElement;
  readonly #context: ViewContext;

  constructor(context: ViewContext, suggestions: readonly string[], ask: (question: string) => void) {
    const { texts } = context;
    this.#context = context;
    const rows = suggestions.map((text) =>
      element(
        'li',
        {},
        button(text, 'suggestion', () => ask(text)),
      ),
    );
    this.node = element(
      'div',
      { part: 'empty', hidden: true },
      element(
        'slot',
        { name: 'empty' },
        element('p', { part: 'greeting' }, texts.emptyTitle),
        rows.length > 0 && element('ul', { part: 'suggestions', 'aria-label': texts.suggestions }, ...rows),
      ),
    );
  }

  update(): void {
    const { messages, status } = this.#context.chat;
    const isEmpty = messages.length === 0 && status !== 'submitted';
    if (this.node.hidden === isEmpty) this.node.hidden = !isEmpty;
  }
}

/** Reads suggestions: a JSON array, or questions between `|`. */
export function suggestionsOf(text: string | undefined): string[] {
  if (!text) return [];
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read)) return read.map(String);
  } catch {
    // Not JSON.
  }
  return text
    .split('|')
    .map((one) => one.trim())
    .filter(Boolean);
}

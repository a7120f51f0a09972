// Emphasis and strikethrough, from runs of `*`, `_` and `~`.

import { type Span, type Spans, span } from './spans.js';

export interface Delimiter {
  node: Span;
  /** The position in the text. */
  at: number;
  char: string;
  /** The characters that are left. */
  count: number;
  /** The characters of the run. */
  length: number;
  canOpen: boolean;
  canClose: boolean;
  previous: Delimiter | undefined;
  next: Delimiter | undefined;
}

/** Matches the delimiters after `bottom`. If the text is still growing, what is not closed reaches to its end. */
export function emphasize(spans: Spans, last: Delimiter | undefined, bottom: Delimiter | undefined, isOpen = false): void {
  if (last === bottom) return;
  let closer = last;
  while (closer && closer.previous !== bottom) closer = closer.previous;
  const lowest = bottom?.at ?? -1;
  /** For each kind of closer, the position up to which there is no opener. */
  const floors = new Map<string, number>();
  while (closer) {
    const current: Delimiter = closer;
    if (!current.canClose) {
      closer = current.next;
      continue;
    }
    const kind = `${current.char}${current.canOpen}${current.char === '~' ? current.count : current.length % 3}`;
    const floor = floors.get(kind) ?? lowest;
    let opener = current.previous;
    while (opener && opener.at > floor && !matches(opener, current)) opener = opener.previous;
    if (!opener || opener.at <= floor) {
      floors.set(kind, current.previous?.at ?? -1);
      closer = current.next;
      if (!current.canOpen) remove(current);
      continue;
    }
    const width = current.char === '~' ? current.count : opener.count > 1 && current.count > 1 ? 2 : 1;
    opener.next = current;
    current.previous = opener;
    if (!spans.enclose(opener.node, current.node, span(tagOf(current.char, width)))) return;
    take(opener, width);
    take(current, width);
    if (!opener.count) remove(opener);
    if (!current.count) {
      closer = current.next;
      remove(current);
    }
  }
  if (!isOpen) return;
  for (let opener = last; opener && opener !== bottom; opener = opener.previous) {
    // A mark that could also close, as in `5*3`, and a single `~`, as in `~5 minutes`, are rarely marks.
    if (!opener.canOpen || opener.canClose || !opener.node.next || opener.count > 3) continue;
    if (opener.char === '~' && opener.count < 2) continue;
    while (opener.count) {
      const width = opener.char === '~' ? opener.count : Math.min(opener.count, 2);
      if (!spans.enclose(opener.node, undefined, span(tagOf(opener.char, width)))) return;
      take(opener, width);
    }
  }
}

const tagOf = (char: string, width: number): string => (char === '~' ? 'del' : width === 2 ? 'strong' : 'em');

function matches(opener: Delimiter, closer: Delimiter): boolean {
  if (opener.char !== closer.char || !opener.canOpen) return false;
  if (closer.char === '~') return opener.count === closer.count;
  return !(
    (opener.canClose || closer.canOpen) &&
    (opener.length + closer.length) % 3 === 0 &&
    (opener.length % 3 || closer.length % 3)
  );
}

function take(delimiter: Delimiter, width: number): void {
  delimiter.count -= width;
  delimiter.node.text = delimiter.char.repeat(delimiter.count);
}

function remove(delimiter: Delimiter): void {
  if (delimiter.previous) delimiter.previous.next = delimiter.next;
  if (delimiter.next) delimiter.next.previous = delimiter.previous;
}

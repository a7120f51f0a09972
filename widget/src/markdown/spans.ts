// A list of spans that can be put into each other in constant time.

import type { Target } from './links.js';

export interface Span {
  /** The name of the element, `math`, `display`, or `html` for HTML that is shown as it is written. Text: empty. */
  tag: string;
  text: string;
  target: Target | undefined;
  first: Span | undefined;
  last: Span | undefined;
  previous: Span | undefined;
  next: Span | undefined;
  depth: number;
}

/** The most spans in each other. */
const DEPTH_LIMIT = 24;

export const span = (tag: string, text = '', target?: Target): Span => ({
  tag,
  text,
  target,
  first: undefined,
  last: undefined,
  previous: undefined,
  next: undefined,
  depth: 0,
});

export function append(parent: Span, child: Span): void {
  parent.first ??= child;
  child.previous = parent.last;
  if (parent.last) parent.last.next = child;
  parent.last = child;
}

export class Spans {
  readonly root = span('root');
  #text = '';
  #isFull = false;

  push(node: Span): Span {
    this.flush();
    append(this.root, node);
    return node;
  }

  text(text: string): void {
    this.#text += text;
  }

  flush(): void {
    if (this.#text) append(this.root, span('', this.#text));
    this.#text = '';
  }

  /** Removes the spaces at the end. Returns their number. */
  trimEnd(): number {
    let end = this.#text.length;
    while (this.#text[end - 1] === ' ' || this.#text[end - 1] === '\t') end--;
    const count = this.#text.length - end;
    this.#text = this.#text.slice(0, end);
    return count;
  }

  /** Removes `count` characters of text from the end. Returns `false` if there are fewer. */
  cut(count: number): boolean {
    if (this.#text.length < count) return false;
    this.#text = this.#text.slice(0, this.#text.length - count);
    return true;
  }

  /** Adds a link whose text is `text`. */
  link(address: string, text: string): void {
    const node = this.push(span('a', '', { address: address.replaceAll('\\', '%5C'), title: '' }));
    append(node, span('', text));
  }

  /**
   * Puts what is between `opener` and `closer` into `node`, and `node` in its place. Returns `false` if the spans are
   * nested too deeply; nothing is nested from there on, so that the time stays linear.
   */
  enclose(opener: Span, closer: Span | undefined, node: Span): boolean {
    let depth = 0;
    if (!this.#isFull)
      for (let child = opener.next; child !== closer; child = child!.next) depth = Math.max(depth, child!.depth);
    if (this.#isFull || (this.#isFull = depth >= DEPTH_LIMIT)) return false;
    node.depth = depth + 1;
    if (opener.next !== closer) {
      node.first = opener.next!;
      node.last = closer ? closer.previous! : this.root.last!;
      node.first.previous = undefined;
      node.last.next = undefined;
    }
    node.previous = opener;
    opener.next = node;
    node.next = closer;
    if (closer) closer.previous = node;
    else this.root.last = node;
    return true;
  }
}

// The HTML in a text, by the rules of CommonMark. It is shown as it is written, besides comments and elements that only
// mark a text.

import { matchAt } from './links.js';

const TAG =
  /<(?:\/[a-z][a-z\d-]*\s*|[a-z][a-z\d-]*(?:\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*\/?)>/iy;
/** The ends of what is no tag, by its beginning. */
const ENDS: [RegExp, string][] = [
  [/<!--/y, '-->'],
  [/<\?/y, '?>'],
  [/<![a-z]/iy, '>'],
  [/<!\[CDATA\[/y, ']]>'],
];
/** The elements whose content is no Markdown, until they are closed. */
const VERBATIM = /^<(?:pre|script|style|textarea)(?![^\s>])/i;
const CLOSED = /<\/(?:pre|script|style|textarea)>/i;
const BLOCK =
  /^<\/?(?:address|article|aside|base(?:font)?|blockquote|body|caption|center|col(?:group)?|dd|details|dialog|dir|div|d[lt]|fieldset|fig(?:caption|ure)|footer|form|frame(?:set)?|h[1-6r]|head(?:er)?|html|iframe|legend|li|link|main|menu(?:item)?|nav|noframes|o(?:l|ptgroup|ption)|p(?:aram)?|search|section|summary|t(?:able|body|[dhr]|foot|head|itle|rack)|ul)(?:\s|\/?>|$)/i;
/** A tag that is read as a line break, not as HTML. */
const BREAK = /^<br(?![\w-])/i;
const MARKING = /^<(\/?)(b|del|em|i|ins|kbd|mark|q|s|small|strong|su[bp]|u)(?![\w-])/i;

/** Returns the position after the HTML at `at`. `missing` has the ends that do not follow, so that each is searched once. */
export function htmlAt(source: string, at: number, missing: Set<string>): number | undefined {
  const tag = matchAt(TAG, source, at);
  if (tag) return at + tag[0].length;
  const end = ENDS.find(([begin]) => matchAt(begin, source, at))?.[1];
  if (!end || missing.has(end)) return undefined;
  const found = source.indexOf(end, at + 2);
  if (found >= 0) return found + end.length;
  missing.add(end);
  return undefined;
}

/** Returns the name of a tag that only marks a text. */
export function marking(tag: string): { name: string; isEnd: boolean } | undefined {
  const found = MARKING.exec(tag);
  return found ? { name: found[2]!.toLowerCase(), isEnd: found[1] !== '' } : undefined;
}

export const isComment = (html: string): boolean => html.startsWith('<!--');

/**
 * Returns what ends the block of HTML that a line begins: a text, `</` for the end of an element, or an empty string for a
 * blank line. `undefined`: the line begins none.
 */
export function htmlBlockEnd(line: string, isInParagraph: boolean): string | undefined {
  if (VERBATIM.test(line)) return '</';
  const end = ENDS.find(([begin]) => matchAt(begin, line, 0))?.[1];
  if (end) return end;
  if (BLOCK.test(line)) return '';
  const tag = !isInParagraph && !BREAK.test(line) && matchAt(TAG, line, 0);
  return tag && line.slice(tag[0].length).trim() === '' ? '' : undefined;
}

/** Returns a block of HTML without the comments at its beginning. A comment without an end is text once the block has ended. */
export function withoutComments(html: string, isOpen: boolean): string {
  let rest = html;
  for (let text; isComment((text = rest.trim())); rest = text) {
    const end = text.indexOf('-->', 2);
    if (end < 0) return isOpen ? '' : rest;
    text = text.slice(end + 3);
  }
  return rest;
}

/** Returns `true` if a line ends a block of HTML. */
export const endsHtml = (line: string, end: string): boolean =>
  end === '</' ? CLOSED.test(line) : end !== '' && line.includes(end);

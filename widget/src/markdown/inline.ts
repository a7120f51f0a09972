// The inline marks of a text: emphasis, code, links, images, breaks and math. Each scan is bounded or happens once, so that
// the time is linear in the text.

import { type Delimiter, emphasize } from './emphasis.js';
import { referenceAt } from './entities.js';
import { htmlAt, isComment, marking } from './html.js';
import { keyOf, labelAt, matchAt, type Target, targetAt } from './links.js';
import { autolinkAt, isAllowed } from './addresses.js';
import { type Span, span, Spans } from './spans.js';

interface Bracket {
  node: Span;
  isImage: boolean;
  /** The position after the bracket. */
  at: number;
  delimiter: Delimiter | undefined;
  hasBracket: boolean;
}

/** The start tag of an element that marks a text. */
interface Opener {
  node: Span;
  name: string;
  at: number;
  delimiter: Delimiter | undefined;
}

const PLAIN = /[^\n\\`*_~[\]!<&$:@wW]+/y;
const RUN = /`+|\*+|_+|~+|\$+/y;
const ANGLE = /<(?:([a-z][a-z\d+.-]{1,31}:[^\s<>]*)|([\w.+-]{1,64}@[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?))>/iy;
/** A cell of a table has no other way to break a line. */
const BREAK = /<br ?\/?>/iy;
const OPEN_TARGET = /\([^\s)]{0,2000}(?:\s+["'][^"'\n]{0,500}["']?)?$/y;
/** The beginning of a tag or a comment at the end of a text. */
const OPEN_HTML = /<(?:\/?[a-z][a-z\d-]{0,15}|!-[^]*|!)?$/iy;
/** The longest math in `\(…\)` or `\[…\]`. */
const MATH_LIMIT = 1_000;
const PUNCTUATION = /[\p{P}\p{S}]/u;

export interface Inline {
  spans: Spans;
  /** `true` if a label had no definition. */
  isUnresolved: boolean;
}

export const hasMarks = (text: string): boolean => /[\\`*_~[\]<&$:@]|www/i.test(text);

/**
 * Reads the inline marks of a text up to the position `limit`. `isOpen` closes marks at the end of a text that is still
 * growing.
 */
export function parseInline(
  source: string,
  definitions: ReadonlyMap<string, Target>,
  isOpen: boolean,
  limit: number,
): Inline {
  const out = new Spans();
  const brackets: Bracket[] = [];
  const openers: Opener[] = [];
  /** The number of open elements by their names. */
  const opened = new Map<string, number>();
  const missingEnds = new Set<string>();
  /** The next ends of math. */
  const mathEnds = new Map<string, number>();
  const ticks = new Map<number, number[]>();
  let hasTicks = false;
  let last: Delimiter | undefined;
  let isUnresolved = false;
  /** Brackets below this position are within a link. */
  let inactive = 0;
  let hasDisplay = true;
  let at = 0;

  /** Returns the position of the next run of exactly `width` backticks. */
  const closingTicks = (width: number): number => {
    if (!hasTicks) {
      hasTicks = true;
      for (const found of source.matchAll(/`+/g)) {
        const there = ticks.get(found[0].length);
        if (there) there.push(found.index);
        else ticks.set(found[0].length, [found.index]);
      }
      for (const positions of ticks.values()) positions.reverse();
    }
    const positions = ticks.get(width) ?? [];
    while (positions.length && positions.at(-1)! < at) positions.pop();
    return positions.at(-1) ?? -1;
  };

  /** Returns `true` if a run is shorter than the mark that it may close. */
  const isPartOfEnd = (run: string): boolean => {
    for (let opener = last; opener; opener = opener.previous)
      if (opener.char === run[0] && opener.canOpen) return opener.count > run.length;
    return false;
  };

  const delimiterRun = (run: string): void => {
    const before = at > run.length ? String.fromCodePoint(codeBefore(source, at - run.length)) : '\n';
    const after = at < source.length ? String.fromCodePoint(source.codePointAt(at)!) : '\n';
    const isSpaceAfter = /\s/.test(after);
    const isSpaceBefore = /\s/.test(before);
    const isPunctuationAfter = PUNCTUATION.test(after);
    const isPunctuationBefore = PUNCTUATION.test(before);
    const isLeft = !isSpaceAfter && (!isPunctuationAfter || isSpaceBefore || isPunctuationBefore);
    const isRight = !isSpaceBefore && (!isPunctuationBefore || isSpaceAfter || isPunctuationAfter);
    const isUnderscore = run[0] === '_';
    const canOpen = isLeft && (!isUnderscore || !isRight || isPunctuationBefore);
    const canClose = isRight && (!isUnderscore || !isLeft || isPunctuationAfter);
    // At the end of a text that grows, it may become the beginning of a mark, or the whole end of one.
    if (isOpen && at >= source.length && (isSpaceBefore || isPartOfEnd(run))) return;
    if ((!canOpen && !canClose) || (run[0] === '~' && run.length > 2)) return out.text(run);
    const node = out.push(span('', run));
    last = { node, at, char: run[0]!, count: run.length, length: run.length, canOpen, canClose, previous: last, next: undefined };
    if (last.previous) last.previous.next = last;
  };

  const math = (run: string): void => {
    const width = run.length;
    let end = -1;
    if (width === 2 ? hasDisplay : width === 1 && /\S/.test(source[at] ?? ' ')) {
      end = source.indexOf(run, at);
      while (source[end - 1] === '\\') end = source.indexOf(run, end + 1);
      if (width === 2) hasDisplay = end > 0;
      // A price is no math.
      else if (/\s/.test(source[end - 1] ?? ' ') || /\d/.test(source[end + 1] ?? '')) end = -1;
    }
    if (end < 0) return out.text(run);
    out.push(span(width === 2 ? 'display' : 'math', source.slice(at, end).trim()));
    at = end + width;
  };

  const code = (run: string): void => {
    const end = closingTicks(run.length);
    const isUnclosed = end < 0 && isOpen && at < source.length;
    if (end < 0 && !isUnclosed) return out.text(run);
    let text = source.slice(at, isUnclosed ? undefined : end).replaceAll('\n', ' ');
    if (text[0] === ' ' && text.at(-1) === ' ' && text.trim() !== '') text = text.slice(1, -1);
    out.push(span('code', text));
    at = isUnclosed ? source.length : end + run.length;
  };

  const target = (bracket: Bracket, end: number): (Target & { end: number }) | undefined => {
    const inline = source[end] === '(' ? targetAt(source, end) : undefined;
    if (inline) return inline;
    const label = labelAt(source, end);
    if (!label && bracket.hasBracket) return undefined;
    const text = label?.label ?? source.slice(bracket.at, end - 1);
    const key = text.length < 1_000 ? keyOf(text) : undefined;
    const found = key && definitions.get(key);
    if (found) return { ...found, end: label?.end ?? (source.startsWith('[]', end) ? end + 2 : end) };
    isUnresolved ||= key !== undefined;
    return undefined;
  };

  const closeBracket = (): void => {
    const bracket = brackets.pop();
    const isInactive = bracket && !bracket.isImage && brackets.length < inactive;
    inactive = Math.min(inactive, brackets.length);
    const found = bracket && !isInactive ? target(bracket, at) : undefined;
    if (!bracket || !found || (!bracket.isImage && !isAllowed(found.address))) {
      if (bracket && isOpen && !isInactive && matchAt(OPEN_TARGET, source, at)) {
        bracket.node.text = ''; // Until the address is complete, the label is shown alone.
        at = source.length;
        return;
      }
      const outer = brackets.at(-1);
      if (outer) outer.hasBracket = true;
      return out.text(']');
    }
    out.flush();
    emphasize(out, last, bracket.delimiter);
    last = bracket.delimiter;
    if (last) last.next = undefined;
    if (out.enclose(bracket.node, undefined, span(bracket.isImage ? 'img' : 'a', '', found))) {
      bracket.node.text = '';
      at = found.end;
      while (openers.length && openers.at(-1)!.at > bracket.at) forgetOpener();
      if (!bracket.isImage) inactive = brackets.length;
    } else out.text(']');
  };

  const lineEnd = (): void => {
    if (out.trimEnd() > 1) out.push(span('br'));
    else out.flush();
    out.text('\n');
    while (source[at] === ' ' || source[at] === '\t') at++;
  };

  /** Reads math in `\(…\)` or `\[…\]`, as models write it. Returns `false` if there is none. */
  const escapedMath = (open: string): boolean => {
    const close = open === '(' ? '\\)' : '\\]';
    let end = mathEnds.get(close) ?? 0;
    if (end >= 0 && end <= at) mathEnds.set(close, (end = source.indexOf(close, at + 1)));
    if (end < 0 || end - at > MATH_LIMIT) return false;
    const text = source.slice(at + 1, end).trim();
    if (!/[\p{L}\d]/u.test(text)) return false;
    out.push(span(open === '(' ? 'math' : 'display', text));
    at = end + 2;
    return true;
  };

  const escape = (): void => {
    const next = source[at];
    if ((next === '(' || next === '[') && escapedMath(next)) return;
    if (next === '\n') {
      at++;
      out.push(span('br'));
      out.text('\n');
    } else if (next !== undefined && /[!-/:-@[-`{-~]/.test(next)) {
      at++;
      out.text(next);
    } else out.text('\\');
  };

  const angle = (): void => {
    const line = matchAt(BREAK, source, at - 1);
    if (line) {
      at += line[0].length - 1;
      out.push(span('br'));
      return;
    }
    const found = matchAt(ANGLE, source, at - 1);
    const address = found && (found[1] ?? `mailto:${found[2]}`);
    if (!found || !isAllowed(address!)) return html();
    at += found[0].length - 1;
    out.link(address!, found[1] ?? found[2]!);
  };

  const html = (): void => {
    const start = at - 1;
    const end = htmlAt(source, start, missingEnds);
    if (end === undefined) {
      // Until it is complete, it is not shown.
      if (!isOpen || !matchAt(OPEN_HTML, source, start)) return out.text('<');
      at = source.length;
      return;
    }
    at = end;
    const text = source.slice(start, end);
    if (isComment(text)) return;
    const mark = marking(text);
    if (mark?.isEnd && closeElement(mark.name)) return;
    const node = out.push(span('html', text));
    if (!mark || mark.isEnd) return;
    openers.push({ node, name: mark.name, at, delimiter: last });
    opened.set(mark.name, (opened.get(mark.name) ?? 0) + 1);
  };

  const forgetOpener = (): Opener => {
    const opener = openers.pop()!;
    opened.set(opener.name, opened.get(opener.name)! - 1);
    return opener;
  };

  /**
   * Puts what follows the last start tag `name` into an element. Returns `false` without such a tag. `isUnclosed`: there is no
   * end tag, as the text still grows.
   */
  const closeElement = (name: string, isUnclosed = false): boolean => {
    if (!opened.get(name)) return false;
    let opener = forgetOpener();
    while (opener.name !== name) opener = forgetOpener();
    out.flush();
    emphasize(out, last, opener.delimiter, isUnclosed);
    last = opener.delimiter;
    if (last) last.next = undefined;
    while (brackets.length && brackets.at(-1)!.at > opener.at) brackets.pop();
    inactive = Math.min(inactive, brackets.length);
    if (!out.enclose(opener.node, undefined, span(name))) return false;
    opener.node.text = '';
    opener.node.tag = '';
    return true;
  };

  while (at < source.length && at < limit) {
    const plain = matchAt(PLAIN, source, at);
    if (plain) {
      out.text(plain[0]);
      at += plain[0].length;
      continue;
    }
    const start = at;
    const char = source[at++]!;
    switch (char) {
      case '\n':
        lineEnd();
        break;
      case '\\':
        escape();
        break;
      case '`':
      case '*':
      case '_':
      case '~':
      case '$': {
        const run = matchAt(RUN, source, start)![0];
        at = start + run.length;
        if (char === '`') code(run);
        else if (char === '$') math(run);
        else delimiterRun(run);
        break;
      }
      case '!':
      case '[': {
        const isImage = char === '!';
        if (isImage && source[at] !== '[') {
          out.text(char);
          break;
        }
        if (isImage) at++;
        const node = out.push(span('', isImage ? '![' : '['));
        const outer = brackets.at(-1);
        if (outer) outer.hasBracket = true;
        brackets.push({ node, isImage, at, delimiter: last, hasBracket: false });
        break;
      }
      case ']':
        closeBracket();
        break;
      case '<':
        angle();
        break;
      case '&': {
        const found = referenceAt(source, start);
        out.text(found?.text ?? char);
        at = found?.end ?? at;
        break;
      }
      default: {
        const found = autolinkAt(source, start);
        if (!found || (found.start < start && !out.cut(start - found.start))) {
          out.text(char);
          break;
        }
        const text = source.slice(found.start, found.end);
        out.link(found.prefix + text, text);
        at = found.end;
      }
    }
  }
  out.text(source.slice(at));
  out.trimEnd();
  out.flush();
  if (isOpen) while (openers.length) closeElement(openers.at(-1)!.name, true);
  emphasize(out, last, undefined, isOpen);
  return { spans: out, isUnresolved };
}

function codeBefore(source: string, at: number): number {
  const code = source.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff && at > 1 ? source.codePointAt(at - 2)! : code;
}

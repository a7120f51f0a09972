// The parts of links: labels, addresses, titles and definitions. Each function reads at a position and returns the
// position after what it read.

import { decoded } from './entities.js';

export interface Target {
  address: string;
  title: string;
}

/** The longest address of a link. */
const ADDRESS_LIMIT = 8_192;
const LABEL = /\[((?:\\[^]|[^\\[\]]){1,999})\]/y;
const TITLE = /"(?:\\[^]|[^\\"]){0,999}"|'(?:\\[^]|[^\\']){0,999}'|\((?:\\[^]|[^\\()]){0,999}\)/y;
const SPACE = /[ \t]*(?:\n[ \t]*)?/y;
const REST = /[ \t]*(?:\n|$)/y;

/** Returns the match of a sticky expression at a position. */
export function matchAt(expression: RegExp, source: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(source);
}

const after = (expression: RegExp, source: string, at: number): number =>
  at + (matchAt(expression, source, at)?.[0].length ?? 0);

/** Returns the key of a label, or `undefined` if it is empty. */
export const keyOf = (label: string): string | undefined =>
  label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase() || undefined;

export function labelAt(source: string, at: number): { label: string; end: number } | undefined {
  const found = matchAt(LABEL, source, at);
  return found ? { label: found[1]!, end: at + found[0].length } : undefined;
}

function addressAt(source: string, at: number): { address: string; end: number } | undefined {
  const isEnclosed = source[at] === '<';
  let end = isEnclosed ? at + 1 : at;
  for (let depth = 0; ; end++) {
    const char = source[end];
    if (end - at > ADDRESS_LIMIT) return undefined;
    if (char === '\\' && /[^\s]/.test(source[end + 1] ?? ' ')) end++;
    else if (isEnclosed) {
      if (char === '>') break;
      if (char === undefined || char === '\n' || char === '<') return undefined;
    } else if (char === undefined || char <= ' ' || char === '\x7f') break;
    else if (char === '(' && ++depth > 32) return undefined;
    else if (char === ')' && --depth < 0) break;
    if (char === undefined) break;
  }
  const raw = source.slice(isEnclosed ? at + 1 : at, end);
  return { address: decoded(raw).replaceAll('\\', '%5C'), end: isEnclosed ? end + 1 : end };
}

/** Reads the address and the title in the parentheses of a link. */
export function targetAt(source: string, at: number): (Target & { end: number }) | undefined {
  at = after(SPACE, source, at + 1);
  const found = addressAt(source, at);
  if (!found) return undefined;
  let end = after(SPACE, source, found.end);
  const quoted = end > found.end ? matchAt(TITLE, source, end)?.[0] : undefined;
  if (quoted) end = after(SPACE, source, end + quoted.length);
  if (source[end] !== ')') return undefined;
  return { address: found.address, title: decoded(quoted?.slice(1, -1) ?? ''), end: end + 1 };
}

/** Reads a definition such as `[label]: address "title"`. */
function definitionAt(source: string, at: number): (Target & { key: string; end: number }) | undefined {
  const label = labelAt(source, at);
  const key = label && keyOf(label.label);
  if (!key || source[label.end] !== ':') return undefined;
  const start = after(SPACE, source, label.end + 1);
  const found = addressAt(source, start);
  if (!found || found.end === start) return undefined;
  const bare = matchAt(REST, source, found.end);
  const space = after(SPACE, source, found.end);
  const quoted = space > found.end ? matchAt(TITLE, source, space)?.[0] : undefined;
  const rest = quoted && matchAt(REST, source, space + quoted.length);
  if (rest) {
    const title = decoded(quoted.slice(1, -1));
    return { key, address: found.address, title, end: space + quoted.length + rest[0].length };
  }
  return bare ? { key, address: found.address, title: '', end: found.end + bare[0].length } : undefined;
}

/** Returns the position after the definitions at the beginning of a paragraph, and passes each one to `add`. */
export function skipDefinitions(source: string, add?: (key: string, target: Target) => void): number {
  let at = 0;
  for (let found; source[at] === '[' && (found = definitionAt(source, at)); at = found.end) add?.(found.key, found);
  return at;
}

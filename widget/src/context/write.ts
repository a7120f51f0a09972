// Writers for untrusted values, which can neither break their line nor open a tag.

import { HIDDEN, writtenOut } from './hidden.js';
import { type Json, type Members, stringify } from './json.js';
import { REDACTED } from './secret.js';

/** The depth below which objects and arrays are shown as `…`. */
const MAX_SHOWN_DEPTH = 16;
/** The size limits of one value and of one bullet, in bytes. */
const MAX_VALUE_BYTES = 512;
const MAX_ENTRY_BYTES = 2048;
/** The number of fields of one form, or keys of one object, that are shown. The number of omitted ones follows. */
const MAX_FIELDS = 64;

/** Returns the characters that break a line, are invisible, change the direction of text, or resemble `<`. */
const escapedIn = (more: string): RegExp => new RegExp(`[${more}<\\p{Cc}\\ufe64\\uff1c${HIDDEN}]`, 'gu');
const IN_LINES = escapedIn('');
const IN_QUOTES = escapedIn('"\\\\');

const encoder = new TextEncoder();

/** Returns the number of bytes in UTF-8. */
export const bytes = (text: string): number => encoder.encode(text).length;

/** Returns the longest prefix of at most `max` bytes. */
const prefix = (text: string, max: number): string =>
  text.length * 3 <= max ? text : text.slice(0, encoder.encodeInto(text, new Uint8Array(max)).read);

/** Returns a value, truncated at the limit: a quoted text, a number, or compact JSON. */
export function value(value: Json): string {
  if (typeof value === 'string') return value === REDACTED ? value : quoted(value);
  const json = stringify(value, quoted, MAX_VALUE_BYTES, MAX_SHOWN_DEPTH);
  const shown = prefix(json, MAX_VALUE_BYTES);
  return shown === json ? json : `${shown}… (more)`;
}

const unless = (plain: RegExp) => (text: string): string => (plain.test(text) ? text : quoted(text));

/** Returns a name, in quotes unless it is a plain identifier. */
export const name = unless(/^[\w.$[\]-]{1,512}$/);

/** Returns an address, in quotes unless all its characters are valid in a URL. */
export const address = unless(/^[\w.~:/?#[\]@!$&*+;=%-]{1,512}$/);

/** Returns a text in quotes. The number of omitted bytes follows the quotes, where a value cannot forge it. */
export const quoted = (text: string): string =>
  cut(text, MAX_VALUE_BYTES, (shown) => `"${escape(shown, IN_QUOTES)}"`);

/** Returns a line of a template. */
export const line = (text: string): string => escape(text, IN_LINES);

/** Returns a bullet, truncated at the limit. */
export const bullet = (text: string): string => cut(text, MAX_ENTRY_BYTES, (shown) => `- ${shown}`);

function cut(text: string, max: number, write: (shown: string) => string): string {
  const shown = prefix(text, max);
  return write(shown) + (shown === text ? '' : `… (+${bytes(text) - bytes(shown)} bytes)`);
}

const escape = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (char) => (/["\\\n\r\t]/.test(char) ? JSON.stringify(char).slice(1, -1) : writtenOut(char)));

/** Returns `key = value, …` for the first entries. */
export const pairs = (map: Members): string => list([...map], pair);

/** Returns `key = value`. */
export const pair = ([key, item]: [string, Json]): string => `${name(key)} = ${value(item)}`;

/** Returns the first items, and how many were omitted. */
export const list = <T>(items: readonly T[], write: (item: T) => string): string =>
  items.slice(0, MAX_FIELDS).map(write).join(', ') +
  (items.length > MAX_FIELDS ? `, +${items.length - MAX_FIELDS} more` : '');

/** Returns `kind: key = value, …`, or only the kind if there is no data. */
export function generic(kind: string, data: Json): string {
  const shown = data instanceof Map ? pairs(data) : data === null ? '' : value(data);
  return name(kind) + (shown && `: ${shown}`);
}

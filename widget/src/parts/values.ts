import { HIDDEN, writtenOut } from '../context/hidden.js';
import { isObject } from '../object.js';
import { element } from '../ui/dom.js';
import type { Texts } from '../ui/texts.js';
import { titled } from './kinds.js';

/** The longest value that is shown, in UTF-16 units. */
const LONGEST = 20_000;
/** Characters that are not seen, and that can change the order or the meaning of the others. */
const UNSEEN = new RegExp(`[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f${HIDDEN}]`, 'gu');

/** Returns a text in which hidden characters are written out. */
export const seen = (text: string): string => text.replace(UNSEEN, writtenOut);

/** Returns a value as JSON for people, or a text as it is. */
export function pretty(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function readable(value: unknown, texts: Texts): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (value === null) return '–';
  const isPlain = Array.isArray(value) && value.every((one) => typeof one !== 'object');
  return seen(isPlain ? value.map((one) => readable(one, texts)).join(', ') : pretty(value)) || '–';
}

/** Returns the members of an object, or one unnamed value. */
export const membersOf = (value: unknown): [string, unknown][] =>
  isObject(value) ? Object.entries(value) : value === undefined ? [] : [['', value]];

/** Makes a list of the members of a value, with names for people. */
export function valueList(value: unknown, texts: Texts): HTMLElement {
  const rows = membersOf(value).map(([name, one]) =>
    element(
      'div',
      {},
      element('dt', {}, seen(titled(name)) || texts.toolInput),
      element('dd', {}, readable(one, texts)),
    ),
  );
  return element('dl', { part: 'values' }, ...rows);
}

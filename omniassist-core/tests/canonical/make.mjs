// Makes `vectors.jsonl`: JSON texts, and the canonical form that JavaScript itself gives them. One pair a line.
//
//     node make.mjs > vectors.jsonl
//
// `node make.mjs SEED COUNT` makes others.
import { pathToFileURL } from 'node:url';

const DEFAULT_SEED = 20261;
const DEFAULT_COUNT = 1200;

/** What the canonical form is defined by: `JSON.parse`, `JSON.stringify` and the order of strings. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const refused = (key) =>
    key === '__proto__' || (key === 'constructor' && isObject(value[key]) && Object.hasOwn(value[key], 'prototype'));
  const keys = Object.keys(value).filter((key) => !refused(key)).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

// mulberry32
function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return { next, below: (limit) => next() % limit, pick: (list) => list[next() % list.length] };
}

const NUMBERS = [
  '0', '-0', '-0.0', '0.0', '0e5', '1', '-1', '1.0', '1.50', '10e-1', '100e-2', '1E5', '1e+5', '5e-324', '2e-324', '4.9e-324',
  '1.7976931348623157e308', '1.7976931348623159e308', '1e400', '-1e400', '1e21', '1e20', '999999999999999999999',
  '123456789012345680000', '1e-6', '1e-7', '0.000001', '0.0000001', '1.5e-7', '0.1', '0.30000000000000004',
  '9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '9007199254740995', '999999999999999',
  '1000000000000000', '9999999999999999', '18446744073709551615', '18446744073709551616', '-9223372036854775808',
  '12345678901234567890123456789012345678901234567890', '0.1e1', '1e0', '1e-400', '2.2250738585072014e-308',
  '2.2250738585072011e-308', '5e-7', '123e-20', '175928847299117063', '26013.7423095703125', '8.41', '4.35', '2.675', '1.005e2', '6.02214076e23',
];

const CHARACTERS = [
  'a', 'B', 'z', '0', '~', ' ', '/', '\u007f', '\u0080', 'ü', 'é', 'ß', 'ſ', '中', '\u2028', '\u2029', '\ud7ff', '\ue000', '\ufb03',
  '\ufeff', '\ufffd', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}', '"', '\\', '\b', '\f', '\n', '\r', '\t', '\u0000', '\u001f',
  '\ud800', '\udbff', '\udc00', '\udfff', "'", '<', '&',
];

const KEYS = ['__proto__', 'constructor', 'prototype', '', 'a', 'b', 'aa', 'A', '1', '10', '9', '-1', 'toString', '__proto', 'é', '\uffff', '\u{10000}'];

const SHORT = { '"': '\\"', '\\': '\\\\', '/': '\\/', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A string as somebody may spell it. */
function spellString(dice, text) {
  let spelled = '"';
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    const code = unit.charCodeAt(0);
    const hex = code.toString(16).padStart(4, '0');
    const escaped = `\\u${dice.below(2) ? hex : hex.toUpperCase()}`;
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    if (isHalf) {
      // Half a character has no UTF-8, so it is spelled as it is only with its other half.
      const whole = code < 0xdc00 && /[\udc00-\udfff]/.test(text[at + 1] ?? '');
      if (whole && dice.below(2)) {
        spelled += unit + text[at + 1];
        at += 1;
      } else {
        spelled += escaped;
      }
    } else if (code < 0x20 || unit === '"' || unit === '\\') {
      spelled += SHORT[unit] && dice.below(2) ? SHORT[unit] : escaped;
    } else if (dice.below(6) === 0) {
      spelled += SHORT[unit] ?? escaped;
    } else {
      spelled += unit;
    }
  }
  return `${spelled}"`;
}

function spellNumber(dice) {
  if (dice.below(3) === 0) return dice.pick(NUMBERS);
  const bits = new DataView(new ArrayBuffer(8));
  bits.setUint32(0, dice.next());
  bits.setUint32(4, dice.next());
  const double = [
    () => bits.getFloat64(0),
    () => Number(bits.getBigInt64(0)),
    () => dice.next() / 2 ** dice.below(40),
    () => dice.below(100000) / 100,
    () => Number(`${dice.next()}e${dice.below(60) - 30}`),
  ][dice.below(5)]();
  if (!Number.isFinite(double)) return dice.pick(NUMBERS);
  return [
    () => JSON.stringify(double),
    () => double.toExponential(),
    () => double.toExponential(dice.below(21)),
    () => (Math.abs(double) < 1e21 ? double.toFixed(dice.below(21)) : JSON.stringify(double)),
    () => bits.getBigInt64(0).toString(),
    () => `${dice.next()}${dice.next()}.${dice.next()}${dice.next()}e${dice.below(40) - 20}`,
  ][dice.below(6)]().replace('e', dice.below(2) ? 'e' : 'E');
}

const spaces = (dice) => (dice.below(4) ? '' : [' ', '\n', '\t', '\r', '  '][dice.below(5)]);

const text = (dice) => Array.from({ length: dice.below(6) }, () => dice.pick(CHARACTERS)).join('');

function spell(dice, depth) {
  const kinds = depth > 4 ? 4 : 7;
  const inner = [
    () => spellNumber(dice),
    () => spellString(dice, text(dice)),
    () => dice.pick(['true', 'false', 'null']),
    () => spellNumber(dice),
    () => `[${list(dice, depth, () => spell(dice, depth + 1))}]`,
    () => `{${list(dice, depth, () => entry(dice, depth))}}`,
    () => `{${list(dice, depth, () => entry(dice, depth))}}`,
  ][dice.below(kinds)]();
  return spaces(dice) + inner + spaces(dice);
}

function list(dice, depth, item) {
  const items = Array.from({ length: dice.below(6) }, item);
  return items.length ? items.join(',') : spaces(dice);
}

function entry(dice, depth) {
  const key = dice.below(2) ? dice.pick(KEYS) : text(dice);
  return `${spaces(dice)}${spellString(dice, key)}${spaces(dice)}:${spell(dice, depth + 1)}`;
}

/** The lines of the file. */
export function* vectors(seed = DEFAULT_SEED, count = DEFAULT_COUNT) {
  const dice = random(seed);
  const line = (json) => JSON.stringify([json, canonical(JSON.parse(json))]);
  for (const number of NUMBERS) yield line(number);
  for (let made = NUMBERS.length; made < count; made += 1) yield line(spell(dice, dice.below(4)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [seed, count] = process.argv.slice(2).map(Number);
  for (const line of vectors(seed, count)) process.stdout.write(`${line}\n`);
}

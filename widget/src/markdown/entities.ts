// Character references. Of the named ones, those of letters with accents and of common signs are known; the full list of
// HTML has more bytes than the rest of the parser.

const ACCENTS: Record<string, string> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  caron: '\u030c',
  cedil: '\u0327',
};
const SIGNS =
  'amp& lt< gt> quot" apos\' nbsp\xa0 hellip… mdash— ndash– lsquo‘ rsquo’ ldquo“ rdquo” bull• middot· copy© reg® trade™ deg° euro€ times× le≤ ge≥ ne≠ larr← rarr→ szligß';

const signs = new Map(SIGNS.split(/ (?=\w)/).map((sign) => [sign.slice(0, -1), sign.at(-1)!]));

function named(name: string): string | undefined {
  const [, letter, accent] = /^([a-z])([a-z]+)$/i.exec(name) ?? [];
  return signs.get(name) ?? (ACCENTS[accent!] && (letter + ACCENTS[accent!]!).normalize());
}

const REFERENCE = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z\d]{2,24}));/iy;

/** Returns the text of a character reference at a position. */
export function referenceAt(source: string, at: number): { text: string; end: number } | undefined {
  REFERENCE.lastIndex = at;
  const found = REFERENCE.exec(source);
  if (!found) return undefined;
  const [all, hexadecimal, decimal, name] = found;
  const code = hexadecimal ? parseInt(hexadecimal, 16) : Number(decimal);
  const isCharacter = code > 0 && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
  const text = name ? named(name) : isCharacter ? String.fromCodePoint(code) : '\ufffd';
  return text === undefined ? undefined : { text, end: at + all.length };
}

/** Resolves the escapes and the character references of a text. */
export const decoded = (text: string): string =>
  /[\\&]/.test(text)
    ? text.replace(/\\([!-/:-@[-`{-~])|&#?\w+;/g, (all, escaped?: string) => escaped ?? referenceAt(all, 0)?.text ?? all)
    : text;

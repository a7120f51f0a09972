/** A JSON value. An integer of 64 bits that no double represents exactly is a `bigint`. */
export type Json = null | boolean | number | bigint | string | Json[] | Members;
/** The members of an object, in the order of the code points of their keys. */
export type Members = Map<string, Json>;

/** The depth of nesting that the server's parser accepts. */
const MAX_DEPTH = 127;

const HALVES = /\p{Cs}/gu;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[-+.\w]+/g;

/**
 * Parses a text. Throws where the server's parser does: also for half of a surrogate pair, for a number beyond the range
 * of doubles, and for deep nesting. A text of the page itself is accepted, and each half of a pair is replaced.
 */
export function parse(text: string, isOwn = false): Json {
  JSON.parse(text);
  const tokens = text.match(TOKENS)!;
  let at = 0;
  const refuse = (isRefused: boolean): void => {
    if (isRefused && !isOwn) throw new SyntaxError();
  };
  const next = (depth: number): Json => {
    const token = tokens[at++]!;
    if (token === '[' || token === '{') {
      refuse(depth === MAX_DEPTH);
      const items: Json[] = [];
      while (tokens[at] !== ']' && tokens[at] !== '}') items.push(next(depth + 1));
      at++;
      if (token === '[') return items;
      const members: [string, Json][] = [];
      for (let key = 0; key < items.length; key += 2) members.push([items[key] as string, items[key + 1]!]);
      return sorted(members);
    }
    const value = JSON.parse(token) as Json;
    if (typeof value === 'string') {
      const whole = value.replace(HALVES, '\ufffd');
      refuse(whole !== value);
      return whole;
    }
    if (/^-?\d{16,}$/.test(token)) {
      const exact = BigInt(token);
      if (exact === BigInt.asIntN(64, exact) || exact === BigInt.asUintN(64, exact)) return exact;
    }
    refuse(Math.abs(value as number) === Infinity);
    return value;
  };
  return next(0);
}

/** Returns an object with these members. The last one of several with the same key counts. */
export const sorted = (members: [string, Json][]): Members => new Map(members.sort(byCodePoint));

function byCodePoint([a]: [string, Json], [b]: [string, Json]): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return rank(a, at) - rank(b, at);
}

/** Surrogates encode the code points above all others. */
function rank(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit >= 0 ? unit : -1;
}

/** Returns compact JSON. It ends early if it is longer than `max`, and shows nothing below `maxDepth`. */
export function stringify(
  whole: Json,
  quote: (text: string) => string = JSON.stringify,
  max = Infinity,
  maxDepth = Infinity,
): string {
  let out = '';
  const write = (value: Json, depth: number): void => {
    if (typeof value === 'string') out += quote(value);
    else if (!value || typeof value !== 'object') out += value;
    else if (depth === maxDepth) out += '…';
    else {
      const isArray = Array.isArray(value);
      let between = isArray ? '[' : '{';
      if (!(isArray ? value.length : value.size)) out += between;
      for (const [key, item] of value.entries()) {
        if (out.length > max) return;
        out += between;
        between = ',';
        if (!isArray) out += `${quote(key as string)}:`;
        write(item, depth + 1);
      }
      out += isArray ? ']' : '}';
    }
  };
  write(whole, 0);
  return out;
}

// Removal of secrets from texts: `name=value`, the user and password of a URL, and both percent-encoded in another URL.

import { REDACTED } from './secret.js';

/** The number of layers of percent-encoding that are decoded. A value with more is replaced as a whole. */
const MAX_LAYERS = 4;

type IsSecret = (name: string) => boolean;
type Range = [start: number, end: number];

/** Returns the text without its secrets, and their number. */
export function scrub(text: string, isSecret: IsSecret): [clean: string, found: number] {
  let found = 0;
  for (const find of /[=@%]/.test(text) ? [userinfo, parameters, encoded] : []) {
    let clean = '';
    let from = 0;
    for (const [start, end] of find(text, isSecret)) {
      clean += text.slice(from, start) + REDACTED;
      from = end;
      found++;
    }
    text = clean + text.slice(from);
  }
  return [text, found];
}

/** Returns the position of the first match from a position on, or the end of the text. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/** Returns the ranges of user and password in `scheme://user:password@host`. */
function userinfo(text: string): Range[] {
  const found: Range[] = [];
  let done = 0;
  // No word before this position contains `@`, which keeps the search linear.
  let clear = 0;
  for (const { index } of text.matchAll(/\/\//g)) {
    const start = index + 2;
    if (index < done) continue;
    const authority = text.slice(start, endOf(/[/\\?#\p{White_Space}]/gu, text, start));
    let end = authority.lastIndexOf('@');
    // A port is a number; anything else after the colon is a password with characters that should have been encoded.
    if (end < 0 && start >= clear && !/^[^:]*$|\]$|:\d*$/.test(authority)) {
      clear = endOf(/\p{White_Space}/gu, text, start);
      end = text.slice(start, clear).lastIndexOf('@');
    }
    if (end >= 0) {
      done = start + end;
      found.push([start, done]);
    }
  }
  return found;
}

/**
 * Returns the ranges of the values of secret names in `name=value`. A value ends at the next `&` or the end of its line.
 * If it has characters that should have been encoded, too much is removed rather than too little.
 */
function parameters(text: string, isSecret: IsSecret): Range[] {
  const found: Range[] = [];
  let done = 0;
  for (const { 0: run, 1: name, 2: equals, index } of text.matchAll(/([^ \t\n\f\r?&#;/="'`(){},<>|\\]+)(=?)/g)) {
    const start = index + run.length;
    if (!equals || start <= done || !isSecret(decode(name!))) continue;
    const end = endOf(/[&\n\r]/g, text, start);
    if (end > start && text.slice(start, end) !== REDACTED) {
      found.push([start, end]);
      done = end;
    }
  }
  return found;
}

/** Returns the ranges of values of parameters that are an encoded address with a secret. */
const encoded = (text: string, isSecret: IsSecret): Range[] =>
  Array.from(text.matchAll(/[^\p{White_Space}&=?#]+/gu))
    .filter(([run]) => hidesSecret(run, isSecret))
    .map(({ 0: run, index }) => [index, index + run.length]);

function hidesSecret(layer: string, isSecret: IsSecret): boolean {
  for (let left = MAX_LAYERS; ; left--) {
    const below = decode(layer);
    if (below === layer) return false;
    layer = below;
    if (!left || userinfo(layer).length || parameters(layer, isSecret).length) return true;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes percent-encoding. Invalid UTF-8 becomes replacement characters. */
const decode = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (run) =>
    decoder.decode(Uint8Array.from(run.slice(1).split('%'), (byte) => parseInt(byte, 16))),
  );

/** Returns `true` if a text that resembles JSON, such as truncated JSON, names a secret. */
export const namesSecretKey = (text: string, isSecret: IsSecret): boolean =>
  text
    .split('"')
    .some((part, at, parts) => /^\p{White_Space}*:/u.test(parts[at + 1] ?? '') && isSecret(part.replace(/(?<!\\)\\+$/, '')));

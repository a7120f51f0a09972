// Which addresses become links and images, and the addresses in plain text.

/** Another scheme, or a character that a browser takes away before it looks for the scheme. */
const REFUSED = /^ |[\0-\x1f]|^(?!(?:https?|mailto|tel):)[a-z][a-z\d+.-]*:/i;
const WITH_HOST = /^(?:https?:|\/\/)/i;
/** The longest name of a host. */
const HOST_LIMIT = 253;
const DOMAIN = /^[\w-]+(?:\.[\w-]+)+/;
const REST = /[^\s<\]]*/y;

function originOf(address: string): string | undefined {
  try {
    return new URL(address, document.baseURI).origin;
  } catch {
    return undefined;
  }
}

/** Returns `true` if an address may be the target of a link. It has no backslash. */
export const isAllowed = (address: string): boolean =>
  !REFUSED.test(address) && (!WITH_HOST.test(address) || originOf(address) !== undefined);

/** Returns `true` if an address is of another origin. */
export const isForeign = (address: string): boolean =>
  WITH_HOST.test(address) && originOf(address) !== location.origin;

/** Returns `true` if an image may be requested. */
export function isPicture(address: string, origins: readonly string[]): boolean {
  const origin = originOf(address);
  return isAllowed(address) && !!origin && (origin === location.origin || origins.includes(origin));
}

function hostAt(source: string, at: number): string | undefined {
  const host = DOMAIN.exec(source.slice(at, at + HOST_LIMIT + 1))?.[0];
  return host && host.length <= HOST_LIMIT ? host : undefined;
}

/** Returns the address at or before a `:`, `@` or `w` of a plain text. */
export function autolinkAt(source: string, at: number): { start: number; end: number; prefix: string } | undefined {
  const char = source[at];
  if (char === '@') return emailAt(source, at);
  let start = at;
  if (char === ':') {
    const scheme = /https?$/i.exec(source.slice(Math.max(0, at - 5), at))?.[0];
    if (!scheme || !source.startsWith('://', at)) return undefined;
    start -= scheme.length;
  } else if (!/^www\.$/i.test(source.slice(at, at + 4))) return undefined;
  if (start > 0 && /[^\s*_~(]/.test(source[start - 1]!)) return undefined;
  const from = char === ':' ? at + 3 : at;
  const host = hostAt(source, from);
  // An underscore is not allowed in the last two parts of a host.
  if (!host || /_[^.]*(?:\.[^.]*)?$/.test(host)) return undefined;
  REST.lastIndex = from + host.length;
  REST.exec(source);
  return { start, end: trimmed(source, start, REST.lastIndex), prefix: char === ':' ? '' : 'http://' };
}

/** Returns the end of an address without the punctuation of the sentence. */
function trimmed(source: string, start: number, end: number): number {
  let open = 0;
  for (let at = start; at < end; at++) open += source[at] === '(' ? 1 : source[at] === ')' ? -1 : 0;
  for (; end > start; end--) {
    const char = source[end - 1]!;
    if (char === ')' ? open++ < 0 : /[?!.,:*_~'"]/.test(char)) continue;
    if (char !== ';') break;
    let name = end - 2;
    while (/[a-z\d]/i.test(source[name] ?? '')) name--;
    if (source[name] !== '&' || name === end - 2) break;
    end = name + 1;
  }
  return end;
}

function emailAt(source: string, at: number): { start: number; end: number; prefix: string } | undefined {
  let start = at;
  while (start > 0 && at - start < 64 && /[\w.+-]/.test(source[start - 1]!)) start--;
  const host = hostAt(source, at + 1);
  if (start === at || !host || /[-_]$/.test(host)) return undefined;
  return { start, end: at + 1 + host.length, prefix: 'mailto:' };
}

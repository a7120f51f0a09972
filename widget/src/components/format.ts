// Numbers, dates and order in the language of the page.

const numbers = new Map<string, Intl.NumberFormat>();
const dates = new Map<string, Intl.DateTimeFormat>();
const collators = new Map<string, Intl.Collator>();
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

function kept<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const found = cache.get(key) ?? make();
  cache.set(key, found);
  return found;
}

/** The most digits after the point. */
export const MAX_DECIMALS = 6;

/** Returns a number as text. A small one has its first digits, since it would be zero with `MAX_DECIMALS`. */
export function number(value: number, locale: string, options: Intl.NumberFormatOptions = {}): string {
  const isSmall = value !== 0 && Math.abs(value) < 5e-7 && !options.style;
  const all = { ...(isSmall && { maximumSignificantDigits: 3 }), maximumFractionDigits: MAX_DECIMALS, ...options };
  return kept(numbers, locale + JSON.stringify(all), () => new Intl.NumberFormat(locale, all)).format(value);
}

/** Returns the time of an ISO 8601 date in milliseconds, or `undefined` if there is no such day. A date without an offset is the same everywhere. */
export function time(text: string): number | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const at = Date.parse(
    match[4] && match[6] ? text : `${match[1]}-${match[2]}-${match[3]}T${match[4] ?? '00'}:${match[5] ?? '00'}Z`,
  );
  // Browsers read February 31 as a day of March.
  const isDay = new Date(text.slice(0, 10)).getUTCDate() === Number(match[3]);
  return isDay && Number.isFinite(at) ? at : undefined;
}

/** Returns an ISO 8601 date as people write it, or the text itself if it is not one. */
export function date(text: string, locale: string): string {
  const at = time(text);
  if (at === undefined) return text;
  const clock = text.length > 10;
  const zone = /(Z|[+-]\d{2}:?\d{2})$/.test(text.slice(10)) ? undefined : 'UTC';
  const options: Intl.DateTimeFormatOptions = {
    dateStyle: 'medium',
    ...(clock && { timeStyle: 'short' }),
    ...(zone && { timeZone: zone }),
  };
  return kept(dates, `${locale} ${clock} ${zone}`, () => new Intl.DateTimeFormat(locale, options)).format(at);
}

/** Compares two texts; numbers in them count as numbers. */
export function compare(a: string, b: string, locale: string): number {
  return kept(collators, locale, () => new Intl.Collator(locale, { numeric: true })).compare(a, b);
}

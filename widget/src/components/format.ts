// Numbers, dates and order in the language of the page.

const formats = new Map<string, unknown>();
const ISO = /^\d{4}-\d{2}-(\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Returns the format that was made with a key, or makes it. */
function kept<T>(key: string, make: () => T): T {
  const found = (formats.get(key) as T | undefined) ?? make();
  formats.set(key, found);
  return found;
}

/** The most digits after the point. */
export const MAX_DECIMALS = 6;

/** Returns a number as text. A small one has its first digits, since it would be zero with `MAX_DECIMALS`. */
export function number(value: number, locale: string, options: Intl.NumberFormatOptions = {}): string {
  const isSmall = value !== 0 && Math.abs(value) < 5e-7 && !options.style;
  const all = { ...(isSmall && { maximumSignificantDigits: 3 }), maximumFractionDigits: MAX_DECIMALS, ...options };
  return kept(locale + JSON.stringify(all), () => new Intl.NumberFormat(locale, all)).format(value);
}

/** Returns the time of an ISO 8601 date in milliseconds, or `undefined` if there is no such day. A date without an offset is the same everywhere. */
export function time(text: string): number | undefined {
  const [, day, clock = '00:00', zone] = ISO.exec(text) ?? [];
  const whole = text.slice(0, 10);
  const at = Date.parse(zone ? text : `${whole}T${clock}Z`);
  // Browsers read February 31 as a day of March.
  const isDay = new Date(whole).getUTCDate() === Number(day);
  return isDay && Number.isFinite(at) ? at : undefined;
}

/** Returns an ISO 8601 date as people write it, or the text itself if it is not one. */
export function date(text: string, locale: string): string {
  const at = time(text);
  if (at === undefined) return text;
  const clock = text.length > 10;
  const zone = /[Z+-]/.test(text.slice(10)) ? undefined : 'UTC';
  const options: Intl.DateTimeFormatOptions = {
    dateStyle: 'medium',
    ...(clock && { timeStyle: 'short' }),
    ...(zone && { timeZone: zone }),
  };
  return kept(`${locale} ${clock} ${zone}`, () => new Intl.DateTimeFormat(locale, options)).format(at);
}

/** Compares two texts; numbers in them count as numbers. */
export function compare(a: string, b: string, locale: string): number {
  return kept(locale, () => new Intl.Collator(locale, { numeric: true })).compare(a, b);
}

/** The range of an axis, with its ticks in rising order. */
export interface Scale {
  low: number;
  high: number;
  ticks: number[];
}

/** The largest size of a value. Differences of larger ones are infinite. */
const HUGE = 8e307;

/** Returns a number that can be drawn, or `undefined`. */
export function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(-HUGE, Math.min(HUGE, value)) : undefined;
}

/** Returns the range of `values` with ticks at round numbers. `zero`: the range contains zero. */
export function scale(values: readonly number[], zero: boolean): Scale {
  let low = zero || !values.length ? 0 : Infinity;
  let high = zero || !values.length ? 0 : -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > 0 && low < high / 2) low = 0;
  if (low === high) {
    if (high >= 0 && low > 0) low = 0;
    else high = low === 0 ? 1 : 0;
  }
  const rough = high / 4 - low / 4;
  const power = 10 ** Math.floor(Math.log10(rough)) || Number.MIN_VALUE;
  const step = ([1, 2, 5].find((one) => one * power >= rough) ?? 10) * power;
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  const ticks = Array.from({ length: Math.min(9, last - first + 1) }, (_, index) => (first + index) * step);
  return { low: first * step, high: last * step, ticks };
}

/** Returns where a value is between the ends of the scale, from 0 to 100. */
export function place(value: number, { low, high }: Scale): number {
  return Math.round((value / (high - low) - low / (high - low)) * 1e4) / 100;
}

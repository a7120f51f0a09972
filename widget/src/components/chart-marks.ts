// The marks of a chart. The drawing is stretched to the width of its box, so lines keep their width by `vector-effect`.

import { place, type Scale } from './chart-scale.js';
import { type Child, h } from './node.js';

/** A series that can be drawn. */
export interface Series {
  name: string;
  values: (number | undefined)[];
}

/** Returns the text that a mark shows when the pointer is on it. */
export type Describe = (series: Series, index: number) => string;

/** The share of a category that its bars take. */
const BAND = 0.72;

const at = (value: number) => Math.round(value * 100) / 100;

/** Describes the bars of all series, side by side in each category. */
export function bars(all: readonly Series[], count: number, range: Scale, describe: Describe): Child {
  const zero = 100 - place(0, range);
  const slot = 100 / count;
  const width = (slot * BAND) / all.length;
  return all.map((series, row) =>
    series.values.map((value, index) => {
      if (value === undefined) return null;
      const top = 100 - place(value, range);
      const x = slot * index + (slot * (1 - BAND)) / 2 + width * row;
      const box = {
        x: at(x),
        y: at(Math.min(top, zero)),
        width: at(width * (all.length > 1 ? 0.9 : 1)),
        height: at(Math.abs(zero - top)),
      };
      return h('rect', { part: `mark ${color(row)}`, ...box }, h('title', null, describe(series, index)));
    }),
  );
}

/** Describes the lines of all series, with a dot at each value. A missing value is a gap. */
export function lines(all: readonly Series[], count: number, range: Scale, describe: Describe, area: boolean): Child {
  const zero = at(100 - place(Math.max(range.low, Math.min(range.high, 0)), range));
  const x = (index: number) => at((100 / count) * (index + 0.5));
  const y = (value: number) => at(100 - place(value, range));
  return all.map((series, row) => {
    const runs: [number, number][][] = [];
    series.values.forEach((value, index) => {
      if (value === undefined) return;
      if (!index || series.values[index - 1] === undefined) runs.push([]);
      runs.at(-1)?.push([x(index), y(value)]);
    });
    const path = (points: [number, number][]) => `M${points.map((point) => point.join(' ')).join('L')}`;
    const dots = count <= 100;
    return h(
      'g',
      { part: color(row), key: row },
      area
        ? h('path', {
            part: 'fill',
            d: runs.map((run) => `${path(run)}L${run.at(-1)?.[0]} ${zero}L${run[0]?.[0]} ${zero}Z`).join(''),
          })
        : null,
      h('path', { part: 'line', d: runs.map(path).join('') }),
      dots
        ? series.values.map((value, index) =>
            value === undefined
              ? null
              : h('path', { part: 'dot', d: `M${x(index)} ${y(value)}h0` }, h('title', null, describe(series, index))),
          )
        : null,
    );
  });
}

/** Describes the slices of a ring. `shares` add up to 1. */
export function ring(shares: readonly { share: number; text: string }[]): Child {
  let start = 0;
  return shares.map(({ share, text }, index) => {
    const dash = h(
      'circle',
      // A gap of half a unit separates neighbours whose colours are alike.
      {
        part: `slice ${color(index)}`,
        cx: 50,
        cy: 50,
        r: 38,
        pathLength: 100,
        'stroke-dasharray': `${at(Math.max(0, share * 100 - (share < 1 ? 0.6 : 0)))} 100`,
        'stroke-dashoffset': at(-start * 100),
        key: index,
      },
      h('title', null, text),
    );
    start += share;
    return dash;
  });
}

/** The part that carries the colour of a series. */
export function color(index: number): string {
  return `s${(index % 8) + 1}`;
}

import { filled } from '../ui/dom.js';
import { builtin, frame, type Local, more, SHOWN } from './builtin.js';
import { bars, color, type Describe, lines, ring, type Series } from './chart-marks.js';
import { finite, scale } from './chart-scale.js';
import type { ComponentContext } from './component.js';
import { number } from './format.js';
import { type Child, h } from './node.js';

interface Props {
  title?: string | null;
  kind?: 'bar' | 'line' | 'area' | 'pie' | 'spark';
  labels?: string[];
  series?: { name?: string; values?: (number | null)[] }[];
  unit?: string | null;
}

interface Behind {
  /** The table is made once the user asks for it. */
  open: boolean;
}

type Context = ComponentContext<Props, unknown>;

/** The most series that are shown. */
const SERIES = 16;
/** The most labels below a chart. */
const LABELS = 12;
/** The most slices of a ring. */
const SLICES = 8;

/** Series of numbers as a drawing, with the numbers as a table behind it. */
export const chart = builtin<Props, unknown, Behind>('chart', (context, local) => {
  const { title, kind, labels = [], series = [] } = context.props;
  const { texts } = context;
  const all = series
    .slice(0, SERIES)
    .map(({ name, values }): Series => ({ name: name ?? '', values: values?.slice(0, SHOWN).map(finite) ?? [] }));
  const count = Math.min(SHOWN, Math.max(labels.length, ...all.map((one) => one.values.length)));
  const none = !context.complete && !all.some(({ values }) => values.length);
  if (!kind || !count || none)
    return frame('chart', title, context, kind || title ? h('div', { part: 'plot empty' }) : null);
  const named = filled(title ? `${texts[kind]}: {title}` : texts[kind], { title: title ?? '' });
  const draw = { bar: plot, line: plot, area: plot, pie, spark }[kind];
  return frame(
    'chart',
    title,
    context,
    draw(all, labels, count, named, context),
    more(series.length, context, kind === 'pie' ? 1 : SERIES),
    more(Math.max(labels.length, ...series.map(({ values }) => values?.length ?? 0)), context),
    context.complete ? data(all, labels, count, named, context, local) : null,
  );
});

const amount = (value: number, { locale, props: { unit } }: Context) =>
  `${number(value, locale)}${unit ? ` ${unit}` : ''}`;

function plot(all: Series[], labels: string[], count: number, named: string, context: Context): Child {
  const kind = context.props.kind;
  const values = all.flatMap((one) => one.values.filter((value) => value !== undefined));
  const range = scale(values, kind !== 'line');
  const describe: Describe = (series, index) =>
    `${labels[index] ?? index + 1}, ${series.name}: ${amount(series.values[index] ?? 0, context)}`;
  const grid = range.ticks.map((_, index) =>
    h('path', { part: 'grid', d: `M0 ${(100 * index) / (range.ticks.length - 1)}h100` }),
  );
  const [first = 0, second = 1] = range.ticks;
  // So many digits that two ticks differ.
  const digits = Math.min(21, Math.ceil(Math.log10(Math.max(range.high, -range.low) / (second - first))) + 1);
  const every = Math.ceil(count / LABELS);
  return [
    legend(all.map(({ name }) => ({ name }))),
    h(
      'div',
      { part: 'plot' },
      h(
        'div',
        { part: 'ticks', 'aria-hidden': 'true' },
        range.ticks.map((tick, index) =>
          h(
            'span',
            null,
            number(tick, context.locale, { notation: 'compact', maximumSignificantDigits: digits }),
            index === range.ticks.length - 1 && context.props.unit ? ` ${context.props.unit}` : null,
          ),
        ),
      ),
      h(
        'svg',
        { part: 'drawing', role: 'img', 'aria-label': named, viewBox: '0 0 100 100', preserveAspectRatio: 'none' },
        grid,
        kind === 'bar' ? bars(all, count, range, describe) : lines(all, count, range, describe, kind === 'area'),
      ),
      h(
        'div',
        { part: 'labels', 'aria-hidden': 'true' },
        Array.from({ length: Math.ceil(count / every) }, (_, index) =>
          h('span', null, labels[index * every] ?? String(index * every + 1)),
        ),
      ),
    ),
  ];
}

function pie(all: Series[], labels: string[], _count: number, named: string, context: Context): Child {
  const slices = (all[0]?.values ?? []).map((value, index) => ({
    name: labels[index] ?? String(index + 1),
    value: value ?? 0,
  }));
  const largest = Math.max(...slices.map(({ value }) => value), Number.MIN_VALUE);
  const part = (value: number) => Math.max(0, value) / largest;
  const sum = slices.reduce((total, { value }) => total + part(value), 0);
  if (slices.length > SLICES) {
    const rest = slices.splice(SLICES - 1);
    slices.push({ name: context.texts.other, value: rest.reduce((total, { value }) => total + Math.max(0, value), 0) });
  }
  const shares = slices.map(({ name, value }) => {
    const share = sum ? part(value) / sum : 0;
    const percent = number(share, context.locale, { style: 'percent', maximumFractionDigits: 1 });
    return { name, share, percent, text: `${name}: ${amount(value, context)} (${percent})` };
  });
  return h(
    'div',
    { part: 'pie' },
    h(
      'svg',
      { part: 'ring', role: 'img', 'aria-label': named, viewBox: '0 0 100 100' },
      h('circle', { part: 'rail', cx: 50, cy: 50, r: 38 }),
      ring(shares),
    ),
    legend(shares, true),
  );
}

function spark(all: Series[], _labels: string[], count: number, named: string, context: Context): Child {
  return all.map((series, index) => {
    const values = series.values.filter((value) => value !== undefined);
    const last = values.at(-1);
    return h(
      'div',
      { part: 'spark', key: index },
      series.name ? h('span', { part: 'detail' }, series.name) : null,
      h(
        'svg',
        {
          part: 'drawing',
          role: 'img',
          'aria-label': series.name ? `${named}, ${series.name}` : named,
          viewBox: '0 0 100 100',
          preserveAspectRatio: 'none',
        },
        lines([series], count, scale(values, false), () => '', false),
      ),
      last === undefined ? null : h('span', { part: 'item' }, amount(last, context)),
    );
  });
}

function legend(entries: readonly { name: string; percent?: string }[], always = false): Child {
  if (entries.length < 2 && !always) return null;
  return h(
    'ul',
    { part: 'legend' },
    entries.map(({ name, percent }, index) =>
      h(
        'li',
        null,
        h('span', { part: `swatch ${color(index)}`, 'aria-hidden': 'true' }),
        h('span', null, name),
        percent ? h('span', { part: 'percent' }, percent) : null,
      ),
    ),
  );
}

function data(
  all: Series[],
  labels: string[],
  count: number,
  named: string,
  context: Context,
  local: Local & Partial<Behind>,
): Child {
  const turned = (event: Event) => {
    local.open = (event.target as HTMLDetailsElement).open;
    local.repaint();
  };
  return h(
    'details',
    { ontoggle: turned },
    h('summary', null, context.texts.data),
    local.open ? rows(all, labels, count, named, context) : null,
  );
}

function rows(all: Series[], labels: string[], count: number, named: string, context: Context): Child {
  const body = Array.from({ length: count }, (_, index) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row', part: 'cell text' }, labels[index] ?? index + 1),
      all.map(({ values }) => {
        const value = values[index];
        return h('td', { part: 'cell number' }, value === undefined ? '–' : amount(value, context));
      }),
    ),
  );
  const head = all.map(({ name }, index) =>
    h('th', { scope: 'col', part: 'number' }, name || filled(context.texts.column, { number: index + 1 })),
  );
  return h(
    'div',
    { part: 'scroll', tabindex: 0, role: 'group', 'aria-label': named },
    h('table', null, h('thead', null, h('tr', null, h('td'), head)), h('tbody', null, body)),
  );
}

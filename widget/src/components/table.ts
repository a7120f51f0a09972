import { filled } from '../ui/dom.js';
import { link } from './address.js';
import { builtin, frame, more, SHOWN, shown, unlessSame } from './builtin.js';
import { type Copied, copyButton } from './clipboard.js';
import { csv } from './csv.js';
import { compare, date, MAX_DECIMALS, number, time } from './format.js';
import { type Child, h } from './node.js';

export type Cell = string | number | boolean | null;

export interface Column {
  label?: string;
  kind?: 'text' | 'number' | 'date' | 'link' | null;
}

interface Props {
  title?: string | null;
  columns?: Column[];
  rows?: Cell[][];
  selectable?: boolean | null;
}

interface State {
  /** The first cells of the ticked rows. A cell that is empty, or that of an earlier row, has its number after it: `Mon #2`. */
  selected?: string[] | null;
  sort?: { column: number; descending: boolean } | null;
}

/** The most columns that are shown. */
const COLUMNS = 50;

/** Rows that the user can sort, tick and copy. */
export const table = builtin<Props, State, Copied>('table', (context, local) => {
  const { title, columns = [], rows = [], selectable } = context.props;
  const { texts, locale, state } = context;
  const visible = shown(rows);
  const wanted = Math.max(columns.length, ...visible.map((row) => row.length));
  const width = Math.min(COLUMNS, wanted);
  const heads = Array.from(
    { length: width },
    (_, index) => columns[index] ?? { label: filled(texts.column, { number: index + 1 }) },
  );
  if (!width) return frame('table', title, context);

  const sort = state.sort;
  // Two ticks in one frame are both kept, so the state is read again.
  const ticked = () => (Array.isArray(context.state.selected) ? context.state.selected : []);
  const selected = new Set(ticked());
  const taken = new Set(['']);
  const names = visible.map((row, index) => {
    const name = String(row[0] ?? '');
    const own = taken.has(name) ? `${name} #${index + 1}`.trim() : name;
    taken.add(own);
    return own;
  });
  const tick = (name: string, on: boolean) => {
    const rest = ticked().filter((other) => other !== name);
    context.setState({ selected: on ? [...rest, name] : rest });
  };
  const all = names.every((name) => selected.has(name));

  const order = visible.map((_, index) => index);
  // A row that still grows stays at the end.
  const open = (index: number) => context.status(['rows', index]) !== 'done';
  if (sort) {
    const sign = sort.descending ? -1 : 1;
    order.sort(
      (a, b) =>
        Number(open(a)) - Number(open(b)) ||
        rank(visible[a]?.[sort.column], visible[b]?.[sort.column], heads[sort.column]?.kind, locale, sign),
    );
  }
  const turn = (column: number) => {
    const descending = sort?.column === column && !sort.descending;
    context.setState({ sort: sort?.column === column && sort.descending ? null : { column, descending } });
  };

  const head = h(
    'tr',
    null,
    selectable
      ? h(
          'td',
          { part: 'tick' },
          tickBox(
            texts.selectAll,
            all && names.length > 0,
            () => context.setState({ selected: all ? [] : names }),
            !all && selected.size > 0,
          ),
        )
      : null,
    heads.map(({ label, kind }, column) => {
      const direction = sort?.column === column ? (sort.descending ? 'descending' : 'ascending') : 'none';
      return h(
        'th',
        { scope: 'col', part: kind ?? 'text', 'aria-sort': direction },
        h(
          'button',
          { type: 'button', part: 'sort', onclick: () => turn(column) },
          h('span', null, label || filled(texts.column, { number: column + 1 })),
          arrow(direction),
        ),
      );
    }),
  );
  // While rows arrive, those that are shown do not change.
  const decimals = heads.map(({ kind }, column) =>
    context.complete && kind === 'number' ? Math.max(0, ...visible.map((row) => decimalsOf(row[column]))) : undefined,
  );
  const body = order.map((index) => {
    const row = visible[index] ?? [];
    const name = names[index] ?? '';
    const chosen = selected.has(name);
    const from = open(index) ? [NaN] : [row, columns, width, selectable, chosen, locale, texts, decimals.join()];
    return unlessSame(local, index, from, () =>
      h(
        'tr',
        { key: index, part: selectable && chosen ? 'ticked' : null },
        selectable
          ? h(
              'td',
              { part: 'tick' },
              tickBox(
                filled(texts.select, { name: row[0] ? name : filled(texts.row, { number: index + 1 }) }),
                chosen,
                (on) => tick(name, on),
              ),
            )
          : null,
        heads.map(({ kind }, column) => {
          const closed = context.status(['rows', index, column]) === 'done';
          return h(
            column ? 'td' : 'th',
            { part: `cell ${kind ?? 'text'}`, scope: column ? null : 'row' },
            show(row[column], kind, closed, locale, texts, decimals[column]),
          );
        }),
      ),
    );
  });
  const count = selectable ? names.filter((name) => selected.has(name)).length : 0;
  return frame(
    'table',
    title,
    context,
    h(
      'div',
      { part: 'scroll' },
      h('table', { 'aria-label': title || null }, h('thead', null, head), h('tbody', null, body)),
    ),
    h(
      'div',
      { part: 'foot' },
      h('span', { part: 'note', role: 'status' }, count ? filled(texts.selected, { count }) : null),
      more(wanted, context, COLUMNS),
      more(rows.length, context, SHOWN),
      h('span', { part: 'space' }),
      context.complete
        ? copyButton(
            texts.copyCsv,
            () =>
              csv(
                heads.map((one) => one.label ?? ''),
                order.map((index) => visible[index] ?? []),
              ),
            context,
            local,
          )
        : null,
    ),
  );
});

function tickBox(label: string, checked: boolean, change: (on: boolean) => void, indeterminate = false): Child {
  return h('input', {
    type: 'checkbox',
    'aria-label': label,
    checked,
    indeterminate,
    onchange: (event) => change((event.target as HTMLInputElement).checked),
  });
}

function arrow(direction: 'none' | 'ascending' | 'descending'): Child {
  const d = { none: 'M3 5l3-3 3 3M3 7l3 3 3-3', ascending: 'M2.5 7.5 6 4l3.5 3.5', descending: 'M2.5 4.5 6 8l3.5-3.5' }[
    direction
  ];
  return h('svg', { part: `arrow ${direction}`, viewBox: '0 0 12 12', 'aria-hidden': 'true' }, h('path', { d }));
}

/** Returns the number of digits after the point that are shown. */
const decimalsOf = (cell: Cell | undefined): number =>
  typeof cell === 'number' ? Math.min(MAX_DECIMALS, /\.(\d+)$/.exec(String(cell))?.[1]?.length ?? 0) : 0;

/** Describes a cell. A date or link that still grows is not shown. */
function show(
  cell: Cell | undefined,
  kind: Column['kind'],
  closed: boolean,
  locale: string,
  texts: { yes: string; no: string },
  minimumFractionDigits: number | undefined,
): Child {
  if (cell === null || cell === undefined) return closed && cell === null ? '–' : null;
  if (typeof cell === 'boolean') return cell ? texts.yes : texts.no;
  if (typeof cell === 'number')
    return kind === 'number' || !Number.isInteger(cell)
      ? number(cell, locale, minimumFractionDigits === undefined ? undefined : { minimumFractionDigits })
      : String(cell);
  if (kind === 'date')
    return closed ? h('time', { datetime: time(cell) === undefined ? null : cell }, date(cell, locale)) : null;
  if (kind === 'link') return closed ? link(cell, cell) : null;
  return cell;
}

/** Compares two cells. Numbers come before texts, and empty cells last in both directions. */
function rank(a: Cell | undefined, b: Cell | undefined, kind: Column['kind'], locale: string, sign: number): number {
  const [x, y] = [a, b].map((cell) => {
    if (cell === null || cell === '') return undefined;
    const value = kind === 'date' ? time(String(cell)) : kind === 'number' ? Number(String(cell)) : undefined;
    return Number.isFinite(value) ? value : cell;
  });
  if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
  const isNumber = typeof x === 'number';
  const isOther = typeof y === 'number';
  if (isNumber && isOther) return sign * (x - y);
  return sign * (Number(isOther) - Number(isNumber) || compare(String(x), String(y), locale));
}

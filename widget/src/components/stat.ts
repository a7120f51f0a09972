import { builtin, frame, more, shown } from './builtin.js';
import { h } from './node.js';

interface Props {
  items?: {
    label?: string;
    value?: string;
    unit?: string | null;
    change?: string | null;
    trend?: 'up' | 'down' | 'flat' | null;
  }[];
}

const ARROWS = { up: 'M2 9 6 3l4 6z', down: 'M2 3l4 6 4-6z', flat: 'M2 5h8v2H2z' };

/** Figures with their unit and change. */
export const stat = builtin<Props>('stat', (context) => {
  const { items } = context.props;
  const tiles = shown(items).map(({ label, value, unit, change, trend }) =>
    h(
      'div',
      { part: 'tile' },
      h('dt', null, label),
      h('dd', { part: 'value' }, value, unit ? h('span', { part: 'unit' }, ' ', unit) : null),
      change || trend
        ? h(
            'dd',
            { part: `change ${trend ?? ''}` },
            trend
              ? [
                  h('svg', { viewBox: '0 0 12 12', 'aria-hidden': 'true' }, h('path', { d: ARROWS[trend] })),
                  h('span', { part: 'hidden' }, context.texts[trend], ' '),
                ]
              : null,
            change,
          )
        : null,
    ),
  );
  return frame(
    'stat',
    null,
    context,
    tiles.length ? h('dl', { part: 'tiles' }, tiles) : null,
    more(items?.length, context),
  );
});

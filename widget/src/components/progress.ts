import { builtin, frame, more, shown } from './builtin.js';
import { number } from './format.js';
import { h } from './node.js';

interface Props {
  title?: string | null;
  percent?: number | null;
  steps?: { label?: string; status?: Step }[] | null;
}

type Step = 'pending' | 'active' | 'done' | 'failed';

const MARKS: Record<Step, string> = {
  pending: '',
  active: 'M3 6a3 3 0 1 0 6 0a3 3 0 1 0-6 0',
  done: 'M2.5 6.5 5 9l4.5-6',
  failed: 'M3 3l6 6M9 3 3 9',
};

/** The progress of a task, in percent and steps. */
export const progress = builtin<Props>('progress', (context) => {
  const { title, percent, steps } = context.props;
  const { texts } = context;
  const text =
    typeof percent === 'number'
      ? number(percent / 100, context.locale, { style: 'percent', maximumFractionDigits: 0 })
      : null;
  return frame(
    'progress',
    title,
    context,
    text === null
      ? null
      : h(
          'div',
          { part: 'meter' },
          h('progress', { part: 'bar', max: 100, value: percent, 'aria-label': title || texts.progress }),
          h('span', { part: 'percent', 'aria-hidden': 'true' }, text),
        ),
    steps?.length
      ? h(
          'ol',
          { part: 'steps' },
          shown(steps).map(({ label, status }) =>
            h(
              'li',
              { part: `step ${status ?? ''}`, 'aria-current': status === 'active' ? 'step' : null },
              h(
                'svg',
                { part: 'mark', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
                status ? h('path', { d: MARKS[status] }) : null,
              ),
              h('span', null, label),
              status ? h('span', { part: 'hidden' }, ` (${texts[status === 'failed' ? 'stepFailed' : status]})`) : null,
            ),
          ),
        )
      : null,
    more(steps?.length, context),
  );
});

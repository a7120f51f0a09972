import { builtin, frame, more, shown } from './builtin.js';
import { date, time as parse } from './format.js';
import { h } from './node.js';

interface Props {
  title?: string | null;
  events?: { time?: string; title?: string; detail?: string | null }[];
}

/** Events in their order. */
export const timeline = builtin<Props>('timeline', (context) => {
  const { title, events } = context.props;
  const entries = shown(events).map((event, index) => {
    const closed = event.time && context.status(['events', index, 'time']) === 'done' ? event.time : null;
    return (
      (closed || event.title) &&
      h(
        'li',
        { part: 'event' },
        closed
          ? h('time', { datetime: parse(closed) === undefined ? null : closed }, date(closed, context.locale))
          : null,
        h('span', { part: 'item' }, event.title),
        event.detail ? h('span', { part: 'detail' }, event.detail) : null,
      )
    );
  });
  return frame(
    'timeline',
    title,
    context,
    entries.length ? h('ol', { part: 'events' }, entries) : null,
    more(events?.length, context),
  );
});

import { link } from './address.js';
import { builtin, frame, more, shown } from './builtin.js';
import { h } from './node.js';

interface Props {
  title?: string | null;
  ordered?: boolean | null;
  items?: { text?: string; detail?: string | null; url?: string | null }[];
}

/** A list of texts, with details and links. */
export const list = builtin<Props>('list', (context) => {
  const { title, ordered, items } = context.props;
  const entries = shown(items).map(
    ({ text, detail, url }) =>
      text &&
      h(
        'li',
        null,
        h('span', { part: 'item' }, url ? link(text || url, url) : text),
        detail ? h('span', { part: 'detail' }, detail) : null,
      ),
  );
  return frame(
    'list',
    title,
    context,
    entries.length ? h(ordered ? 'ol' : 'ul', { part: 'items' }, entries) : null,
    more(items?.length, context),
  );
});

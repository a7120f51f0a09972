import { picture } from './address.js';
import { builtin, frame } from './builtin.js';
import { h } from './node.js';

interface Props {
  url?: string;
  alt?: string;
  caption?: string | null;
}

/** An image with a caption. */
export const image = builtin<Props>('image', (context) => {
  const { url, alt, caption } = context.props;
  return frame(
    'image',
    null,
    context,
    url ? picture(url, alt ?? '', context) : null,
    caption ? h('figcaption', { part: 'caption' }, caption) : null,
  );
});

import { link, picture } from './address.js';
import { builtin, frame, more, shown } from './builtin.js';
import { h } from './node.js';

interface Props {
  title?: string;
  subtitle?: string | null;
  text?: string | null;
  image?: { url?: string; alt?: string } | null;
  fields?: { label?: string; value?: string }[] | null;
  link?: { label?: string; url?: string } | null;
}

/** A title with text, an image, fields and a link. */
export const card = builtin<Props>('card', (context) => {
  const { title, subtitle, text, image, fields, link: target } = context.props;
  return frame(
    'card',
    title,
    context,
    subtitle ? h('p', { part: 'subtitle' }, subtitle) : null,
    image?.url ? picture(image.url, image.alt ?? '', context) : null,
    text ? h('p', { part: 'text' }, text) : null,
    fields?.length
      ? h(
          'dl',
          { part: 'fields' },
          shown(fields).map((field) =>
            h('div', { part: 'field' }, h('dt', null, field.label), h('dd', null, field.value)),
          ),
        )
      : null,
    more(fields?.length, context),
    target?.url ? h('p', { part: 'actions' }, link(target.label || target.url, target.url, 'link button')) : null,
  );
});

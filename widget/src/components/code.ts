import { builtin, frame } from './builtin.js';
import { type Copied, copyButton } from './clipboard.js';
import { h } from './node.js';

interface Props {
  language?: string | null;
  title?: string | null;
  code?: string;
}

/** Source text. */
export const code = builtin<Props, unknown, Copied>('code', (context, local) => {
  const { language, title, code } = context.props;
  const label = title || language || context.texts.code;
  return frame(
    'code',
    null,
    context,
    h(
      'div',
      { part: 'head' },
      h('span', { part: 'title' }, label),
      title && language ? h('span', { part: 'note' }, language) : null,
      h('span', { part: 'space' }),
      context.complete && code ? copyButton(context.texts.copy, () => code, context, local) : null,
    ),
    code === undefined
      ? null
      : h(
          'pre',
          { part: 'source', dir: 'ltr', tabindex: 0, role: 'group', 'aria-label': label },
          h('code', null, code),
        ),
  );
});

import { builtin, frame, more, shown } from './builtin.js';
import { h } from './node.js';
import { type Sending, send } from './sending.js';

interface Props {
  question?: string;
  options?: { id?: string; label?: string; detail?: string | null }[];
  multiple?: boolean | null;
}

interface Draft extends Sending {
  ticked: Set<string>;
}

/** A question with options. The chosen options are the output. */
export const choices = builtin<Props, unknown, { draft: Draft }>('choices', (context, local) => {
  const { question, options, multiple } = context.props;
  const { texts } = context;
  const draft = (local.draft ??= { ticked: new Set(), sending: false, failed: false });
  const output = (context.output as { chosen?: unknown } | undefined)?.chosen;
  const answer = Array.isArray(output) ? new Set(output.map(String)) : context.closed ? new Set<string>() : undefined;
  const locked = !context.complete || draft.sending || !!answer;

  const choose = (chosen: string[]): void => {
    if (!locked) void send(draft, local, () => context.respond({ chosen }));
  };
  const rows = shown(options).map(({ id, label, detail }, index) => {
    // An id that still grows would be another option.
    const ready = id !== undefined && context.status(['options', index, 'id']) === 'done' ? id : undefined;
    const chosen = ready !== undefined && (answer ?? draft.ticked).has(ready);
    const clicked = () => {
      if (ready === undefined || locked) return;
      if (!multiple) return choose([ready]);
      if (!draft.ticked.delete(ready)) draft.ticked.add(ready);
      local.repaint();
    };
    return h(
      'button',
      {
        part: chosen ? 'option chosen' : 'option',
        type: 'button',
        role: multiple ? 'checkbox' : null,
        'aria-checked': multiple ? String(chosen) : null,
        'aria-pressed': answer && !multiple ? String(chosen) : null,
        'aria-disabled': locked || ready === undefined ? 'true' : null,
        onclick: clicked,
      },
      h(
        'span',
        null,
        h('span', { part: 'item' }, label || ready),
        detail ? h('span', { part: 'detail' }, detail) : null,
      ),
    );
  });
  const chosen = shown(options).flatMap(({ id }) => (id !== undefined && draft.ticked.has(id) ? [id] : []));
  return frame(
    'choices',
    null,
    context,
    h('fieldset', { tabindex: -1 }, h('legend', { part: 'title' }, question), h('div', { part: 'options' }, rows)),
    more(options?.length, context),
    multiple && !answer
      ? h(
          'div',
          { part: 'actions' },
          h(
            'button',
            {
              part: 'button primary',
              type: 'button',
              'aria-disabled': locked || !chosen.length ? 'true' : null,
              onclick: () => chosen.length && choose(chosen),
            },
            texts.confirm,
          ),
        )
      : null,
    draft.failed ? h('p', { part: 'error', role: 'alert' }, texts.notSent) : null,
    answer ? h('p', { part: 'note', role: 'status' }, context.closed ?? texts.sent) : null,
  );
});

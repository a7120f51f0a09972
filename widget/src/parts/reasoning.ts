import type { TextPart } from '../chat/types.js';
import { element, setHidden, setText } from '../ui/dom.js';
import { counted } from '../ui/texts.js';
import type { ViewContext } from '../ui/view.js';
import type { PartView } from './kinds.js';
import { markdownIn } from './text.js';

/** The thoughts of the model, folded. They are drawn once the user unfolds them. */
export function reasoningView(context: ViewContext): PartView<TextPart> {
  const { texts, locale } = context;
  const title = element('summary', { part: 'summary' });
  const body = element('div', { part: 'text' });
  const node = element('details', { part: 'reasoning', 'data-part': 'reasoning' }, title, body);
  const markdown = markdownIn(body, context);
  let text = '';
  let isDone = false;
  let began: number | undefined;
  let seconds: number | undefined;
  const draw = () => node.open && markdown.set(text, isDone);
  node.addEventListener('toggle', draw);
  return {
    node,
    update(part, { busy }) {
      text = part.text;
      isDone = !busy || part.state === 'done';
      setHidden(node, text.trim() === '');
      // A thought that was over when the page opened has no known duration.
      if (!isDone) began ??= performance.now();
      else if (began !== undefined) seconds ??= Math.max(1, Math.round((performance.now() - began) / 1000));
      node.toggleAttribute('data-live', !isDone);
      const over = seconds === undefined ? texts.reasoning : counted(texts.thoughtFor, seconds, locale);
      setText(title, isDone ? over : texts.thinking);
      draw();
    },
  };
}

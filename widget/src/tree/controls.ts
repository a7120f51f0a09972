import { button } from '../ui/button.js';
import { isComposing } from '../ui/composing.js';
import { element } from '../ui/dom.js';
import type { Intervention } from './frames.js';
import type { AgentNode } from './state.js';
import type { TreeContext } from './texts.js';

/** Lets Enter in a field of several lines submit its form. */
export function submitByEnter(field: HTMLTextAreaElement, form: HTMLFormElement): void {
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

/**
 * Makes the controls of an agent that has not ended: pause, the answer now, cancel, and a remark. `intervene` returns `false`
 * if the change was not sent.
 */
export function controls(
  agent: AgentNode,
  { texts, shared }: TreeContext,
  intervene: (change: Intervention) => boolean,
): HTMLElement {
  const pause = () => intervene({ status: agent.status === 'paused' ? 'running' : 'paused' });
  const label = texts.remark;
  const remark = element('input', { part: 'input', required: true, 'aria-label': label, placeholder: label });
  const form = element('form', { class: 'row' }, remark, element('button', { part: 'button' }, shared.send));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (intervene({ userComment: remark.value })) remark.value = '';
  });
  return element(
    'div',
    { part: 'controls' },
    button(texts.pause, 'pause', pause),
    button(texts.answerNow, 'complete', () => intervene({ status: 'completed' })),
    button(shared.cancel, 'cancel', () => intervene({ status: 'cancelled' })),
    form,
  );
}

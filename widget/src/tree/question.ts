import { isComposing } from '../ui/composing.js';
import { element, setText } from '../ui/dom.js';
import type { CallAnswer, Query } from './frames.js';
import type { TreeContext } from './texts.js';

/** The form in which the user answers a question. */
export interface QuestionView {
  readonly node: HTMLElement;
  /** Lets the user answer again, after the server has refused the answer. */
  enable(): void;
}

/**
 * Makes the form of a question: a text, a form of its schema, or an approval. `answer` gets a text or the answer to a call.
 * The code of the fields is loaded for the first form.
 */
export async function questionView(
  { prompt, call }: Query,
  { texts, shared, locale }: TreeContext,
  answer: (reply: string | CallAnswer) => void,
): Promise<QuestionView> {
  const { fieldsOf, firstFault, pretty, seen, valuesOf } = await import('../parts/rare.js');
  const input = (label: string, rows: string) =>
    element('textarea', { part: 'input', rows, dir: 'auto', 'aria-label': label, placeholder: label });
  const button = (text: string, value: string) =>
    element('button', { part: value === 'approve' ? 'button primary' : 'button', value }, text);
  const failed = element('p', { part: 'error', role: 'alert' });
  let nodes: HTMLElement[];
  let buttons: HTMLElement[];
  /** Returns the answer. `undefined`: a field has a fault. */
  let read: (approved: boolean) => string | CallAnswer | undefined;
  if (!call) {
    const text = input(prompt, '1');
    nodes = [text];
    buttons = [button(texts.answer, 'approve')];
    read = () => text.value.trim() || undefined;
  } else if (call.schema) {
    const fields = fieldsOf(call.schema, shared, locale);
    nodes = fields.map(({ node }) => node);
    buttons = [button(shared.decline, 'deny'), button(shared.send, 'approve')];
    read = (approved) => {
      if (!approved) return { approved };
      return firstFault(fields) ? undefined : { approved, output: valuesOf(fields) };
    };
  } else {
    const json = seen((call.editable && JSON.stringify(call.input, null, 2)) || pretty(call.input));
    const edited = input(texts.arguments, '5');
    edited.value = json;
    const reason = element('input', { part: 'input', 'aria-label': shared.reason, placeholder: shared.reason });
    nodes = [call.editable ? edited : element('pre', { part: 'json', dir: 'ltr' }, json), reason];
    buttons = [button(shared.deny, 'deny'), button(shared.approve, 'approve')];
    read = (approved) => {
      if (!approved) return { approved, ...(reason.value && { reason: reason.value }) };
      return edited.value === json ? { approved } : { approved, arguments: JSON.parse(edited.value) as unknown };
    };
  }
  const legend = element('legend', { part: 'ask', dir: 'auto' }, seen(prompt));
  const set = element('fieldset', {}, legend, ...nodes, failed, element('div', { part: 'buttons' }, ...buttons));
  // A field hides the member of the form that has its name, so the form itself is not used.
  const node = element('div', {}, element('form', { part: 'form', novalidate: true }, set));
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    const isDenied = (event.submitter as HTMLButtonElement | null)?.value === 'deny';
    setText(failed, '');
    try {
      const reply = read(!isDenied);
      if (reply === undefined) return;
      set.disabled = true;
      answer(reply);
    } catch {
      setText(failed, texts.invalidJson);
    }
  });
  // Enter in a field would press the first button: the one that refuses. It sends instead, but it decides no approval.
  node.addEventListener('keydown', (event) => {
    const isField = (event.target as HTMLElement).matches(call ? 'input' : 'textarea');
    if (!isField || event.key !== 'Enter' || isComposing(event)) return;
    if (!call && event.shiftKey) return;
    event.preventDefault();
    if (!call || call.schema) buttons.at(-1)?.click();
  });
  return { node, enable: () => void (set.disabled = false) };
}

import type { ToolPart } from '../chat/types.js';
import { button } from '../ui/button.js';
import { element, setHidden, setText } from '../ui/dom.js';
import { fieldsOf, firstFault, valuesOf } from './fields.js';
import { focusNext, hasFocus } from './focus.js';
import type { QuestionContext, QuestionView } from './kinds.js';
import { seen, valueList } from './values.js';

/** The form of a call that waits for the user, and what was answered. */
export function formView(context: QuestionContext): QuestionView {
  const { chat, texts, locale } = context;
  const node = element('div', { hidden: true });
  let form: { node: HTMLElement; set: HTMLFieldSetElement } | undefined;
  let answered = false;

  function make(part: ToolPart) {
    const { message, schema } = Object(part.input) as { message?: unknown; schema?: unknown };
    const fields = fieldsOf(schema, texts, locale);
    const failed = element('p', { part: 'error', role: 'alert' });
    let sent = false;
    async function answer(result: { output?: unknown; errorText?: string }): Promise<void> {
      if (sent) return;
      sent = true;
      setText(failed, '');
      try {
        await chat.addToolResult({ toolCallId: part.toolCallId, ...result });
      } catch {
        setText(failed, texts.answerFailed);
      }
      sent = false;
    }
    const submit = element('button', { type: 'submit', part: 'button primary' }, texts.send);
    const decline = button(texts.decline, '', () => void answer({ errorText: 'The user declined to fill in this form.' }));
    const legend = element('legend', { part: 'ask' }, seen(String(message ?? texts.formAsk)));
    const buttons = element('div', { part: 'buttons' }, decline, submit);
    const set = element('fieldset', {}, legend, ...fields.map((one) => one.node), failed, buttons);
    const made = element('form', { part: 'form', novalidate: true, autocomplete: 'on' });
    made.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!firstFault(fields)) void answer({ output: valuesOf(fields) });
    });
    // A field hides the member of the form that has its name.
    made.append(set);
    return { node: made, set };
  }

  return {
    node,
    update(part, _status, now) {
      if (now === 'waiting' && !form) node.append((form = make(part)).node);
      const loses = now !== 'waiting' && hasFocus(node);
      // A later message that the server refuses is taken back.
      if (form) form.set.disabled = now !== 'waiting';
      if (part.state === 'output-available' && !answered) {
        answered = true;
        node.replaceChildren(valueList(part.output, texts));
      }
      setHidden(node, !node.firstChild);
      if (loses) focusNext(node);
    },
  };
}

import type { Message } from '../chat/types.js';
import { button } from '../ui/button.js';
import { isComposing } from '../ui/composing.js';
import { element, setHidden, setText } from '../ui/dom.js';
import { grow, watchWidth } from '../ui/grow.js';
import { limited } from '../ui/limit.js';
import type { ViewContext } from '../ui/view.js';
import { isAnswering, textOf } from './kinds.js';

/** A field with the text of a message of the user. `close` is called after Save and Cancel. */
export function editor(message: Message, context: ViewContext, close: () => void): HTMLElement {
  const { chat, drafts, texts } = context;
  const field = element('textarea', { part: 'input', rows: '1', dir: 'auto', 'aria-label': texts.editMessage });
  field.value = drafts.read(message.id) || textOf(message);
  watchWidth(field);
  const note = limited(field, context);
  const end = () => {
    drafts.write(message.id, '');
    close();
  };
  const save = () => {
    const text = field.value.trim();
    if (!text) return;
    if (isAnswering(chat)) {
      setText(note, texts.answering);
      setHidden(note, false);
      return context.announce(texts.answering);
    }
    end();
    if (text !== textOf(message)) void chat.edit(message.id, text);
  };
  const buttons = element('div', { part: 'buttons' }, button(texts.cancel, '', end), button(texts.save, 'primary', save));
  const node = element('div', { part: 'editor' }, field, note, buttons);
  field.addEventListener('input', () => {
    grow(field);
    drafts.write(message.id, field.value);
  });
  field.addEventListener('keydown', (event) => {
    if (isComposing(event)) return;
    if (event.key === 'Escape') end();
    else if (event.key === 'Enter' && !event.shiftKey) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return node;
}

/** Gives the field the height of its text, and the focus if it `isWanted`. */
export function begin(node: HTMLElement, isWanted: boolean): void {
  const field = node.querySelector('textarea');
  field?.dispatchEvent(new Event('input'));
  if (!isWanted) return;
  field?.focus();
  // The browser brings the position into view with the next key only.
  field?.setSelectionRange(field.value.length, field.value.length);
  if (field) field.scrollTop = field.scrollHeight;
}

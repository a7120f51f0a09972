import { element, filled, setHidden, setText } from './dom.js';
import { counted } from './texts.js';
import type { ViewContext } from './view.js';

/**
 * The most characters of a message. However they are written, they fit into the 8 MiB of a request to the server. A browser
 * needs about a second to lay them out.
 */
const LONGEST = 1_000_000;

/** Refuses what would make the text of a field too long, before it is in the field. Returns the node that says so. */
export function limited(field: HTMLTextAreaElement, { announce, locale, texts }: ViewContext): HTMLElement {
  const note = element('p', { part: 'error', hidden: true });
  field.addEventListener('beforeinput', (event) => {
    const added = event.inputType === 'insertLineBreak' ? 1 : (event.data?.length ?? 0);
    const isTooLong = added > 0 && field.textLength - (field.selectionEnd - field.selectionStart) + added > LONGEST;
    setHidden(note, !isTooLong);
    if (!isTooLong) return;
    event.preventDefault();
    setText(note, filled(counted(texts.fieldLong, LONGEST, locale), { field: texts.message }));
    announce(note.textContent ?? '');
  });
  return note;
}

import type { Message } from '../chat/types.js';
import { button } from '../ui/button.js';
import { element, setHidden, setText } from '../ui/dom.js';
import type { Texts } from '../ui/texts.js';
import type { View, ViewContext } from '../ui/view.js';
import { isAnswering, textOf } from './kinds.js';

/** Returns the reason that an answer has no text, with what the user can do, if its end has one. */
export function withheld(message: Message, texts: Texts): string {
  const reason = message.metadata?.['finishReason'];
  if (textOf(message).trim()) return '';
  return reason === 'length' ? texts.answerTooLong : reason === 'content-filter' ? texts.answerFiltered : '';
}

/**
 * A note on an answer that is incomplete or has no text, or on a question without an answer. Its button takes the rest of the
 * answer from the server if that has it, or asks again.
 */
export function incompleteView(message: Message, { chat, texts }: ViewContext): View {
  const isUser = message.role === 'user';
  const again = button(texts.retry, 'quiet again', () => void chat.regenerate());
  const note = element('span');
  const node = element('div', { part: 'incomplete', hidden: true }, note, again);
  return {
    node,
    update() {
      const isLast = message === chat.messages.at(-1);
      const reason = withheld(message, texts);
      const isCut = isUser ? isLast && chat.status === 'ready' : reason || chat.isIncomplete(message.id);
      setText(note, reason || (isUser ? texts.answerStopped : texts.incomplete));
      setHidden(node, !isCut || (isAnswering(chat) && isLast));
      // The notice of an error has such a button.
      setHidden(again, chat.status !== 'ready' || !isLast);
    },
  };
}

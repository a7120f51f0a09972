import type { Message } from '../chat/types.js';
import { button } from '../ui/button.js';
import { element, setHidden } from '../ui/dom.js';
import type { View, ViewContext } from '../ui/view.js';
import { isAnswering } from './kinds.js';

/**
 * A note on an answer that is incomplete, or on a question without one. Its button takes the rest of the answer from the
 * server if that has it, or asks again.
 */
export function incompleteView(message: Message, { chat, texts }: ViewContext): View {
  const isUser = message.role === 'user';
  const again = button(texts.retry, 'quiet again', () => void chat.regenerate());
  const note = element('span', {}, isUser ? texts.answerStopped : texts.incomplete);
  const node = element('div', { part: 'incomplete', hidden: true }, note, again);
  return {
    node,
    update() {
      const isLast = message === chat.messages.at(-1);
      const isCut = isUser ? isLast && chat.status === 'ready' : chat.isIncomplete(message.id);
      setHidden(node, !isCut || (isAnswering(chat) && isLast));
      // The notice of an error has such a button.
      setHidden(again, chat.status !== 'ready' || !isLast);
    },
  };
}

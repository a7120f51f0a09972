import type { ToolPart } from '../chat/types.js';
import { approvalView } from './approval.js';
import { formView } from './form.js';
import type { QuestionContext, QuestionView } from './kinds.js';

/** The questions in which the user has entered something, by the ids of calls. */
const begun = new WeakMap<QuestionContext['chat'], Map<string, QuestionView>>();

/**
 * Returns the question of a call: a form, or else an approval. The view of a message can be made anew, when it is scrolled to or
 * the page sets an attribute. What was entered is then still there.
 */
export function callQuestion(call: ToolPart, isForm: boolean, context: QuestionContext): QuestionView {
  const { chat } = context;
  const { toolCallId } = call;
  const views = begun.get(chat) ?? new Map<string, QuestionView>();
  begun.set(chat, views);
  const known = chat.isOpen(call) ? views.get(toolCallId) : undefined;
  if (known) return known;
  const view = isForm ? formView(context) : approvalView(context);
  view.node.addEventListener('input', () => views.set(toolCallId, view), { once: true });
  return view;
}

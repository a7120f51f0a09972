import type { Message, ToolPart } from '../chat/types.js';
import type { QuestionContext } from '../parts/kinds.js';
import { seen } from '../parts/values.js';
import { element } from '../ui/dom.js';
import { submitByEnter } from './controls.js';
import type { CallAnswer, CallQuery, Query } from './frames.js';
import type { TreeContext } from './texts.js';

/** The form in which the user answers a question. */
export interface QuestionView {
  readonly node: HTMLElement;
  /** Lets the user answer again, after the server has refused the answer. */
  enable(): void;
  /** `true` if the user has entered something since the last answer. */
  isUnsent?: boolean;
}

/**
 * Makes the form of a question: a text, a form of its schema, or an approval. `answer` gets a text or the answer to a call.
 * The code of calls is loaded for the first one.
 */
export async function questionView(
  { prompt, call }: Query,
  context: TreeContext,
  answer: (reply: string | CallAnswer) => void,
): Promise<QuestionView> {
  return call ? callView(prompt, call, context, answer) : textView(prompt, context, answer);
}

function textView(prompt: string, { texts }: TreeContext, answer: (reply: string) => void): QuestionView {
  const text = element('textarea', { part: 'input', rows: '1', dir: 'auto', 'aria-label': prompt });
  const legend = element('legend', { part: 'ask', dir: 'auto' }, seen(prompt));
  const buttons = element('div', { part: 'buttons' }, element('button', { part: 'button primary' }, texts.answer));
  const set = element('fieldset', {}, legend, text, buttons);
  const node = element('form', { part: 'form' }, set);
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    const reply = text.value.trim();
    if (!reply) return;
    set.disabled = true;
    answer(reply);
  });
  submitByEnter(text, node);
  return { node, enable: () => void (set.disabled = false) };
}

/** Shows a call as the chat does. What the chat is told is the answer. */
async function callView(
  prompt: string,
  { toolCallId, toolName, input, schema, editable }: CallQuery,
  { shared: texts, locale }: TreeContext,
  answer: (reply: CallAnswer) => void,
): Promise<QuestionView> {
  const { callQuestion } = await import('../parts/rare.js');
  let enable = () => {};
  /** Sends an answer. The user cannot send another one until `enable` is called. */
  const send = (reply: CallAnswer): Promise<void> => {
    const sent = new Promise<void>((resolve) => (enable = resolve));
    answer(reply);
    return sent;
  };
  const chat: QuestionContext['chat'] = {
    isOpen: () => true,
    // Only a form that is declined has no values.
    addToolResult: ({ output }) => send({ approved: !!output, output } as CallAnswer),
    approve: (_part, approved, { input, reason } = {}) => send({ approved, arguments: input, reason } as CallAnswer),
  };
  const state = schema ? 'input-available' : 'approval-requested';
  const part: ToolPart = {
    type: `tool-${toolName}`,
    toolCallId,
    state,
    input: schema ? { message: prompt, schema } : input,
    approval: { id: toolCallId, requestReason: prompt },
  };
  const metadata = { omniassist: { approvals: { [toolCallId]: { editable } } } };
  const view = callQuestion(part, !!schema, { chat, texts, locale });
  const message: Message = { id: toolCallId, role: 'assistant', parts: [part], metadata };
  view.update(part, { message, busy: false }, schema ? 'waiting' : state);
  return { node: view.node, enable: () => enable() };
}

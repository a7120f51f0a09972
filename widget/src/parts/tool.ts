import type { Chat, ToolPart } from '../chat/types.js';
import { undoable } from '../chat/undoable.js';
import { button } from '../ui/button.js';
import { element, filled, setAttribute, setHidden, setText } from '../ui/dom.js';
import { icon, type IconName, setIcon } from '../ui/icon.js';
import type { ENGLISH, Texts } from '../ui/texts.js';
import type { ViewContext } from '../ui/view.js';
import { isTool, labelOf, type PartView, type QuestionView, toolName } from './kinds.js';
import { later } from './later.js';
import { pretty, seen } from './values.js';

/** The tool that asks the user to fill in a form. */
const FORM = 'request_input';

/** The states of a call as they are shown: those of the protocol, and four that the chat adds. */
type Shown = ToolPart['state'] | 'progress' | 'waiting' | 'unanswered' | 'stopped';

const WORDS: Record<Shown, [text: keyof typeof ENGLISH, icon: IconName | undefined]> = {
  'input-streaming': ['toolPreparing', undefined],
  'input-available': ['toolRunning', undefined],
  progress: ['toolProgress', undefined],
  waiting: ['toolWaiting', 'pause'],
  'approval-requested': ['toolAsked', 'pause'],
  'approval-responded': ['toolRunning', undefined],
  'output-available': ['toolDone', 'check'],
  'output-error': ['toolFailed', 'cross'],
  'output-denied': ['toolDenied', 'cross'],
  unanswered: ['toolUnanswered', 'cross'],
  stopped: ['toolStopped', 'cross'],
};

/** What the model reads of a call that the user skips. */
const SKIPPED = 'This page does not offer this tool.';
/** The tools without a handler that the console has named. */
const named = new Set<string>();

const isProgress = (part: ToolPart): boolean => part.state === 'output-available' && !!part.preliminary;

/** Returns the state of a call as it is shown. */
export function shownState(part: ToolPart, busy: boolean, isOpen: boolean): Shown {
  const { state } = part;
  if (state === 'approval-requested') return isOpen ? state : 'unanswered';
  if (isProgress(part)) return busy ? 'progress' : 'stopped';
  if (state === 'input-available' && toolName(part) === FORM) return isOpen ? 'waiting' : 'unanswered';
  if (state.startsWith('input-') || state === 'approval-responded') {
    if (busy) return state;
    return state === 'input-available' && isOpen && !part.providerExecuted ? 'waiting' : 'stopped';
  }
  return state;
}

/** The decision on a call in words. An error says why an approval did not count. */
function decision({ approval, state }: ToolPart, texts: Texts): string {
  const { approved, isAutomatic, reason } = approval ?? {};
  if (approved === undefined || state === 'output-error') return '';
  const [you, server] = approved ? [texts.approvedBy, texts.approvedByServer] : [texts.deniedBy, texts.deniedByServer];
  return `${isAutomatic ? server : you}${reason ? `: ${reason}` : ''}`;
}

/** Returns the share of the work that is done, and a text about it. */
function progressOf(output: unknown): { value?: number; of?: number; text?: string } {
  if (typeof output === 'string') return { text: output };
  const { done, of, percent, text, message } = Object(output) as Record<string, unknown>;
  const words = [text, message].find((one) => typeof one === 'string') as string | undefined;
  const [value, whole] = percent === undefined ? [done, of] : [percent, 100];
  const isShare = Number.isFinite(value) && Number.isFinite(whole) && (whole as number) > 0;
  return { ...(isShare && { value: value as number, of: whole as number }), ...(words && { text: words }) };
}

/** The slots of the page for calls of a tool, by the name of the slot. The newest call has it. */
const slots = new WeakMap<Chat, Map<string, { slot: HTMLSlotElement; at: number }>>();

function slotFor(name: string, call: string, chat: Chat): HTMLSlotElement {
  const known = slots.get(chat) ?? new Map<string, { slot: HTMLSlotElement; at: number }>();
  slots.set(chat, known);
  const at = chat.messages.findIndex(({ parts }) => parts.some((part) => isTool(part) && part.toolCallId === call));
  const other = known.get(name);
  // A long conversation makes the view of an older call again.
  if (other && other.at > at) return element('slot', { name: `${name}-before` });
  if (other) other.slot.name = `${name}-before`;
  const slot = element('slot', { name });
  known.set(name, { slot, at });
  return slot;
}

/** Makes a labelled text. Returns a function that sets it and returns its node. */
function jsonRow(label: string): (text: string) => HTMLElement {
  const value = element('pre', { part: 'json', tabindex: '0', role: 'group', 'aria-label': label });
  const row = element('div', {}, element('span', { part: 'label' }, label), value);
  return (text) => {
    setHidden(row, text === '');
    setText(value, text);
    return row;
  };
}

/** A call of a tool: a line on what happens, the data on demand, and the question for the user if there is one. */
export function toolView(first: ToolPart, context: ViewContext): PartView<ToolPart> {
  const { chat, texts } = context;
  const name = toolName(first);
  const sign = icon('check');
  const title = element('span', { part: 'tool-title' });
  const state = element('span', { part: 'tool-state' });
  const summary = element('span', { part: 'tool-summary' });
  const [input, output] = [jsonRow(texts.toolInput), jsonRow(texts.toolOutput)];
  const words = element('span', {}, title, ' ', state, ' ', summary);
  const mark = element('span', { part: 'tool-icon' });
  mark.append(sign);
  const data = element('details', { part: 'tool-data' }, element('summary', { part: 'summary' }, mark, words));
  const bar = element('progress', { part: 'bar', hidden: true });
  const note = element('p', { part: 'note' });
  const error = element('p', { part: 'error' });
  const question: QuestionView = later(
    async () => {
      const { callQuestion } = await import('./rare.js');
      return callQuestion(part, name === FORM, context);
    },
    texts,
    (_part, _status, now) => now === 'approval-requested' || (name === FORM && (now === 'waiting' || now === 'output-available')),
  );
  const toUndo = () => [...undoable].findLast(({ toolCallId }) => toolCallId === first.toolCallId);
  const undo = button('', 'quiet undo', async () => {
    const undoing = toUndo()?.undo();
    (data.firstElementChild as HTMLElement).focus();
    // The model has read that the fields are filled.
    if (undoing) chat.addContext({ type: 'undone by the user', data: await undoing });
  });
  const skip = button(texts.skip, 'quiet skip', () => {
    (data.firstElementChild as HTMLElement).focus();
    void chat.addToolResult({ toolCallId: first.toolCallId, errorText: SKIPPED });
  });
  const isSlotted = () => [`tool-${name}`, `call-${first.toolCallId}`].some((slot) => context.slotted(slot));
  const node = element('div', { part: 'tool', role: 'group', 'data-tool-name': name, 'data-tool-call-id': first.toolCallId });
  const place = context.slotted(`tool-${name}`) ? slotFor(`tool-${name}`, first.toolCallId, chat) : node;
  if (place !== node) node.append(place);
  place.append(data, bar, note, error);
  // An element of the page takes the place of what the call shows, and not of what the user can do.
  node.append(undo, skip, question.node, element('slot', { name: `call-${first.toolCallId}` }));

  let part = first;
  const drawData = () => {
    if (!data.open) return;
    const rows = [
      input(part.rawInput ?? pretty(part.approval?.arguments ?? part.input)),
      output(part.state === 'output-available' ? pretty(part.output) : ''),
    ];
    if (data.lastChild !== rows[1]) data.append(...rows);
  };
  data.addEventListener('toggle', drawData);

  return {
    node,
    update(next, status) {
      part = next;
      const now = shownState(part, status.busy, chat.isOpen(part));
      const label = labelOf(part, status.message, name === FORM ? texts.form : undefined);
      const [word, sense] = WORDS[now];
      setAttribute(node, 'data-tool-state', now);
      setAttribute(node, 'aria-label', label.title);
      setText(title, seen(label.title));
      // The chat is ready: no handler runs the call, and nothing in the chat asks the user.
      const isUnhandled = now === 'waiting' && name !== FORM && !isSlotted();
      setText(state, texts[isUnhandled ? 'toolUnhandled' : word]);
      setHidden(skip, !isUnhandled);
      if (isUnhandled && !named.has(name)) {
        named.add(name);
        console.warn(`No handler runs the tool ${name}. Call registerTool() or addToolResult().`);
      }
      // An open form needs no line about itself.
      setHidden(data, name === FORM && now === 'waiting');
      // A question has the summary in it.
      setText(summary, now === 'approval-requested' ? '' : seen(label.summary ?? ''));
      mark.toggleAttribute('data-live', !sense);
      if (sense) setIcon(sign, sense);

      const { value, of, text } = now === 'progress' ? progressOf(part.output) : {};
      setHidden(bar, value === undefined);
      if (value !== undefined && of !== undefined) {
        setAttribute(bar, 'max', String(of));
        setAttribute(bar, 'value', String(value));
        setAttribute(bar, 'aria-label', filled(texts.progress, { title: label.title }));
      }
      setText(note, seen(text ?? decision(part, texts)));
      setText(error, part.state === 'output-error' ? (part.errorText ?? '') : '');
      const call = now === 'output-available' ? toUndo() : undefined;
      setHidden(undo, !call);
      if (call) call.onUndone = () => setHidden(undo, true);
      setText(undo, call?.title ?? '');
      question.update(part, status, now);
      drawData();
    },
  };
}

import type { Chat, Message } from '../chat/types.js';
import { write } from '../components/clipboard.js';
import { iconButton } from '../ui/button.js';
import { element, filled, setAttribute, setHidden, setText } from '../ui/dom.js';
import { setIcon } from '../ui/icon.js';
import type { View, ViewContext } from '../ui/view.js';
import { isAnswering, isGrowing, isTool, textOf } from './kinds.js';

/** The time for which a copy is confirmed. */
const CONFIRMED_MS = 2_000;

/** The feedback of the user, by the ids of messages. A message can be made anew: when it is scrolled to, or opened again. */
const given = new WeakMap<Chat, Map<string, unknown>>();

/** Returns the feedback on a message: `up`, `down`, or another value for none. */
function feedbackOn({ id, metadata }: Message, chat: Chat): unknown {
  const here = given.get(chat);
  return here?.has(id) ? here.get(id) : metadata?.['feedback'];
}

function keepFeedback(message: Message, chat: Chat, value: 'up' | 'down' | null): void {
  given.set(chat, (given.get(chat) ?? new Map<string, unknown>()).set(message.id, value));
  // A server that stores chats has the messages. Those of other chats are kept by the browser.
  if (!chat.isStored) message.metadata = { ...message.metadata, feedback: value };
}

/** The actions below a message: copy, retry or edit, its branches, and the feedback. */
export function actionsView(message: Message, context: ViewContext, edit: () => void): View {
  const { chat, texts, locale } = context;
  const isUser = message.role === 'user';
  let timer: ReturnType<typeof setTimeout> | undefined;

  const copy = iconButton('copy', texts.copy, 'action copy', async () => {
    const done = await write(textOf(message), node);
    context.announce(done ? texts.copied : texts.copyFailed);
    const sign = copy.firstElementChild as SVGSVGElement;
    setIcon(sign, done ? 'check' : 'cross');
    clearTimeout(timer);
    timer = setTimeout(() => setIcon(sign, 'copy'), CONFIRMED_MS);
  });

  const again = isUser
    ? iconButton('edit', texts.edit, 'action edit', edit)
    : iconButton('retry', texts.retry, 'action retry', () => void chat.regenerate(message.id));

  const thumb = (value: 'up' | 'down', label: string) => {
    const node = iconButton(value, label, `action feedback-${value}`, () => {
      const next = feedbackOn(message, chat) === value ? null : value;
      if (!context.fire('omni-feedback', { messageId: message.id, value: next })) return;
      keepFeedback(message, chat, next);
      showFeedback();
    });
    return [value, node] as const;
  };
  const thumbs = isUser ? [] : [thumb('up', texts.feedbackUp), thumb('down', texts.feedbackDown)];

  const showFeedback = () => {
    const value = feedbackOn(message, chat);
    for (const [name, one] of thumbs) setAttribute(one, 'aria-pressed', String(name === value));
  };

  const step = (by: number) => () => {
    const { current, count } = chat.branches(message.id);
    const next = current + by;
    if (next >= 0 && next < count) void chat.selectBranch(message.id, next);
  };
  const previous = iconButton('previous', texts.branchPrevious, 'action branch-previous', step(-1));
  const next = iconButton('next', texts.branchNext, 'action branch-next', step(1));
  const position = element('span', { part: 'branch-position' });
  const branches = element('span', { part: 'branches', role: 'group', hidden: true }, previous, position, next);

  const node = element(
    'div',
    { part: 'actions', role: 'group', 'aria-label': texts.actions, hidden: true },
    // The branches are at the edge of the log, where the other buttons are not seen without the pointer.
    ...(isUser ? [copy, again, branches] : [branches, copy, again]),
    ...thumbs.map(([, one]) => one),
  );
  return {
    node,
    update() {
      // An answer that waits for the user is not over.
      setHidden(node, isGrowing(chat, message) || message.parts.some((part) => isTool(part) && chat.isOpen(part)));
      if (node.hidden) return;
      showFeedback();
      const answering = isAnswering(chat);
      setHidden(copy, textOf(message) === '');
      setHidden(again, answering);
      const { count, current } = chat.branches(message.id);
      setHidden(branches, count < 2);
      if (branches.hidden) return;
      setAttribute(branches, 'aria-label', filled(texts.branchOf, { current: current + 1, count }));
      const digits = (value: number) => value.toLocaleString(locale);
      setText(position, `${digits(current + 1)}/${digits(count)}`);
      for (const [one, isEnd] of [[previous, current === 0], [next, current === count - 1]] as const)
        setAttribute(one, 'aria-disabled', String(isEnd || answering));
    },
    remove: () => clearTimeout(timer),
  };
}

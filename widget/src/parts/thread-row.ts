import type { Thread } from '../chat/types.js';
import { button, iconButton } from '../ui/button.js';
import { isComposing } from '../ui/composing.js';
import { element, filled, setAttribute, setHidden, setText } from '../ui/dom.js';
import type { ViewContext } from '../ui/view.js';
import { isAnswering } from './kinds.js';
import { seen } from './values.js';

export interface ThreadRow {
  readonly node: HTMLElement;
  /** Shows the data of the chat. */
  show(thread: Thread): void;
  /** Shows if the chat is the open one, and its state. */
  update(): void;
}

interface Done {
  opened(id: string): void;
  deleted(id: string): void;
  /** The server has not changed the chat. */
  failed(): void;
}

/** A chat in the list: its title, its day and state, and buttons that rename and delete it in place. */
export function threadRow(id: string, { chat, drafts, texts, locale }: ViewContext, done: Done): ThreadRow {
  const title = element('span', { part: 'thread-title' });
  const time = element('time', { part: 'thread-time' });
  const badge = element('span', { part: 'badge', hidden: true });
  const open = element('button', { type: 'button', part: 'thread' }, title, badge, time);
  open.addEventListener('click', () => done.opened(id));
  const rename = iconButton('edit', texts.rename, 'action thread-rename', askTitle);
  const remove = iconButton('delete', texts.delete, 'action thread-delete', askDelete);
  const node = element('li', { part: 'thread-row', 'data-id': id }, open, rename, remove);
  let name = '';
  let state: string | undefined;

  /** Shows a form in the row until the user has decided, or leaves it by Escape. `back` has the focus then. */
  function instead(back: HTMLElement, form: HTMLElement): () => void {
    const close = () => {
      node.replaceChildren(open, rename, remove);
      back.focus();
    };
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || isComposing(event)) return;
      // A window that covers a phone would close too.
      event.preventDefault();
      event.stopPropagation();
      close();
    });
    node.replaceChildren(form);
    return close;
  }

  /** Waits for a request. Resolves with `true` if it has failed. */
  const hasFailed = (request: Promise<void>): Promise<boolean> => request.then(() => false, () => (done.failed(), true));

  function askTitle(): void {
    const field = element('input', { part: 'input', 'aria-label': texts.threadTitle, maxlength: '200', dir: 'auto' });
    field.value = name;
    const save = element('button', { type: 'submit', part: 'button primary' }, texts.save);
    const form = element('form', { part: 'thread-form' }, field, button(texts.cancel, '', () => close()), save);
    const close = instead(rename, form);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const next = field.value.trim();
      const before = name;
      close();
      if (!next || next === before) return;
      setName(next);
      if (await hasFailed(chat.renameThread(id, next))) setName(before);
    });
    field.select();
  }

  function askDelete(): void {
    const cancel = button(texts.cancel, '', () => close());
    const yes = button(texts.delete, 'danger', async () => {
      if (yes.disabled) return;
      cancel.disabled = yes.disabled = true;
      if (await hasFailed(chat.deleteThread(id))) return close();
      drafts.forget(id);
      done.deleted(id);
    });
    const question = element('p', { part: 'ask' }, filled(texts.threadConfirm, { title: name }));
    const card = element('div', { part: 'thread-form', role: 'group' }, question, cancel, yes);
    card.setAttribute('aria-label', question.textContent);
    const close = instead(remove, card);
    cancel.focus();
  }

  function setName(text: string): void {
    name = seen(text);
    setText(title, name);
    for (const [one, label] of [[rename, texts.threadRename], [remove, texts.threadDelete]] as const)
      setAttribute(one, 'aria-label', filled(label, { title: name }));
  }

  function update(): void {
    const isCurrent = id === chat.chatId;
    setAttribute(open, 'aria-current', isCurrent ? 'true' : undefined);
    const now = isCurrent && isAnswering(chat) ? 'running' : state;
    setHidden(badge, now !== 'running' && now !== 'waiting');
    setAttribute(badge, 'data-state', now ?? '');
    setText(badge, now === 'waiting' ? texts.threadWaiting : texts.threadRunning);
  }

  return {
    node,
    update,
    show(thread) {
      state = thread.run?.state;
      setName(thread.title || texts.threadUntitled);
      const day = thread.updatedAt ? new Date(thread.updatedAt) : undefined;
      const isKnown = day !== undefined && !Number.isNaN(day.getTime());
      setHidden(time, !isKnown);
      if (isKnown) {
        time.dateTime = day.toISOString();
        const isOld = day.getFullYear() !== new Date().getFullYear();
        setText(time, day.toLocaleDateString(locale, { month: 'short', day: 'numeric', ...(isOld && { year: 'numeric' }) }));
      }
      update();
    },
  };
}

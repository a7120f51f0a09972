import type { Thread } from '../chat/types.js';
import { button } from '../ui/button.js';
import { element, setText } from '../ui/dom.js';
import type { View, ViewContext } from '../ui/view.js';
import { hasFocus } from './focus.js';
import { type ThreadRow, threadRow } from './thread-row.js';

/** The pause after a key before the list is searched. */
const SEARCH_MS = 250;
/** The time after which the state of a chat that is answering is asked for again. */
const RUNNING_MS = 5_000;

/** The list of the stored chats in `node`. */
export function listIn(node: HTMLElement, context: ViewContext): View & { load(): Promise<void> } {
  const { chat, texts } = context;
  const search = element('input', { type: 'search', part: 'input threads-search', placeholder: texts.threadsSearch, autocomplete: 'off' });
  search.setAttribute('aria-label', texts.threadsSearch);
  const list = element('ul', { part: 'thread-list', 'aria-label': texts.threads });
  const note = element('p', { part: 'note', role: 'status' });
  const again = button(texts.retry, 'quiet', () => void load());
  const more = button(texts.threadsMore, 'quiet threads-more', () => {
    pages += 1;
    void load();
  });
  more.hidden = again.hidden = true;
  node.replaceChildren(search, list, note, again, more);
  const rows = new Map<string, ThreadRow>();
  /** The number of pages that are shown. */
  let pages = 1;
  let turn = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  search.addEventListener('input', () => {
    clearTimeout(timer);
    pages = 1;
    timer = setTimeout(() => void load(), SEARCH_MS);
  });

  function opened(id: string): void {
    void chat.setChatId(id);
    node.dispatchEvent(new CustomEvent('thread-open', { bubbles: true, detail: { chatId: id } }));
  }

  /** Takes a row away that the server has deleted. The focus goes to its neighbour. */
  function deleted(id: string): void {
    const row = rows.get(id);
    const next = (row?.node.nextElementSibling ?? row?.node.previousElementSibling)?.querySelector('button');
    row?.node.remove();
    rows.delete(id);
    (next ?? search).focus();
    void load();
  }

  function failed(): void {
    setText(note, texts.threadsFailed);
  }

  function show(threads: readonly Thread[]): void {
    const ids = new Set(threads.map(({ id }) => id));
    for (const [id, row] of rows) {
      if (ids.has(id)) continue;
      if (hasFocus(row.node)) search.focus();
      row.node.remove();
      rows.delete(id);
    }
    let place = list.firstChild;
    for (const thread of threads) {
      const row = rows.get(thread.id) ?? threadRow(thread.id, context, { opened, deleted, failed });
      rows.set(thread.id, row);
      row.show(thread);
      if (row.node === place) place = place.nextSibling;
      else list.insertBefore(row.node, place);
    }
  }

  async function load(): Promise<void> {
    const mine = (turn += 1);
    const query = search.value.trim();
    const threads: Thread[] = [];
    let cursor: string | null | undefined;
    try {
      for (let page = 0; page < pages && cursor !== null; page += 1) {
        const answer = await chat.threads({ ...(cursor && { cursor }), ...(query && { query }) });
        // A later search may have begun.
        if (mine !== turn) return;
        threads.push(...answer.threads);
        cursor = answer.nextCursor;
      }
    } catch {
      // The list stays as it is while the server does not answer.
      if (mine !== turn) return;
      setText(note, texts.threadsFailed);
      again.hidden = false;
      return;
    }
    show(threads);
    clearTimeout(timer);
    if (threads.some(({ id, run }) => id !== chat.chatId && run?.state === 'running'))
      timer = setTimeout(() => node.checkVisibility() && void load(), RUNNING_MS);
    again.hidden = true;
    more.hidden = cursor === null;
    setText(note, threads.length ? '' : query ? texts.threadNotFound : texts.threadNone);
  }

  return {
    node,
    load,
    update() {
      for (const row of rows.values()) row.update();
    },
    remove() {
      turn += 1;
      clearTimeout(timer);
    },
  };
}

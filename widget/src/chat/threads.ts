import type { ChatStorage } from './storage.js';
import type { StoredChats } from './stored.js';
import type { Thread, ThreadPage } from './types.js';

/** The chats of a page of the list, and the pages that a search reads. */
const PAGE = 50;
const SEARCHED_PAGES = 20;

/** The part of the list that is wanted. */
export interface Wanted {
  cursor?: string;
  query?: string;
}

const has = (text: string | undefined, query: string): boolean =>
  text?.toLowerCase().includes(query.toLowerCase()) ?? false;

const threadOf = (id: string, title: string | undefined, updatedAt: unknown, run?: Thread['run']): Thread => ({
  id,
  ...(title && { title }),
  ...(typeof updatedAt === 'number' && { updatedAt: new Date(updatedAt).toISOString() }),
  ...(run && { run: { state: run.state } }),
});

/** Lists the chats that the server stores. A search looks into the titles: the server has no search. */
export async function listStored(stored: StoredChats, { cursor, query }: Wanted): Promise<ThreadPage> {
  const threads: Thread[] = [];
  let next: string | null = cursor ?? null;
  for (let pages = query ? SEARCHED_PAGES : 1; pages; pages -= 1) {
    const from = next ? `&cursor=${encodeURIComponent(next)}` : '';
    const page = (await (await stored.request(`?limit=${query ? 2 * PAGE : PAGE}${from}`)).json()) as ThreadPage;
    const found = page.threads.filter(({ title }) => !query || has(title, query));
    threads.push(...found.map(({ id, title, updatedAt, run }) => threadOf(id, title, updatedAt, run)));
    next = page.nextCursor;
    if (!next) break;
  }
  return { threads, nextCursor: next };
}

/** Lists the chats in the storage of the browser. A search looks into titles and messages. */
export function listKept(storage: ChatStorage, { cursor, query }: Wanted): ThreadPage {
  const from = Number(cursor ?? 0);
  const found = storage.index
    .filter(({ id, title }) => !query || has(title, query) || has(storage.textOf(id), query))
    .sort((a, b) => b.updatedAt - a.updatedAt);
  const threads = found.slice(from, from + PAGE).map(({ id, title, updatedAt }) => threadOf(id, title, updatedAt));
  return { threads, nextCursor: from + PAGE < found.length ? String(from + PAGE) : null };
}

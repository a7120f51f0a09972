// The list of the stored chats: opens one, or deletes it.

import { byId, element } from "/dom.js";

const STATES = { running: "answering", waiting: "waiting for you" };

/** Connects the list in index.html to a chat. Returns a function that loads the list again. */
export function mountThreads(chat) {
  const [list, input] = ["threads-list", "chat-input"].map(byId);
  const path = ({ id }) => `${chat.api}/threads/${encodeURIComponent(id)}`;

  function row(thread) {
    const title = thread.title ?? "Chat";
    const open = element("button", { type: "button", class: "thread" }, title);
    if (thread.id === chat.id) open.setAttribute("aria-current", "true");
    open.addEventListener("click", () => (chat.open(thread.id), input.focus()));
    const state = STATES[thread.run?.state];
    const remove = element("button", { type: "button", "aria-label": `Delete: ${title}` }, "Delete");
    remove.addEventListener("click", async () => {
      if (!confirm(`Delete the chat "${title}"?`)) return;
      const response = await fetch(path(thread), { method: "DELETE" }).catch(() => undefined);
      if (response?.ok && thread.id === chat.id) chat.clear();
      await load();
    });
    return element("li", { "data-id": thread.id }, open, state && element("span", { class: "badge" }, state), remove);
  }

  /** The number of pages of the list that are shown. */
  let pages = 1;
  const more = element("li", {}, element("button", { type: "button", id: "threads-more" }, "More chats"));
  more.addEventListener("click", () => ((pages += 1), load()));

  async function load() {
    const rows = [];
    let cursor;
    for (let page = 0; page < pages && cursor !== null; page += 1) {
      const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : "";
      const response = await fetch(`${chat.api}/threads${query}`).catch(() => undefined);
      // The list stays as it is while the server does not answer.
      if (!response?.ok) return;
      const { threads, nextCursor } = await response.json();
      rows.push(...threads.map(row));
      cursor = nextCursor;
    }
    list.replaceChildren(...rows, ...(cursor === null ? [] : [more]));
  }

  byId("threads").hidden = false;
  byId("threads").addEventListener("toggle", load);
  return load;
}

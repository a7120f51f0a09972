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

  async function load() {
    const response = await fetch(`${chat.api}/threads`).catch(() => undefined);
    // The list stays as it is while the server does not answer.
    if (response?.ok) list.replaceChildren(...(await response.json()).threads.map(row));
  }

  byId("threads").hidden = false;
  byId("threads").addEventListener("toggle", load);
  return load;
}

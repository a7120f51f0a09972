// The chat panel: shows a Chat. The texts of a model, a tool or a user enter the page as text, never as markup.

import { isTool } from "/chat.js";
import { byId, element, setText } from "/dom.js";
import { markdownView } from "/markdown.js";
import { toolView } from "/tool.js";

/** Each view is made once for a part and then updated: { node, update(part) }. */
const views = {
  text() {
    const { node, update } = markdownView({ class: "text", "data-part": "text" });
    return { node, update: (part) => update(part.text) };
  },
  reasoning() {
    const text = element("div", { class: "reasoning-text" });
    const node = element("details", { class: "reasoning", "data-part": "reasoning" }, element("summary", {}, "Reasoning"), text);
    return {
      node,
      update(part) {
        node.hidden = part.text === "";
        setText(text, part.text);
      },
    };
  },
  source(part) {
    const isLink = /^https?:\/\//.test(part.url ?? "");
    const label = part.title ?? part.url ?? "Source";
    const link = { href: part.url, target: "_blank", rel: "noopener noreferrer" };
    return { node: element("p", { class: "source" }, isLink ? element("a", link, label) : label), update() {} };
  },
  file(part) {
    return { node: element("p", { class: "source" }, `File: ${part.filename ?? part.mediaType}`), update() {} };
  },
};

function viewOf(part, role, actions) {
  if (isTool(part)) return toolView(part, actions);
  if (part.type.startsWith("source-")) return views.source(part);
  if (role === "user" && part.type === "text") return { node: element("p", { class: "said" }, part.text), update() {} };
  return Object.hasOwn(views, part.type) ? views[part.type](part) : undefined;
}

/** The view of a message: its parts, and a mark if it is incomplete. */
function messageView(message, actions) {
  const name = message.role === "user" ? "You" : "Assistant";
  const node = element("article", { "data-role": message.role, "aria-label": name });
  const mark = element("p", { class: "mark", hidden: true }, "Stopped: this answer is incomplete.");
  let parts = new Map();
  return {
    node,
    update(status) {
      const { tools = {}, approvals = {} } = message.metadata?.omniassist ?? {};
      // A part that was removed, by another try, takes its view with it.
      for (const [part, view] of parts) if (!message.parts.includes(part)) (view.node.remove(), parts.delete(part));
      for (const part of message.parts) {
        const view = parts.get(part) ?? viewOf(part, message.role, actions);
        if (!view) continue;
        if (!parts.has(part)) node.append(view.node);
        parts.set(part, view);
        view.update(part, { ...status, isOpen: status.isOpen(part), label: { ...tools[part.toolCallId], question: approvals[part.toolCallId]?.message } });
      }
      mark.hidden = !status.isCut;
      if (status.isCut && node.lastChild !== mark) node.append(mark);
    },
  };
}

/** Connects a chat to the panel in index.html. */
export function mountPanel(chat, suggestions) {
  const [root, log, form, input] = ["chat", "chat-log", "chat-form", "chat-input"].map(byId);
  const shown = new Map();
  // The buttons that were used disappear. The focus goes to the next question, or to the input.
  function goOn() {
    render();
    const next = ".approval:not([hidden]) input, fieldset:enabled :is(input, select, textarea)";
    (log.querySelector(next) ?? input).focus();
  }
  const actions = {
    decide: (...decision) => (chat.decide(...decision), goOn()),
    answer: (...answer) => (chat.answer(...answer), goOn()),
  };
  const start = element("div", { id: "chat-start" }, element("p", {}, "Try:"));
  for (const question of suggestions) {
    const button = element("button", { type: "button", class: "suggestion" }, question);
    button.addEventListener("click", () => (chat.send(question), input.focus()));
    start.append(button);
  }

  function render() {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    for (const [message, view] of shown) {
      if (!chat.messages.includes(message)) (view.node.remove(), shown.delete(message));
    }
    if (chat.messages.length === 0) log.replaceChildren(start);
    else start.remove();
    for (const message of chat.messages) {
      const view = shown.get(message) ?? messageView(message, actions);
      if (!shown.has(message)) log.append(view.node);
      shown.set(message, view);
      const busy = chat.busy && message === chat.messages.at(-1);
      view.update({ busy, isOpen: (part) => chat.isOpen(part), isCut: !busy && chat.cut.includes(message.id) });
    }
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  let due = 0;
  chat.onChange = (status) => {
    if (!status) {
      // Many chunks share one frame.
      due ||= requestAnimationFrame(() => ((due = 0), render()));
      return;
    }
    // The messages are up to date before the status is, for code that waits for a status.
    render();
    root.dataset.status = status;
    log.setAttribute("aria-busy", String(chat.busy));
    byId("chat-send").disabled = chat.busy;
    byId("chat-stop").disabled = !chat.busy;
    byId("chat-error").hidden = chat.error === null;
    byId("chat-retry").hidden = chat.busy;
    setText(byId("chat-error-text"), chat.error ?? "");
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text === "" || chat.busy) return;
    input.value = "";
    log.scrollTop = log.scrollHeight;
    chat.send(text);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  // Each of these buttons disappears or becomes disabled, so the focus must go elsewhere.
  byId("chat-stop").addEventListener("click", () => (chat.stop(), input.focus()));
  byId("chat-retry").addEventListener("click", () => (chat.retry(), input.focus()));
  byId("chat-clear").addEventListener("click", () => (chat.clear(), input.focus()));
  chat.onChange(chat.status);
  log.scrollTop = log.scrollHeight;
}

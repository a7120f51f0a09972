// The chat panel: shows a Chat. All that a model, a tool or a user wrote enters the page as text, never as markup.

import { isTool } from "/chat.js";
import { byId, element, setText } from "/dom.js";
import { toolView } from "/tool.js";

/** Each view is made once for a part and then updated: { node, update(part) }. */
const views = {
  text() {
    const node = element("div", { class: "text", "data-part": "text" });
    return { node, update: (part) => setText(node, part.text) };
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

function viewOf(part, actions) {
  if (isTool(part)) return toolView(part, actions);
  if (part.type.startsWith("source-")) return views.source(part);
  return Object.hasOwn(views, part.type) ? views[part.type](part) : undefined;
}

/** Connects a chat to the panel in index.html. */
export function mountPanel(chat, suggestions) {
  const [root, log, form, input] = ["chat", "chat-log", "chat-form", "chat-input"].map(byId);
  const shown = new Map();
  // What was used goes away: the keyboard goes on at the next question, or where the next sentence is typed.
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
    button.addEventListener("click", () => chat.send(question));
    start.append(button);
  }

  function render() {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    if (chat.messages.length === 0) {
      shown.clear();
      log.replaceChildren(start);
    } else {
      start.remove();
    }
    for (const message of chat.messages) {
      let box = shown.get(message);
      if (!box) {
        const node = element("article", { "data-role": message.role, "aria-label": message.role });
        shown.set(message, (box = { node, parts: new Map() }));
        log.append(node);
      }
      const busy = chat.busy && message === chat.messages.at(-1);
      for (const part of message.parts) {
        let view = box.parts.get(part);
        if (!view) {
          view = viewOf(part, actions);
          if (!view) continue;
          box.parts.set(part, view);
          box.node.append(view.node);
        }
        view.update(part, { busy, isOpen: chat.isOpen(part) });
      }
    }
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  let due = 0;
  chat.onChange = (status) => {
    if (!status) {
      // Many chunks, one frame.
      due ||= requestAnimationFrame(() => ((due = 0), render()));
      return;
    }
    // Whoever waits for a status finds the messages as they are then.
    render();
    root.dataset.status = status;
    log.setAttribute("aria-busy", String(chat.busy));
    byId("chat-send").disabled = chat.busy;
    byId("chat-stop").disabled = !chat.busy;
    byId("chat-error").hidden = chat.error === null;
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
  byId("chat-stop").addEventListener("click", () => chat.stop());
  byId("chat-retry").addEventListener("click", () => chat.retry());
  byId("chat-clear").addEventListener("click", () => chat.clear());
  chat.onChange(chat.status);
}

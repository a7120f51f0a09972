// The chat panel: shows a Chat. All that a model, a tool or a user wrote enters the page as text, never as markup.

import { isTool, toolName } from "/chat.js";

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

const byId = (id) => document.getElementById(id);
function pretty(value) {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value);
  return line.length <= 48 ? line : JSON.stringify(value, null, 2);
}
/** Unchanged text is left alone: it may be selected. */
const setText = (node, text) => node.textContent !== text && (node.textContent = text);

const LABELS = {
  "input-streaming": "writing the input",
  "input-available": "running",
  progress: "in progress",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "denied",
  stopped: "stopped",
};

/** Each view is made once for a part and then updated: { node, update(part, busy) }. */
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
  tool(first) {
    const state = element("span", { class: "tool-state" });
    const bar = element("progress", { class: "tool-bar", hidden: true });
    const field = (name) => {
      const value = element("pre", { class: `tool-${name.toLowerCase()}` });
      const row = element("div", { hidden: true }, element("span", { class: "tool-label" }, name), value);
      return { row, show: (text) => ((row.hidden = text === undefined), setText(value, text ?? "")) };
    };
    const [input, progress, output, error] = ["Input", "Progress", "Output", "Error"].map(field);
    const head = element("summary", {}, element("code", {}, toolName(first)), " ", state);
    const rows = [input, progress, output, error].map((each) => each.row);
    const node = element("details", { class: "tool", open: true }, head, bar, ...rows);
    node.dataset.toolName = toolName(first);
    node.dataset.toolCallId = first.toolCallId;
    return {
      node,
      update(part, busy) {
        const isProgress = part.state === "output-available" && part.preliminary;
        let now = isProgress ? "progress" : part.state;
        if (!busy && (isProgress || part.state.startsWith("input-"))) now = "stopped";
        node.dataset.toolState = now;
        node.title = part.title ?? "";
        setText(state, LABELS[now] ?? now);
        const given = part.rawInput ?? (part.input === undefined ? undefined : pretty(part.input));
        input.show(given || undefined);
        if (isProgress) progress.show(pretty(part.output));
        const { done, of } = (isProgress && part.output) || {};
        bar.hidden = !Number.isFinite(done) || !Number.isFinite(of);
        if (!bar.hidden) Object.assign(bar, { max: of, value: done });
        output.show(part.state === "output-available" && !isProgress ? pretty(part.output) : undefined);
        error.show(part.state === "output-error" ? part.errorText : undefined);
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

function viewOf(part) {
  if (isTool(part)) return views.tool(part);
  if (part.type.startsWith("source-")) return views.source(part);
  return Object.hasOwn(views, part.type) ? views[part.type](part) : undefined;
}

/** Connects a chat to the panel in index.html. */
export function mountPanel(chat, suggestions) {
  const [root, log, form, input] = ["chat", "chat-log", "chat-form", "chat-input"].map(byId);
  const shown = new Map();
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
          view = viewOf(part);
          if (!view) continue;
          box.parts.set(part, view);
          box.node.append(view.node);
        }
        view.update(part, busy);
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

// Views of tool calls. Each is made once for a part and then updated: { node, update(part, { busy, isOpen }) }.

import { toolName } from "/chat.js";
import { element, freshId, setText } from "/dom.js";
import { schemaForm } from "/form.js";

/** The tool that has the user fill in a form. */
const FORM = "request_input";

const LABELS = {
  "input-streaming": "writing the input",
  "input-available": "running",
  progress: "in progress",
  waiting: "waiting for you",
  "approval-requested": "waiting for your approval",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "denied",
  unanswered: "not answered",
  stopped: "stopped",
};

function pretty(value) {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value);
  return line.length <= 48 ? line : JSON.stringify(value, null, 2);
}

const isProgress = (part) => part.state === "output-available" && part.preliminary;

/** The word for what a call is doing. */
function stateOf(part, { busy, isOpen }) {
  if (part.state === "approval-requested") return isOpen ? part.state : "unanswered";
  if (part.state === "approval-responded") return busy ? "input-available" : "stopped";
  const isUnfinished = isProgress(part) || part.state.startsWith("input-");
  if (toolName(part) === FORM && part.state === "input-available") return isOpen ? "waiting" : "unanswered";
  if (!busy && isUnfinished) return "stopped";
  return isProgress(part) ? "progress" : part.state;
}

/** The frame of a call: its name, what it is doing, and below that what the view adds. */
function frame(first, ...rows) {
  const state = element("span", { class: "tool-state" });
  const head = element("summary", {}, element("code", {}, toolName(first)), " ", state);
  const node = element("details", { class: "tool", open: true }, head, ...rows);
  node.dataset.toolName = toolName(first);
  node.dataset.toolCallId = first.toolCallId;
  return {
    node,
    show(part, now) {
      node.dataset.toolState = now;
      node.title = part.title ?? "";
      setText(state, LABELS[now] ?? now);
    },
  };
}

function row(name) {
  const value = element("pre", { class: `tool-${name.toLowerCase()}` });
  const node = element("div", { hidden: true }, element("span", { class: "tool-label" }, name), value);
  return { node, show: (text) => ((node.hidden = text === undefined), setText(value, text ?? "")) };
}

/** The question whether a call may run: a reason that may be given, and two buttons. */
function approvalView(first, decide) {
  const question = element("p", { id: freshId("question"), class: "question" });
  const reason = element("input", { id: freshId("reason"), name: "reason", maxlength: "500", autocomplete: "off" });
  const answer = (title, approved) => {
    const button = element("button", { type: "button", class: approved ? "approve" : "deny" }, title);
    button.setAttribute("aria-describedby", question.id);
    button.addEventListener("click", () => decide(approved, reason.value.trim() || undefined));
    return button;
  };
  const buttons = element("div", { class: "buttons" }, answer("Approve", true), answer("Deny", false));
  const label = element("label", { for: reason.id }, "Reason (optional)");
  const input = element("div", { class: "field" }, label, reason);
  const group = { class: "approval", role: "group", "aria-labelledby": question.id, hidden: true };
  const node = element("div", group, question, input, buttons);
  return {
    node,
    update(part, isAsked) {
      node.hidden = !isAsked;
      if (isAsked) setText(question, part.approval.requestReason ?? `May ${toolName(first)} run with this input?`);
    },
  };
}

/** What the user decided, in words. */
function decision(part) {
  const { approved, reason, isAutomatic } = part.approval ?? {};
  if (approved === undefined) return undefined;
  const who = isAutomatic ? "the server" : "you";
  return `${approved ? "Approved" : "Denied"} by ${who}${reason ? `: ${reason}` : ""}`;
}

function callView(first, actions) {
  const [input, progress, output, error, decided] = ["Input", "Progress", "Output", "Error", "Decision"].map(row);
  const bar = element("progress", { class: "tool-bar", hidden: true });
  const approval = approvalView(first, (approved, reason) => actions.decide(first, approved, reason));
  const rows = [input, decided, progress, output, error].map((each) => each.node);
  const { node, show } = frame(first, bar, ...rows, approval.node);
  return {
    node,
    update(part, status) {
      const now = stateOf(part, status);
      show(part, now);
      const given = part.rawInput ?? (part.input === undefined ? undefined : pretty(part.input));
      input.show(given || undefined);
      const partial = isProgress(part);
      if (partial) progress.show(pretty(part.output));
      const { done, of } = (partial && part.output) || {};
      bar.hidden = !Number.isFinite(done) || !Number.isFinite(of);
      if (!bar.hidden) Object.assign(bar, { max: of, value: done });
      output.show(part.state === "output-available" && !partial ? pretty(part.output) : undefined);
      error.show(part.state === "output-error" ? part.errorText : undefined);
      decided.show(decision(part));
      approval.update(part, now === "approval-requested");
    },
  };
}

function formView(first, actions) {
  const place = element("div");
  const error = row("Error");
  const { node, show } = frame(first, place, error.node);
  let form;
  return {
    node,
    update(part, status) {
      const now = stateOf(part, status);
      show(part, now);
      if (now === "waiting" && !form) {
        const { message, schema } = part.input ?? {};
        form = schemaForm({
          message: String(message ?? "Please fill this in."),
          schema,
          send: (entered) => actions.answer(part, entered),
          decline: () => actions.answer(part, undefined, "The user would rather not fill in this form."),
        });
        place.replaceChildren(form.node);
      }
      if (now !== "waiting") form?.close();
      error.show(part.state === "output-error" ? part.errorText : undefined);
    },
  };
}

/** `actions`: `decide` and `answer` of the chat. */
export function toolView(part, actions) {
  return toolName(part) === FORM ? formView(part, actions) : callView(part, actions);
}

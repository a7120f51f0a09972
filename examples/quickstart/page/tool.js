// Views of tool calls. Each is made once for a part and then updated: { node, update(part, status) }, where `status` is
// { busy, isOpen, label }. `label` holds the title of the tool, the summary of the call and the question of its approval,
// if the server sent them.

import { toolName } from "/chat.js";
import { element, freshId, setText, titled } from "/dom.js";
import { schemaForm } from "/form.js";

/** The tool that asks the user to fill in a form. */
const FORM = "request_input";

const LABELS = {
  "input-streaming": "preparing",
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

/** The state of a call, as the page shows it. */
function stateOf(part, { busy, isOpen }) {
  if (part.state === "approval-requested") return isOpen ? part.state : "unanswered";
  if (part.state === "approval-responded") return busy ? "input-available" : "stopped";
  const isUnfinished = isProgress(part) || part.state.startsWith("input-");
  if (toolName(part) === FORM && part.state === "input-available") return isOpen ? "waiting" : "unanswered";
  if (!busy && isUnfinished) return "stopped";
  return isProgress(part) ? "progress" : part.state;
}

/** The frame of a call: its title, its state and its summary, and below them the rows of the view. */
function frame(first, ...rows) {
  const [title, state] = ["tool-title", "tool-state"].map((name) => element("span", { class: name }));
  const summary = element("p", { class: "tool-summary", hidden: true });
  const node = element("div", { class: "tool", role: "group" }, element("p", {}, title, " ", state), summary, ...rows);
  node.dataset.toolName = toolName(first);
  node.dataset.toolCallId = first.toolCallId;
  return {
    node,
    show(part, now, label) {
      node.dataset.toolState = now;
      setText(title, label.title ?? part.title ?? titled(toolName(part)));
      node.setAttribute("aria-label", title.textContent);
      setText(state, LABELS[now] ?? now);
      // A question ends with the summary.
      summary.hidden = !label.summary || now === "approval-requested";
      setText(summary, label.summary ?? "");
    },
  };
}

function row(name) {
  const value = element("pre", { class: `tool-${name.toLowerCase()}` });
  const node = element("div", { hidden: true }, element("span", { class: "tool-label" }, name), value);
  return { node, show: (text) => ((node.hidden = text === undefined), setText(value, text ?? "")) };
}

/** Asks if a call may run: a question, a field for a reason, and two buttons. */
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
    update(part, isAsked, label) {
      node.hidden = !isAsked;
      if (isAsked) setText(question, part.approval.requestReason ?? label.question ?? `May "${titled(toolName(first))}" run with this input?`);
    },
  };
}

/** The decision on a call in words. An approval may not count, after a restart for instance; the error then says why. */
function decision(part) {
  const { approved, reason, isAutomatic } = part.approval ?? {};
  if (approved === undefined || part.state === "output-error") return undefined;
  const who = isAutomatic ? "the server" : "you";
  return `${approved ? "Approved" : "Denied"} by ${who}${reason ? `: ${reason}` : ""}`;
}

function callView(first, actions) {
  const [input, progress, output] = ["Input", "Progress", "Output"].map(row);
  const data = [input, progress, output].map((each) => each.node);
  const details = element("details", { class: "tool-data" }, element("summary", {}, "Details"), ...data);
  const decided = element("p", { class: "tool-decision" });
  const error = element("p", { class: "tool-error" });
  const bar = element("progress", { class: "tool-bar", hidden: true });
  const approval = approvalView(first, (approved, reason) => actions.decide(first, approved, reason));
  const { node, show } = frame(first, bar, decided, error, approval.node, details);
  let wasAsked = false;
  return {
    node,
    update(part, status) {
      const now = stateOf(part, status);
      const isAsked = now === "approval-requested";
      show(part, now, status.label);
      const given = part.rawInput ?? (part.input === undefined ? undefined : pretty(part.input));
      input.show(given || undefined);
      const partial = isProgress(part);
      if (partial) progress.show(pretty(part.output));
      const { done, of } = (partial && part.output) || {};
      bar.hidden = !Number.isFinite(done) || !Number.isFinite(of);
      if (!bar.hidden) Object.assign(bar, { max: of, value: done });
      output.show(part.state === "output-available" && !partial ? pretty(part.output) : undefined);
      setText(error, part.state === "output-error" ? part.errorText : "");
      setText(decided, decision(part) ?? "");
      approval.update(part, isAsked, status.label);
      // Without a summary, the user must see the arguments to decide.
      if (isAsked !== wasAsked) details.open = isAsked && !status.label.summary;
      wasAsked = isAsked;
    },
  };
}

function formView(first, actions) {
  const place = element("div");
  const error = element("p", { class: "tool-error" });
  const { node, show } = frame(first, place, error);
  let form;
  return {
    node,
    update(part, status) {
      const now = stateOf(part, status);
      show(part, now, status.label);
      if (now === "waiting" && !form) {
        const { message, schema } = part.input ?? {};
        form = schemaForm({
          message: String(message ?? "Please fill this in."),
          schema,
          send: (entered) => actions.answer(part, entered),
          decline: () => actions.answer(part, undefined, "The user declined to fill in this form."),
        });
        place.replaceChildren(form.node);
      }
      if (now !== "waiting") form?.close();
      setText(error, part.state === "output-error" ? part.errorText : "");
    },
  };
}

/** `actions`: `decide` and `answer` of the chat. */
export function toolView(part, actions) {
  return toolName(part) === FORM ? formView(part, actions) : callView(part, actions);
}

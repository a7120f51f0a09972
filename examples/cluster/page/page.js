// The servers with their buttons, and a chat. When the stream of an answer is cut, the page asks any server for the message
// again: it gets what is written so far, and then the rest.

const byId = (id) => document.getElementById(id);
const element = (tag, props, ...children) => {
  const created = Object.assign(document.createElement(tag), props);
  created.append(...children);
  return created;
};
const post = (path, body) =>
  fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const chat = `chat-${crypto.randomUUID().slice(0, 8)}`;
/** What the page shows: `{ role, parts }`. A part is `{ text }`, or a call `{ tool, call, state, output }`. */
const messages = [];
let run;

/** Yields the events of a stream. A stream that is cut, by an error or without its last line, throws. */
async function* events(response) {
  let rest = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "data: [DONE]") return;
      if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
    }
  }
  throw new TypeError("the stream was cut");
}

/** Applies an event to the parts of the answer. */
function apply(parts, event) {
  const call = parts.findLast((part) => part.call === event.toolCallId);
  switch (event.type) {
    case "start": return void parts.splice(0);
    case "start-step": return void parts.push({ step: true });
    // Another server asks the model for this step again.
    case "reset-step": return void parts.splice(parts.findLastIndex(({ step }) => step) + 1);
    case "text-start": return void parts.push({ text: "" });
    case "text-delta": return void (parts.findLast(({ text }) => text !== undefined).text += event.delta);
    case "tool-input-start": return void parts.push({ tool: event.toolName, call: event.toolCallId, state: "runs" });
    case "tool-approval-request": return void Object.assign(call, { state: "asks" });
    case "tool-output-denied": return void Object.assign(call, { state: "denied" });
    case "tool-output-available": {
      const state = event.preliminary ? "runs" : "done";
      return void Object.assign(call, { state, output: event.output });
    }
    case "tool-output-error": return void Object.assign(call, { state: "failed", output: event.errorText });
    case "error": return void parts.push({ text: `Error: ${event.errorText}` });
    case "abort": return void parts.push({ text: " (stopped)" });
  }
}

/** Shows an answer until it has ended. `ask` opens its stream, and after a cut the stream of the chat has the rest. */
async function follow(parts, ask) {
  for (let open = ask; ; open = () => fetch(`/assistant/${chat}/stream?ai-sdk=7`)) {
    try {
      const response = await open();
      if (response.status === 204) return say("");
      if (!response.ok) throw new TypeError(`status ${response.status}`);
      run = response.headers.get("x-omniassist-run") ?? run;
      say(`reads from server ${response.headers.get("x-cluster-server")}`);
      for await (const event of events(response)) {
        apply(parts, event);
        show();
      }
      return say("");
    } catch (error) {
      say(`${error.message}; asks another server`);
      await pause(300);
    }
  }
}

async function send(text) {
  const message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] };
  const answer = { role: "assistant", parts: [] };
  messages.push({ role: "user", parts: [{ text }] }, answer);
  show();
  // A post that is sent again has its effect once.
  const headers = { "content-type": "application/json", "idempotency-key": message.id };
  const init = { method: "POST", headers, body: JSON.stringify({ id: chat, message }) };
  const ask = () => fetch("/assistant?ai-sdk=7", init);
  for (;;) {
    const first = await ask().catch(() => undefined);
    if (first && first.status < 500) return follow(answer.parts, async () => first);
    say("no server answers");
    await pause(500);
  }
}

async function decide({ call }, approved) {
  await post(`/assistant/runs/${run}/obligations/${encodeURIComponent(call)}`, { approved });
  await follow(messages.at(-1).parts, () => fetch(`/assistant/${chat}/stream?ai-sdk=7`));
}

function say(text) {
  byId("connection").textContent = text;
}

function part(shown) {
  if (shown.step) return "";
  if (shown.text !== undefined) return element("span", { textContent: shown.text });
  const output = typeof shown.output === "string" ? shown.output : JSON.stringify(shown.output ?? "");
  const row = element("div", { className: "call" }, `${shown.tool}: ${shown.state} ${output}`);
  if (shown.state !== "asks") return row;
  const button = (name, approved) =>
    element("button", { type: "button", textContent: name, onclick: () => decide(shown, approved) });
  row.append(button("Approve", true), button("Deny", false));
  return row;
}

function show() {
  const rows = messages.map(({ role, parts }) => element("div", { className: `message ${role}` }, ...parts.map(part)));
  byId("messages").replaceChildren(...rows);
}

const ACTIONS = { kill: "kill -9", stop: "SIGTERM", start: "Start" };

function server({ number, state, chats }) {
  const button = (action) =>
    element("button", {
      type: "button",
      textContent: ACTIONS[action],
      disabled: (action === "start") !== (state === "down"),
      onclick: () => post(`/cluster/${number}/${action}`),
    });
  const drives = chats.length ? `drives ${chats.join(", ")}` : "drives nothing";
  const className = chats.includes(chat) ? "drives" : state;
  return element("li", { className }, element("b", {}, `Server ${number}`), ` ${state}, ${drives} `,
    element("div", {}, ...Object.keys(ACTIONS).map(button)));
}

let seen;
async function watch() {
  for (;;) {
    const text = await fetch("/cluster").then((response) => response.text(), () => "[]");
    // A button that was replaced under the pointer would lose its click.
    if (text !== seen) byId("servers").replaceChildren(...JSON.parse((seen = text)).map(server));
    await pause(300);
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(byId("question").value);
});
byId("stop").addEventListener("click", () => post(`/assistant/${chat}/stop`, {}));
for (const button of document.querySelectorAll(".try")) {
  button.addEventListener("click", () => send(button.textContent));
}
watch();

// The conversation: the AI SDK UI message stream protocol without a framework. It sends the messages, applies the
// chunks of the answer, runs the tools of the page, and posts their results and the decisions of the user. Metadata and
// signatures of the server go back unchanged: they prove what the server wrote. This file does not use the DOM.

/** Yields the JSON of each server-sent event. Ends with the body; leaving the loop early closes the connection. */
export async function* events(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(lost);
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line end.
      for (let end; (end = /\r\n|\n|\r(?!$)/.exec(rest)); ) {
        const line = rest.slice(0, end.index);
        rest = rest.slice(end.index + end[0].length);
        if (line.startsWith("data:")) {
          data.push(line.slice(line[5] === " " ? 6 : 5));
        } else if (line === "" && data.length > 0) {
          const text = data.join("\n");
          data = [];
          if (text !== "[DONE]") yield JSON.parse(text);
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export const isTool = (part) => part.type === "dynamic-tool" || part.type.startsWith("tool-");
export const toolName = (part) => part.toolName ?? part.type.slice("tool-".length);

const SETTLED = ["output-error", "output-denied", "approval-responded"];
const isSettled = (part) =>
  (part.state === "output-available" && !part.preliminary) || SETTLED.includes(part.state);

/** The parts since the last step began. */
const lastStep = (message) =>
  message.parts.slice(message.parts.findLastIndex((part) => part.type === "step-start") + 1);

/** Returns true if the last step of the answer only waits to be posted back. */
export function isComplete(message) {
  if (message?.role !== "assistant") return false;
  const step = lastStep(message);
  const tools = step.filter((part) => isTool(part) && !part.providerExecuted);
  const after = step.slice(step.findLastIndex(isTool) + 1);
  return (
    tools.length > 0 && tools.every(isSettled) && !after.some((part) => part.type === "text" && part.state !== "done")
  );
}

/** Merges objects at every depth. Any other value replaces the old one. */
function merged(into, from) {
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(into) || !isObject(from)) return from;
  const change = Object.entries(from).map(([key, value]) => [key, merged(into[key], value)]);
  return { ...into, ...Object.fromEntries(change) };
}

/** The longest time that a request waits for the stop of the request before it. */
const STOP_MS = 2_000;

/** The error of a `fetch` that reached no server. */
const NO_SERVER = "The server does not answer. Check that it runs, then try again.";
const WAITS = "The connection to the server is lost. The answer goes on when the server is back.";

/** The pause between attempts to reach the server of a stored chat, and their number. */
const PAUSE_MS = 500;
const ATTEMPTS = 120;

/** The server was not reached, or the connection to it broke. */
class Lost extends Error {}
const lost = (error) => {
  throw error instanceof TypeError ? new Lost(NO_SERVER, { cause: error }) : error;
};

export class Chat {
  /**
   * tools: name -> async (input, signal) => output, run by the page. A call of any other tool that the server does not
   * run waits for `answer`.
   * context: () => ContextMessage[], sent with every request.
   * saved: what `saved()` returned before the page was reloaded.
   * stored: the server stores chats; `open` opens one. A run then goes on without its page, and only `stop` ends it.
   */
  constructor({ api, tools = {}, context = () => [], onChange = () => {}, saved, stored = false }) {
    Object.assign(this, { api, tools, context, onChange, stored });
    this.clear();
    Object.assign(this, saved);
  }

  /** Begins a new chat. */
  clear() {
    this.#leave();
    this.id = crypto.randomUUID();
    this.messages = [];
    /** The ids of answers that are incomplete, because the user stopped them or the server failed. */
    this.cut = [];
    this.#status("ready");
  }

  /** Opens a stored chat, and follows the answer that the server is writing. */
  open(id) {
    this.#leave();
    Object.assign(this, { id, messages: [], cut: [] });
    return this.#run((signal) => this.#sync(signal));
  }

  /** Takes no more of the answer. A run of a stored chat goes on. */
  #leave() {
    const { abort } = this;
    this.abort = undefined;
    if (this.stored) abort?.abort();
    else this.stop(abort);
  }

  /** The conversation as it is now, or its id if the server stores it. A run that has not ended is saved as stopped. */
  saved() {
    const { id, messages, cut, busy } = this;
    if (this.stored) return busy || messages.length > 0 ? { id } : null;
    const last = messages.at(-1);
    return { id, messages, cut: busy && last?.role === "assistant" ? [...cut, last.id] : cut };
  }

  get busy() {
    return this.status === "submitted" || this.status === "streaming";
  }

  send(text) {
    if (this.busy) return undefined;
    this.messages.push({ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] });
    return this.#run();
  }

  /**
   * Asks again. The new answer replaces the incomplete one; calls that have ended stay, so that none runs twice. A stored
   * answer stays, and the user asks for another one.
   */
  retry() {
    if (this.busy) return undefined;
    if (this.isLost) return this.#run((signal) => this.#sync(signal, true));
    const last = this.messages.at(-1);
    if (!last) return undefined;
    if (this.stored && last.role === "assistant") {
      if (last.parts.some(({ type }) => type !== "step-start")) return this.send("Please try again.");
      this.messages.pop();
    }
    if (last.role === "assistant" && this.cut.includes(last.id)) {
      last.parts.splice(last.parts.findLastIndex((part) => isTool(part) && isSettled(part)) + 1);
      if (last.parts.length === 0) this.messages.pop();
      this.cut = this.cut.filter((id) => id !== last.id);
    }
    return this.#run();
  }

  /** Stops the run. The text received so far stays. */
  stop(abort = this.abort) {
    if (this.busy) {
      // A closed connection does not end the run of a stored chat, and a proxy may hide it for a while.
      const stopped = { method: "POST", signal: AbortSignal.timeout(STOP_MS) };
      this.stopping = fetch(`${this.api}/${encodeURIComponent(this.id)}/stop`, stopped).catch(() => {});
    }
    abort?.abort();
  }

  /** Returns true if the user can still settle this call. After a later message it is too late. */
  isOpen(part) {
    const last = this.messages.at(-1);
    return last?.role === "assistant" && lastStep(last).includes(part) && !isSettled(part);
  }

  /** The user's decision on a call that asks for approval. */
  decide(part, approved, reason) {
    if (part.state !== "approval-requested" || !this.isOpen(part)) return undefined;
    Object.assign(part, { state: "approval-responded", approval: { ...part.approval, approved, reason } });
    return this.#settled();
  }

  /** The output of a call from the user, or an `errorText` that says why there is none. */
  answer(part, output, errorText) {
    if (part.state !== "input-available" || !this.isOpen(part)) return undefined;
    const failed = errorText !== undefined;
    Object.assign(part, failed ? { state: "output-error", errorText } : { state: "output-available", output });
    return this.#settled();
  }

  /** Posts the conversation if no other call waits. During a run, the end of the run posts it. */
  #settled() {
    this.hasNews = true;
    if (!this.busy && isComplete(this.messages.at(-1))) return this.#run();
    this.onChange();
    return undefined;
  }

  #status(status, error = null) {
    this.status = status;
    this.error = error;
    this.onChange(status);
  }

  /** Sends requests until the answer is complete, or waits for the user. `request` sends the first one. */
  async #run(request) {
    const abort = (this.abort = new AbortController());
    this.isLost = false;
    this.#status("submitted");
    try {
      for (;; request = undefined) {
        this.hasNews = false;
        const calls = await this.#reach(request ?? ((signal) => this.#post(signal)), abort.signal);
        await Promise.all(calls);
        abort.signal.throwIfAborted();
        // The server knows the results of its own tools. Only results of the page and the user are news.
        if ((calls.length === 0 && !this.hasNews) || !isComplete(this.messages.at(-1))) break;
      }
      this.#status("ready");
    } catch (error) {
      // A later run may have begun when this one was stopped.
      if (this.abort !== abort) return;
      const last = this.messages.at(-1);
      if (last?.role === "assistant" && !this.cut.includes(last.id)) this.cut.push(last.id);
      this.isLost = this.stored && error instanceof Lost;
      if (abort.signal.aborted) this.#status("ready");
      else this.#status("error", error instanceof Error ? error.message : String(error));
    }
  }

  /** Sends a request. If the server of a stored chat cannot be reached, asks it again what it has. */
  async #reach(request, signal) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request(signal);
      } catch (error) {
        if (!this.stored || !(error instanceof Lost) || attempt === ATTEMPTS) throw error;
      }
      this.#status("submitted", WAITS);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      signal.throwIfAborted();
      request = () => this.#sync(signal, true);
    }
  }

  /**
   * Loads a stored chat, and follows the answer that the server is writing. With `asks`, posts a question that the server
   * does not have or has not answered.
   */
  async #sync(signal, asks = false) {
    const path = encodeURIComponent(this.id);
    const loaded = await fetch(`${this.api}/threads/${path}/messages`, { signal }).catch(lost);
    if (!loaded.ok && loaded.status !== 404) throw new Error(await refusal(loaded));
    const { messages } = loaded.ok ? await loaded.json().catch(lost) : { messages: [] };
    const mine = this.messages.at(-1);
    const isUnknown = mine?.role === "user" && !messages.some(({ id }) => id === mine.id);
    this.messages = asks && isUnknown ? [...messages, mine] : messages;
    if (this.messages.length === 0) {
      // Another page has deleted the chat.
      this.clear();
      return [];
    }
    this.#status("submitted");
    const stream = await fetch(`${this.api}/${path}/stream?ai-sdk=7`, { signal }).catch(lost);
    if (!stream.ok) throw new Error(await refusal(stream));
    if (stream.status !== 204) return this.#read(stream, signal, true);
    return asks && this.messages.at(-1).role === "user" ? this.#post(signal) : [];
  }

  /** Posts the conversation and reads the answer. Returns a promise for each tool that the page runs. */
  async #post(signal) {
    this.#status("submitted");
    const last = this.messages.at(-1);
    // The stop of the run before must not stop this run.
    await this.stopping;
    // Version 7 of the AI SDK's protocol sends the question of an approval.
    const response = await fetch(`${this.api}?ai-sdk=7`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        id: this.id,
        messages: this.messages,
        trigger: "submit-message",
        messageId: last.role === "assistant" ? last.id : undefined,
        context: this.context(),
      }),
      signal,
    }).catch(lost);
    if (!response.ok) throw new Error(await refusal(response));
    return this.#read(response, signal);
  }

  /** Reads an answer. A `replay` begins with what was shown before. */
  async #read(response, signal, replay = false) {
    const answer = new Answer(this.messages, replay);
    const calls = [];
    for await (const chunk of events(response.body)) {
      const part = answer.apply(chunk);
      if (part && Object.hasOwn(this.tools, toolName(part)) && !part.providerExecuted) {
        calls.push(this.#call(part, signal));
      }
      if (this.status === "submitted" && answer.hasContent) this.#status("streaming");
      else this.onChange();
    }
    if (!answer.finished) throw new Lost("The answer ended before it was complete.");
    return calls;
  }

  async #call(part, signal) {
    try {
      const output = await this.tools[toolName(part)](part.input, signal);
      if (!signal.aborted) Object.assign(part, { state: "output-available", output: output ?? null });
    } catch (error) {
      const errorText = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) Object.assign(part, { state: "output-error", errorText });
    }
    this.onChange();
  }
}

/** The sentence in the body of an HTTP error. */
async function refusal(response) {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    const message = error?.message ?? error;
    if (typeof message === "string") return message;
  } catch {
    // A proxy answered, not the server.
  }
  const isGateway = [502, 503, 504].includes(response.status) || (response.status === 500 && text === "");
  return isGateway ? NO_SERVER : `The server answered with status ${response.status}.`;
}

/** Applies chunks to the last message, or to a new one. */
class Answer {
  constructor(messages, replay) {
    Object.assign(this, { messages, replay });
    this.open = new Map();
    this.finished = false;
    this.hasContent = false;
  }

  get message() {
    let last = this.messages.at(-1);
    if (last?.role !== "assistant") {
      last = { id: crypto.randomUUID(), role: "assistant", parts: [] };
      this.messages.push(last);
    }
    return last;
  }

  #push(part) {
    this.message.parts.push(part);
    return part;
  }

  #tool(chunk) {
    const found = this.message.parts.findLast((part) => isTool(part) && part.toolCallId === chunk.toolCallId);
    if (found) return found;
    if (!chunk.toolName) throw new Error(`No tool call ${chunk.toolCallId} is open.`);
    const kind = chunk.dynamic
      ? { type: "dynamic-tool", toolName: chunk.toolName }
      : { type: `tool-${chunk.toolName}` };
    return this.#push({ ...kind, toolCallId: chunk.toolCallId, state: "input-streaming" });
  }

  #block(chunk) {
    const [kind, step] = chunk.type.split("-");
    const key = `${kind} ${chunk.id}`;
    if (step === "start") this.open.set(key, this.#push({ type: kind, text: "", state: "streaming" }));
    const part = this.open.get(key);
    if (!part) throw new Error(`No ${kind} ${chunk.id} is open.`);
    if (chunk.providerMetadata) part.providerMetadata = chunk.providerMetadata;
    if (step === "delta") part.text += chunk.delta;
    if (step === "end") {
      part.state = "done";
      this.open.delete(key);
    }
  }

  /** A replay sends the input of a call as text, so that the page does not run the call again. */
  #asked(chunk) {
    const part = this.#tool(chunk);
    if (part.rawInput) Object.assign(part, { input: JSON.parse(part.rawInput), rawInput: undefined });
    return part;
  }

  /** Applies a chunk. Returns the part of a tool call if the chunk completed its input. */
  apply(chunk) {
    const { type } = chunk;
    this.hasContent ||= type !== "start" && type !== "start-step";
    if (/^(text|reasoning)-(start|delta|end)$/.test(type)) return void this.#block(chunk);
    if (type.startsWith("data-")) return void this.#data(chunk);
    switch (type) {
      case "start":
        // The replay of a message takes the place of what the page has of it.
        if (this.replay && this.messages.at(-1)?.id === chunk.messageId) this.messages.pop();
        if (chunk.messageId) this.message.id = chunk.messageId;
        return void this.#metadata(chunk);
      case "start-step":
        return void this.#push({ type: "step-start" });
      case "reset-step":
        // The server was started again, and asks the model once more.
        this.open.clear();
        return void this.message.parts.splice(this.message.parts.findLastIndex(({ type }) => type === "step-start") + 1);
      case "finish-step":
        return void this.open.clear();
      case "finish":
        this.finished = true;
        return void this.#metadata(chunk);
      case "abort":
        this.finished = true;
        return undefined;
      case "message-metadata":
        return void this.#metadata(chunk);
      case "error":
        throw new Error(chunk.errorText);
      case "source-url":
      case "source-document":
      case "file":
        return void this.#push(chunk);
      case "tool-input-start": {
        const { title, providerExecuted } = chunk;
        return void Object.assign(this.#tool(chunk), { title, providerExecuted, rawInput: "" });
      }
      case "tool-input-delta":
        this.#tool(chunk).rawInput += chunk.inputTextDelta;
        return undefined;
      case "tool-input-available": {
        const part = this.#tool(chunk);
        const { input, providerExecuted = part.providerExecuted, title = part.title } = chunk;
        Object.assign(part, { state: "input-available", input, providerExecuted, title, rawInput: undefined });
        if (chunk.providerMetadata) part.callProviderMetadata = chunk.providerMetadata;
        return part;
      }
      case "tool-input-error": {
        const { input, errorText, providerMetadata: callProviderMetadata } = chunk;
        const change = { state: "output-error", input, errorText, rawInput: undefined, callProviderMetadata };
        return void Object.assign(this.#tool(chunk), change);
      }
      case "tool-approval-request": {
        const { approvalId: id, reason: requestReason, signature, isAutomatic } = chunk;
        const approval = { id, requestReason, signature, isAutomatic };
        return void Object.assign(this.#asked(chunk), { state: "approval-requested", approval });
      }
      case "tool-approval-response": {
        const { approvalId: id, approved, reason } = chunk;
        const part = this.message.parts.findLast((each) => isTool(each) && each.approval?.id === id);
        if (!part) throw new Error(`No approval ${id} was asked for.`);
        return void Object.assign(part, {
          state: "approval-responded",
          approval: { ...part.approval, approved, reason },
        });
      }
      case "tool-output-denied":
        return void Object.assign(this.#asked(chunk), { state: "output-denied" });
      case "tool-output-available": {
        const { output, preliminary, providerMetadata: resultProviderMetadata } = chunk;
        const change = { state: "output-available", output, preliminary, resultProviderMetadata };
        return void Object.assign(this.#asked(chunk), change);
      }
      case "tool-output-error": {
        const { errorText, providerMetadata: resultProviderMetadata } = chunk;
        // A failure after progress: the progress is no output.
        const change = { state: "output-error", errorText, output: undefined, preliminary: undefined };
        return void Object.assign(this.#asked(chunk), { ...change, resultProviderMetadata });
      }
      default:
        // A newer server may send chunks that this page does not know.
        return undefined;
    }
  }

  #data(chunk) {
    if (chunk.transient) return;
    const { parts } = this.message;
    const known = chunk.id && parts.find((part) => part.type === chunk.type && part.id === chunk.id);
    if (known) known.data = chunk.data;
    else parts.push(chunk);
  }

  #metadata({ messageMetadata }) {
    if (messageMetadata) this.message.metadata = merged(this.message.metadata, messageMetadata);
  }
}

// Pages of AG-UI and of CopilotKit that come back to a stored thread: `open(client, api, thread)` returns one.
//
// A page has `say`, `connect` and `answer`, and the messages of its agent. `cut` breaks its connections, as a network does.

import { randomUUID } from 'node:crypto';

// The core connects only in a browser.
globalThis.window ??= globalThis;
const { CopilotKitCore } = await import('@copilotkit/core');

import { generations, textOf, until } from './ag-ui.mjs';

const realFetch = globalThis.fetch;
/** The open streams of each host. */
const streams = new Map();

/** Fetches a stream that `cut` can break. */
async function cuttable(target, options) {
  const response = await realFetch(target, options);
  if (!response.ok || !/event-stream/.test(response.headers.get('content-type')) || !response.body) return response;
  const { host } = new URL(String(target?.url ?? target));
  let breakOff;
  const broken = new Promise((_, reject) => { breakOff = () => reject(new TypeError('terminated')); });
  broken.catch(() => {});
  streams.set(host, [...(streams.get(host) ?? []), breakOff]);
  const reader = response.body.getReader();
  const read = () => Promise.race([reader.read(), broken]);
  // The clients leave the rejection of `cancel` unhandled, which would end the tests.
  const cancel = async () => { reader.cancel().catch(() => {}); };
  const { ok, status, headers } = response;
  return { ok, status, headers, body: { getReader: () => ({ read, cancel }) } };
}
globalThis.fetch = cuttable;

/** Breaks the open streams from a server. */
export function cut(origin) {
  const { host } = new URL(origin);
  for (const breakOff of streams.get(host) ?? []) breakOff();
  streams.delete(host);
}

/** Parameters of a tool, in the form that the core takes from schema libraries. */
const parameters = (properties) => ({
  '~standard': {
    version: 1,
    vendor: 'suite',
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: 'object', properties }), output: () => ({ type: 'object', properties }) },
  },
});

const user = (content) => ({ id: randomUUID(), role: 'user', content });
const isAnswered = (agent, call) => agent.messages.some(({ role, toolCallId }) => role === 'tool' && toolCallId === call.id);
/** Returns the calls of an agent that have no result. */
export const openCalls = (agent) =>
  agent.messages.flatMap(({ toolCalls }) => toolCalls ?? []).filter((call) => !isAnswered(agent, call));

/** Forgets the open questions. Clients refuse to connect while they have some, and the server asks them again. */
function forgetQuestions(agent) {
  agent.pendingInterrupts = [];
}

function openAgUi(lib, api, threadId) {
  class Page extends lib.HttpAgent {
    connect(input) {
      return lib.transformHttpEventStream(lib.runHttpRequest(() => fetch(`${this.url}/connect`, this.requestInit(input))));
    }
  }
  const agent = new Page({ url: `${api}/ag-ui`, threadId });
  const page = { agent, handled: 0 };
  page.say = (text) => {
    agent.addMessage(user(text));
    return agent.runAgent();
  };
  page.connect = () => (forgetQuestions(agent), agent.connectAgent());
  page.interrupts = () => agent.pendingInterrupts;
  page.resume = (resume) => agent.runAgent({ resume });
  /** Runs the front-end tool that the run waits for, as an application does. */
  page.finishTool = async () => {
    const [call] = openCalls(agent);
    page.handled += 1;
    agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId: call.id, content: 'opened' });
    await agent.runAgent();
  };
  return page;
}

async function openCopilotKit(transport, api, threadId) {
  const page = { handled: 0 };
  const finished = [];
  const handler = () => new Promise((resolve) => {
    page.handled += 1;
    finished.push(resolve);
  });
  const core = new CopilotKitCore({
    runtimeUrl: `${api}/copilotkit`,
    runtimeTransport: transport,
    tools: [{ name: 'navigate', type: 'human-in-the-loop', parameters: parameters({ page: { type: 'string' } }), handler }],
  });
  let failed;
  core.subscribe({ onError: ({ error }) => { failed = error; } });
  await until(() => core.runtimeConnectionStatus === 'connected', 'the core is connected');
  const agent = core.getAgent('default');
  agent.threadId = threadId;
  const guarded = async (run) => {
    failed = undefined;
    await run();
    if (failed) throw failed;
  };
  return Object.assign(page, {
    agent,
    say(text) {
      agent.addMessage(user(text));
      return guarded(() => core.runAgent({ agent }));
    },
    connect: () => (forgetQuestions(agent), guarded(() => core.connectAgent({ agent }))),
    interrupts: () => agent.pendingInterrupts,
    resume: (resume) => guarded(() => core.runAgent({ agent, resume })),
    async finishTool() {
      await until(() => finished.length > 0, 'the page asks the user');
      finished.at(-1)('opened');
    },
  });
}

/** Opens a page of a client: `0.0.59` or `1.0.0` of AG-UI, `rest` or `single` of CopilotKit. */
export const open = (client, api, thread) =>
  generations[client] ? openAgUi(generations[client], api, thread) : openCopilotKit(client, api, thread);

/** Returns what the messages of a page say, without the ids and the state that clients keep in them. */
export const said = (agent) =>
  agent.messages.filter(({ role }) => role !== 'activity').map(({ role, content, toolCalls, toolCallId }) => ({
    role,
    content: content ?? '',
    calls: (toolCalls ?? []).map(({ id, function: { name, arguments: input } }) => ({ id, name, input })),
    toolCallId: toolCallId ?? null,
  }));

export { textOf, until };

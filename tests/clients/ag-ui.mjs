// The official AG-UI clients, both generations, and the official schemas in strict form.

import { randomUUID } from 'node:crypto';

import { EventSchemas as events0 } from 'aguicore0';
import { EventSchema as events1 } from 'aguicore1/schemas';
import * as agui0 from 'agui0';
import * as agui1 from 'agui1';

export { until } from '../lib/quickstart.mjs';

export const generations = { '0.0.59': agui0, '1.0.0': agui1 };

/** Returns the warnings and errors that the clients have logged since the last call. */
export function takeComplaints() {
  return complaints.splice(0);
}

const complaints = [];
for (const name of ['warn', 'error']) {
  console[name] = (...words) => complaints.push(words.map((word) => word?.message ?? String(word)).join(' '));
}

/**
 * Returns an `HttpAgent` of one generation that records its traffic.
 *
 * `agent.posted` contains the request bodies, `agent.wire` the received events, and `agent.runs` the client's result of
 * each run.
 */
export function openAgent(lib, url, init = {}) {
  const posted = [];
  const wire = [];
  const runs = [];
  const agent = new lib.HttpAgent({
    url,
    threadId: `thread-${randomUUID()}`,
    ...init,
    fetch: async (target, options) => {
      posted.push(JSON.parse(options.body));
      const response = await fetch(target, options);
      if (!response.ok || !response.body) return response;
      const [read, kept] = response.body.tee();
      agent.reading = keep(kept, wire);
      return new Response(read, { status: response.status, headers: response.headers });
    },
  });
  agent.subscribe({
    onRunFinishedEvent: ({ event, outcome, pendingToolCallIds, interrupts }) => {
      runs.push({ event, outcome, pendingToolCallIds, interrupts });
    },
    onRunErrorEvent: ({ event }) => {
      runs.push({ event, outcome: 'error' });
    },
  });
  return Object.assign(agent, { posted, wire, runs });
}

/** Reads a stream's frames into `wire`. The frames before a cut are kept. */
async function keep(stream, wire) {
  let text = '';
  try {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const frames = text.split('\n\n');
      text = frames.pop();
      wire.push(...frames.filter((frame) => frame.startsWith('data:')).map((frame) => JSON.parse(frame.slice(5))));
    }
  } catch {
    // The client disconnected.
  }
}

/** Sends a message and waits for the end of the run. */
export async function say(agent, content, parameters) {
  agent.addMessage({ id: randomUUID(), role: 'user', content });
  return agent.runAgent(parameters);
}

export const typesOf = (events) => events.map((event) => event.type);
export const lastOf = (agent, role) => agent.messages.findLast((message) => message.role === role);

/** Returns the joined text of the assistant's messages. */
export const textOf = (agent) =>
  agent.messages.filter((message) => message.role === 'assistant').map((message) => message.content ?? '').join('');

const SCHEMAS = { '0.0.59': events0, '1.0.0': events1 };

/** Returns the errors of an event under one generation's schema: values of the wrong type, and unlisted keys. */
export function wrongWith(generation, event) {
  const schema = SCHEMAS[generation];
  const parsed = schema.safeParse(event);
  const problems = parsed.success ? [] : [parsed.error.message];
  strangeIn(schema, event, event.type, problems);
  return problems;
}

/** Walks a value along its schema of either release of zod, and collects nulls and keys that the schema does not list. */
function strangeIn(schema, value, path, problems) {
  const def = schema._def ?? schema.def;
  const kind = (def.typeName ?? def.type).replace(/^Zod/, '').toLowerCase();
  const inner = def.innerType ?? (kind === 'effects' ? def.schema : kind === 'pipe' ? def.in : undefined);
  if (inner) {
    if (value === null) problems.push(`${path} is null`);
    else strangeIn(inner, value, path, problems);
  } else if (kind === 'object' && value && typeof value === 'object') {
    const shape = typeof def.shape === 'function' ? def.shape() : def.shape;
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(shape, key)) problems.push(`${path}.${key} is not listed`);
      else strangeIn(shape[key], value[key], `${path}.${key}`, problems);
    }
  } else if (kind === 'array' && Array.isArray(value)) {
    const element = def.element ?? def.type;
    value.forEach((item, index) => strangeIn(element, item, `${path}[${index}]`, problems));
  } else if (kind.includes('union')) {
    const literal = (option) => {
      const literals = option.shape?.[def.discriminator]?._def ?? option.shape?.[def.discriminator]?.def;
      return literals?.value ?? literals?.values?.[0];
    };
    const options = Array.isArray(def.options) ? def.options : [...def.options.values()];
    const fits = (option) =>
      def.discriminator ? literal(option) === value?.[def.discriminator] : option.safeParse(value).success;
    const option = options.find(fits);
    if (option) strangeIn(option, value, path, problems);
    else problems.push(`${path} is of no known kind`);
  }
}

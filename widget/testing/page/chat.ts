// A stand-in for the chat: runs the registered tools, and takes the context of a send.

import { page as registry } from '../../src/chat/registry.js';
import { page } from '../../src/page/index.js';

const asked: string[] = [];

async function call(name: string, input: unknown, agrees = false): Promise<unknown> {
  const handler = registry.tools.get(name)?.handler;
  if (!handler) return { error: `There is no tool ${name}.` };
  try {
    const run = {
      signal: new AbortController().signal,
      toolCallId: 'call-1',
      confirm: async (question: string) => asked.push(question) > 0 && agrees,
    };
    return JSON.parse(JSON.stringify((await handler(input as never, run)) ?? null));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

Object.assign(window, {
  asked,
  call,
  page,
  registry,
  takeContext: () => JSON.parse(JSON.stringify(registry.takeContext())),
});

export { page, registry };

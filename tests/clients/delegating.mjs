// The same script of a model for three libraries: a model that asks another agent whenever it may.

import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { z } from 'zod';

import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { versions } from './chat.mjs';

/** The tokens of each answer, unless the request has a lower maximum. */
const OUTPUT = 8_000;
/** The model calls after which the script asks no more, so that each run ends. */
export const END = 200;

const INSTRUCTIONS = 'You research questions. Ask a researcher about each part.';
export const QUESTION = 'Compare all lamps.';

/**
 * Starts a model server on which every answer asks the first tool that it is offered, until `END`. `used` returns the
 * model calls and the tokens so far, and `restart` begins to count again.
 */
export async function startDelegating() {
  let calls = 0;
  let tokens = 0;
  const model = await startFakeOpenAi({
    answer(body) {
      calls += 1;
      const input = Math.ceil(JSON.stringify(body).length / 4);
      const output = Math.min(OUTPUT, body.max_completion_tokens ?? body.max_tokens ?? OUTPUT);
      if (calls <= END) tokens += input + output;
      const turn = { usage: { input, output, cached: 0, reasoning: 0 }, pace: 'none' };
      const offered = body.tool_choice === 'none' ? undefined : body.tools?.[0]?.function;
      if (!offered || calls >= END) return { ...turn, text: 'I know a part of it.' };
      const [name] = Object.keys(offered.parameters.properties);
      return { ...turn, calls: [{ id: `call_${calls}`, name: offered.name, args: { [name]: `Part ${calls}` } }] };
    },
  });
  const restart = () => {
    [calls, tokens] = [0, 0];
    model.script();
  };
  return { ...model, restart, used: () => ({ calls: Math.min(calls, END), tokens }) };
}

/** An agent as a tool of itself, as the manual of the AI SDK writes subagents. */
export async function aiSdk(baseURL, { ToolLoopAgent, tool } = versions.v7) {
  const researcher = new ToolLoopAgent({
    model: createOpenAI({ baseURL, apiKey: 'unused' }).chat('scripted-model'),
    instructions: INSTRUCTIONS,
    tools: {
      researcher: tool({
        description: 'Answers one question.',
        inputSchema: z.object({ task: z.string() }),
        execute: async ({ task }, { abortSignal }) => (await researcher.stream({ prompt: task, abortSignal })).text,
      }),
    },
  });
  return (await researcher.stream({ prompt: QUESTION })).text;
}

/** An agent as a tool of itself, by `asTool` of the OpenAI Agents SDK. */
export async function agentsSdk(baseURL) {
  setTracingDisabled(true);
  const modelProvider = new OpenAIProvider({ baseURL, apiKey: 'unused', useResponses: false });
  const researcher = new Agent({ name: 'researcher', model: 'scripted-model', instructions: INSTRUCTIONS });
  researcher.tools.push(researcher.asTool({
    toolDescription: 'Answers one question.', runConfig: { modelProvider, tracingDisabled: true }, onStream() {},
  }));
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const result = await runner.run(researcher, QUESTION, { stream: true });
  await result.completed;
  return result.finalOutput;
}

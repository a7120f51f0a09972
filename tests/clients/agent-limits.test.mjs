// The cost of a model that asks another agent whenever it may. The other libraries get the same script, to compare.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { startResearchDesk } from '../lib/research-desk.mjs';
import { END, QUESTION, agentsSdk, aiSdk, startDelegating } from './delegating.mjs';
import { runOnce, user } from './wire.mjs';

/** The limits of the research desk, and the tokens that one agent may write beyond them. */
const [TOKENS, MODEL_CALLS, BEYOND] = [200_000, 60, 64];

let model;
let desk;
before(async () => {
  model = await startDelegating();
  desk = await startResearchDesk({
    OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'unused', OMNIASSIST_MODEL: 'scripted-model',
  });
});
after(async () => {
  await desk?.stop();
  await model?.stop();
});
beforeEach(() => model.restart());

test('a model that always delegates is stopped by the limits, and answers', async (t) => {
  const { chunks, done } = await runOnce(`${desk.origin}/assistant/agents/planner`, [user(QUESTION)]);
  const { calls, tokens } = model.used();
  const ended = chunks.filter((chunk) => chunk.type === 'data-agent' && chunk.data.status !== 'running');
  const agents = 1 + ended.length;
  const reasons = [...new Set(ended.map((chunk) => chunk.data.reason ?? 'completed'))].sort();
  t.diagnostic(`omniassist: ${calls} model calls, ${tokens} tokens, ${agents} agents; they ended: ${reasons.join(', ')}`);

  const text = chunks.filter((chunk) => chunk.type === 'text-delta').map((chunk) => chunk.delta).join('');
  assert.deepEqual([text, chunks.at(-1).type, done], ['I know a part of it.', 'finish', true]);
  assert.ok(calls <= MODEL_CALLS, `${calls} model calls`);
  assert.ok(tokens <= TOKENS + BEYOND * agents, `${tokens} tokens with ${agents} agents`);
  assert.ok(tokens > TOKENS / 2, `the tokens are not the limit: ${tokens}`);
});

for (const [name, run] of Object.entries({ 'AI SDK 7': aiSdk, 'OpenAI Agents SDK': agentsSdk })) {
  test(`beside it: a model that always delegates, with the ${name}`, { timeout: 120_000 }, async (t) => {
    const end = await run(model.baseUrl).then((text) => `the answer "${text}"`, (error) => `${error.name}: ${error.message}`);
    const { calls, tokens } = model.used();
    const by = calls < END ? 'by itself' : `by the script, after ${END} calls`;
    t.diagnostic(`${name}: ${calls} model calls, ${tokens} tokens; stopped ${by}, with ${end}`);
    assert.ok(calls > 1, 'the agent was asked');
  });
}

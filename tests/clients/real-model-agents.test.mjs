// A real model as several agents. The tests check who has worked and that there is an answer, but not the wording. At
// temperature 0 a server repeats its answers; another model may fail two of ten.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startDeskWithRealModel } from '../lib/real-model.mjs';
import { last, openChat, textOf, toolParts, versions } from './chat.mjs';
import { explore } from './explore.mjs';

const ANSWER_MS = 120_000;
/** The most tokens of one model call, so that a small model does not write without end. Longer work is `incomplete`. */
const MOST = 96;
const NEEDED = 8;

/** None of them is in the examples of the tools. */
const questions = [
  ['chairs', 'benches'], ['desks', 'tables'], ['bicycles', 'buses'], ['dogs', 'cats'], ['pianos', 'violins'],
  ['rivers', 'lakes'], ['apples', 'bananas'], ['winter', 'summer'], ['coffee', 'tea'], ['books', 'films'],
];

let desk;
before(async () => {
  desk = await startDeskWithRealModel(MOST);
});
after(() => desk?.stop());

/** Asks each question, and fails unless enough have an answer. `ask` returns `{ isAnswered, note }`. */
async function most(t, ask) {
  let answered = 0;
  for (const things of questions) {
    const since = Date.now();
    const { isAnswered, note } = await ask(things).catch((error) => ({ isAnswered: false, note: `${error}` }));
    answered += Number(isAnswered);
    t.diagnostic(`${things.join(', ')}: ${isAnswered ? 'answered' : 'no answer'}; ${note}; ${Date.now() - since} ms`);
  }
  t.diagnostic(`answered: ${answered} of ${questions.length}`);
  assert.ok(answered >= NEEDED, `${answered} of ${questions.length}`);
}

const options = { timeout: questions.length * ANSWER_MS };

test('an agent asks two researchers in a tool, and answers', options, (t) => most(t, async ([first, second]) => {
  const chat = openChat(versions.v7, `${desk.origin}/assistant/agents/editor`);
  await chat.sendMessage({ text: `Compare ${first} and ${second}` });
  const { parts } = last(chat);
  const reports = parts.filter((part) => part.type === 'data-agent').map((part) => part.data);
  const researchers = reports.filter(({ status, text }) => ['completed', 'incomplete'].includes(status) && text.trim());
  const call = toolParts(last(chat)).find((part) => part.type === 'tool-compare' && part.state === 'output-available');
  return {
    isAnswered: chat.status === 'ready' && call !== undefined && researchers.length >= 2 && textOf(last(chat)).trim() !== '',
    note: `${researchers.length} researchers for ${JSON.stringify(call?.input)}`,
  };
}));

test('a tree over the WebSocket ends with an answer', options, (t) => most(t, async ([first, second]) => {
  const prompt = `What is the use of ${first}? What is the use of ${second}?`;
  const { nodes } = await explore(desk, prompt, 'Go on.', ANSWER_MS);
  const [root, ...below] = Object.values(nodes);
  const researchers = below.filter((node) => node.status === 'completed' && node.result?.trim());
  // The model decides into how many parts it divides the question.
  return {
    isAnswered: root?.isFinalAnswer === true && Boolean(root.result?.trim()) && researchers.length === below.length,
    note: `${researchers.length} of ${below.length} researchers`,
  };
}));

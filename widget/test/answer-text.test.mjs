import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerText } from '../out/ui/answer-text.js';

const spoken = (text) => answerText({ id: 'a', role: 'assistant', parts: [{ type: 'text', text }] });

test('an answer is spoken without the marks of Markdown', () => {
  const text = '## Lamps\n\n- **Two** are [in `stock`](https://a.example/1)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n> ![Lamp](l.png)';
  assert.equal(spoken(text), 'Lamps Two are in stock a b 1 2 Lamp');
});

// Quadratic time would be hours.
test('any text is read in linear time', { timeout: 10_000 }, () => {
  for (const piece of ['\n', '\n|', ' |', '[', '[a](', '|:', '*'])
    assert.ok(spoken(`Hello ${piece.repeat(100_000)}`).startsWith('Hello'));
});

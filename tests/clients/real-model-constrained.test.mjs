// A real model whose tool calls are constrained by a JSON schema. The tests check the chosen tool, but not the wording.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { real, startWithRealModel } from '../lib/real-model.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';

const ANSWER_MS = 300_000;
const options = { timeout: 2 * ANSWER_MS };
const ai = versions.v7;

let app;
before(async () => {
  app = await startWithRealModel({ OMNIASSIST_CONSTRAINED_TOOLS: '1' });
});
after(() => app?.stop());

test('constrained: a server tool is chosen and run', options, async () => {
  const chat = openChat(ai, app.api);
  await chat.sendMessage({ text: real.list.question });
  const part = toolParts(last(chat)).find((part) => part.type === `tool-${real.list.tool}`);
  assert.equal(part?.state, 'output-available', JSON.stringify(last(chat).parts));
  assert.equal(part.input.city, real.list.city);
  assert.ok(!textOf(last(chat)).includes('"tool"'), textOf(last(chat)));
});

test('constrained: a client tool is chosen, and the run continues', options, async () => {
  const ran = [];
  const chat = openChat(ai, app.api, {
    pageTools: { [real.navigate.tool]: (input) => (ran.push(input), { opened: 'Customers' }) },
  });
  await chat.sendMessage({ text: real.navigate.question });
  const shown = () => `${chat.status} ${chat.error ?? ''} ${JSON.stringify(last(chat).parts)}`;
  await until(() => chat.status === 'error' || (chat.status === 'ready' && /"text"/.test(shown())), shown, ANSWER_MS);
  assert.deepEqual(ran.map(({ page }) => page), [real.navigate.page], shown());
});

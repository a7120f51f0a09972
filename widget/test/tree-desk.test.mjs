// `<omniassist-agents>` with the research desk.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test as testAlways } from 'node:test';

import { startResearchDesk } from '../../tests/lib/research-desk.mjs';
import { openBrowser } from '../testing/page.mjs';
import { bundle, openBefore } from '../testing/tree-page.mjs';
import { program } from '../testing/programs.mjs';

program('RESEARCH_DESK_BIN', 'research-desk');
const test = (name, run) => testAlways(name, { timeout: 60_000 }, run);

let browser;
let desk;
let folder;
let script;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tree-desk-'));
  script = await bundle("import { defineAgents } from './tree/index.js'; defineAgents();");
  [browser, desk] = await Promise.all([openBrowser(), startResearchDesk({ RESEARCH_DESK_CHATS: join(folder, 'chats.db') })]);
});
after(async () => {
  await browser?.close();
  await desk?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const BODY = '<omniassist-agents api="/assistant"></omniassist-agents>';
const open = async (options) => {
  const view = await openBefore(browser, desk.origin, script, { body: BODY, ...options });
  await view.page.locator('[part=connection]', { hasText: /^connected$/ }).waitFor();
  return view;
};
const item = (page, title) => page.locator('[role=treeitem]', { has: page.locator(`> [part=node] [part=title]:text-is("${title}")`) });
const ask = async (page, task) => {
  await page.getByLabel('Task for the agents').fill(task);
  await page.keyboard.press('Enter');
};
const nodes = (page) =>
  page.locator('omniassist-agents').evaluate(({ nodes }) => {
    const plain = ({ children, ...node }) => ({ ...node, children: children?.map(plain) });
    return nodes.map(plain);
  });

test('contract_004_22_23_24 a task becomes a tree, the question is answered in place, and the root has the final answer', async () => {
  const { page, close } = await open();
  await ask(page, 'Compare lamps and candles');
  const root = item(page, 'Compare lamps and candles').first();
  await page.getByRole('group', { name: 'What matters most to you?' }).waitFor();
  assert.equal((await nodes(page))[0].userPrompt, 'What matters most to you?');
  await root.locator('[part=form] textarea').fill('The price');
  await root.getByRole('button', { name: 'Answer', exact: true }).click();
  await item(page, 'What speaks for candles?').waitFor();
  await page.locator('[data-final]').waitFor();

  const [tree, ...others] = await nodes(page);
  assert.equal(others.length, 0);
  assert.deepEqual(
    [tree.title, tree.status, tree.isFinalAnswer, tree.parentId, tree.userPrompt, tree.isExpanded],
    ['Compare lamps and candles', 'completed', true, undefined, undefined, true],
  );
  assert.match(tree.content, /^In short/);
  assert.deepEqual(
    tree.children.map(({ title, status, parentId }) => [title, status, parentId]),
    [
      ['What speaks for lamps?', 'completed', tree.id],
      ['What speaks for candles?', 'completed', tree.id],
    ],
  );
  // The user sees what the nodes have.
  assert.equal(await root.locator('> [part=node] [part~=content] li').count(), 2, 'an answer is Markdown');
  assert.match(tree.children[0].content, /The demo knows no facts/);
  assert.equal(await item(page, 'What speaks for lamps?').locator('[part~=content]').last().innerText(), tree.children[0].content);
  assert.equal(await page.getByText('Final answer', { exact: true }).isVisible(), true);
  assert.match(await page.locator('[part=hidden]').innerText(), /^Final answer: In short/);

  // A new task clears the nodes.
  await ask(page, 'What is a lamp?');
  await page.waitForFunction(() => document.querySelector('omniassist-agents').nodes[0]?.title === 'What is a lamp?');
  await page.locator('[data-final]').waitFor();
  assert.deepEqual((await nodes(page)).map(({ title, children }) => [title, children]), [['What is a lamp?', undefined]]);
  await close();
});

test('contract_004_25 a lost connection is shown, the agents end, and the next task works without a reload', async () => {
  const { page, server, close } = await open();
  await ask(page, 'Compare lamps and candles');
  await page.getByRole('group', { name: 'What matters most to you?' }).waitFor();
  server.refuse(true);
  server.cut();
  await page.locator('[part=connection]', { hasText: 'not connected' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Start' }).isDisabled(), true);
  server.refuse(false);
  await page.locator('[part=connection]', { hasText: /^connected$/ }).waitFor();
  // The tree belonged to the connection.
  await page.getByText('The connection broke, and the agents ended. Start again.').waitFor();
  assert.equal((await nodes(page))[0].status, 'cancelled');
  assert.equal(await page.getByRole('group', { name: 'What matters most to you?' }).count(), 0);
  await ask(page, 'What is a candle?');
  await page.waitForFunction(() => document.querySelector('omniassist-agents').nodes[0]?.title === 'What is a candle?');
  await item(page, 'What is a candle?').waitFor();
  assert.equal(await page.locator('[part=error]').innerText(), '');
  await close({ expected: /WebSocket connection/ });
});

test('contract_004_25 the tree of a stored chat is there after the connection was lost, and after a reload', async () => {
  const { page, server, close } = await open({ body: BODY.replace('>', ' chat="one">') });
  await ask(page, 'What is a lamp?');
  await page.locator('[data-final]').waitFor();
  const before = (await nodes(page))[0];
  assert.match(before.content, /The demo knows no facts/);
  server.cut();
  await page.locator('[part=connection]', { hasText: 'not connected' }).waitFor();
  await page.locator('[part=connection]', { hasText: /^connected$/ }).waitFor();
  await page.reload();
  await page.locator('[data-final]').waitFor();
  const { id, title, status, content } = (await nodes(page))[0];
  assert.deepEqual([id, title, status, content], [before.id, before.title, 'completed', before.content]);
  await close({ expected: /WebSocket connection/ });
});

// What `<omniassist-agents>` makes of frames and connections that the tests write.

import assert from 'node:assert/strict';
import { asking, framesSuite, state } from '../testing/tree-frames.mjs';

const test = framesSuite();

test('enter in the reason of an approval decides nothing', async ({ page, say, sent }) => {
  await say(asking('r', null, 'Refund 5000 EUR?', { input: { amount: 5000 } }));
  const reason = page.getByLabel('Reason for decision (optional)');
  await reason.fill('This is far too much');
  await reason.press('Enter');
  await reason.press('Shift+Enter');
  assert.deepEqual(await sent(), []);
  await page.getByRole('button', { name: 'Deny' }).click();
  assert.deepEqual(await sent(), [
    { type: 'call-response', agentId: 'r', queryId: 'query-r', approved: false, reason: 'This is far too much' },
  ]);
});

test('an address of the assistant is relative to the base of the page, as that of a chat is', async ({ page }) => {
  const url = await page.evaluate(() => {
    document.head.append(Object.assign(document.createElement('base'), { href: '/shop/' }));
    document.querySelector('omniassist-agents').setAttribute('api', 'assistant');
    return window.sockets.at(-1).url;
  });
  assert.equal(new URL(url).pathname, '/shop/assistant/ws');
});

test('enter in a check box of a form sends the form, and declines nothing', async ({ page, say, sent }) => {
  await say(asking('r', null, 'What is returned?', { schema: { properties: { insured: { type: 'boolean' } } } }));
  await page.getByLabel('Insured').press('Enter');
  assert.deepEqual(await sent(), [
    { type: 'call-response', agentId: 'r', queryId: 'query-r', approved: true, output: { insured: false } },
  ]);
});

test('fields with the names of members of a form are drawn and removed, and other agents go on', async ({ page, say, sent }) => {
  const names = ['addEventListener', 'append', 'matches', 'querySelector', 'remove', 'requestSubmit'];
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  await say(state('r', null), asking('a', 'r', 'Season?', { schema: { properties } }), state('b', 'r'));
  const field = page.getByRole('group', { name: 'Season?' }).getByRole('textbox').first();
  await field.fill('2');
  await field.press('Enter');
  assert.deepEqual((await sent()).map(({ output }) => output), [{ addEventListener: '2' }]);
  await say(state('a', 'r', { status: 'completed', result: 'Done', queries: [] }), state('b', 'r', { status: 'completed', result: 'Result of B' }));
  assert.equal(await page.getByRole('group', { name: 'Season?' }).count(), 0);
  await page.getByText('Result of B').waitFor();
});

test('a node that cannot be drawn leaves the others as they are', async ({ page, say, problems }) => {
  await say(state('r', null));
  await say(state('a', 'r', { status: 'completed', result: 5 }), state('b', 'r', { userContent: 'Whole' }));
  await page.getByText('Whole').waitFor();
  assert.match(problems.splice(0).join(), /TypeError/);
});

test('a question whose answer was lost with the connection can be answered again', async ({ page, say, sent, drop }) => {
  const frames = [state('r', null, { status: 'waiting-for-user' }), { type: 'user-query', agentId: 'r', queryId: 'q1', prompt: 'Which city?' }];
  await say(...frames);
  const field = page.getByLabel('Which city?');
  await field.fill('Oslo');
  await field.press('Enter');
  assert.ok(await field.isDisabled());
  await drop();
  await say(...frames, { type: 'agent-tree', agentIds: ['r'] });
  assert.equal(await field.inputValue(), 'Oslo');
  await field.press('Enter');
  const answer = { type: 'user-response', agentId: 'r', response: 'Oslo' };
  assert.deepEqual(await sent(), [answer, answer]);
});

test('what the user has entered stays to be copied when a question ends without an answer', async ({ page, say, sent }) => {
  const waits = state('t', 'r', { status: 'waiting-for-user' });
  await say(state('r', null), waits, { type: 'user-query', agentId: 't', queryId: 'q1', prompt: 'Which city?' });
  const schema = { properties: { city: { type: 'string' }, insured: { type: 'boolean' } } };
  await say(asking('f', 'r', 'Where to?', { schema }), asking('a', 'r', 'Refund it?', { input: { amount: 5 } }));
  await page.getByLabel('Which city?').fill('Oslo\nor Bergen');
  await page.getByRole('group', { name: 'Where to?' }).getByLabel('City').fill('Turin');
  await page.getByLabel('Reason for decision (optional)').fill('It is broken');
  const ends = ['t', 'f', 'a'].map((id) => state(id, 'r', { status: 'failed', queries: [] }));
  await say(...ends);
  assert.deepEqual(await page.locator('[role=treeitem] form, [role=treeitem] [part=approval]').count(), 0);
  const notes = await page.locator('.remark:visible').allInnerTexts();
  assert.deepEqual(notes, ['not answered: Oslo\nor Bergen', 'not answered: Turin', 'not answered: It is broken']);
  assert.deepEqual(await sent(), []);
});

test('an answer that was sent leaves no note', async ({ page, say, sent }) => {
  await say(state('r', null, { status: 'waiting-for-user' }), { type: 'user-query', agentId: 'r', queryId: 'q1', prompt: 'Which city?' });
  const field = page.getByLabel('Which city?');
  await field.fill('Oslo');
  await field.press('Enter');
  await say(state('r', null));
  assert.equal(await field.count(), 0);
  assert.deepEqual([(await sent()).length, await page.locator('.remark:visible').count()], [1, 0]);
});

test('a remark without a connection stays, and the user reads why', async ({ page, say, sent, drop, connect }) => {
  const problem = page.getByText('The assistant cannot be reached. Check your connection, then try again.');
  await say(state('r', null));
  await page.getByRole('treeitem').focus();
  await drop({ refuses: true });
  const remark = page.getByLabel('Remark for this agent');
  await remark.fill('Use metric units');
  await remark.press('Enter');
  await problem.waitFor();
  assert.equal(await remark.inputValue(), 'Use metric units');
  await connect();
  await problem.waitFor({ state: 'detached' });
  await remark.press('Enter');
  assert.equal(await remark.inputValue(), '');
  await drop({ refuses: true });
  await page.getByRole('button', { name: 'Pause' }).click();
  await problem.waitFor();
  assert.deepEqual(await sent(), [{ type: 'user-intervention', agentId: 'r', userComment: 'Use metric units' }]);
});

test('another chat begins with an empty tree, and the same one comes back', async ({ page, say }) => {
  await say(state('r', null));
  const tree = page.locator('omniassist-agents');
  for (const [chat, frames] of [['two', []], ['one', [state('r', null)]]]) {
    await tree.evaluate((node, chat) => node.setAttribute('chat', chat), chat);
    await page.waitForFunction((chat) => window.sockets.at(-1).url.endsWith(`chat=${chat}`) && window.sockets.at(-1).readyState === 1, chat);
    await say(...frames, { type: 'agent-tree', agentIds: frames.map(({ agentId }) => agentId) });
    assert.equal(await page.getByRole('treeitem').count(), frames.length);
    assert.equal(await page.locator('[part=error]').innerText(), '');
  }
});

test('all questions of a frame are announced, and a root that fails or is cancelled', async ({ page, say }) => {
  const status = page.locator('p[role=status]');
  const ask = (agentId, prompt) => ({ type: 'user-query', agentId, queryId: agentId, prompt });
  await say(state('r', null), state('a', 'r'), state('b', 'r'), ask('a', 'City?'), ask('b', 'Date?'));
  assert.equal(await status.textContent(), 'Part a asks: City? Part b asks: Date?');
  await say(state('r', null, { status: 'failed' }));
  assert.equal(await status.textContent(), 'Part r: failed');
  await say(state('s', null), state('s', null, { status: 'cancelled' }));
  assert.equal(await status.textContent(), 'Part s: cancelled');
});

test('long arguments can be edited as a whole', async ({ page, say, sent }) => {
  const input = { to: 'ann@x.example', body: 'x'.repeat(21_000) };
  await say(asking('r', null, 'Send?', { editable: true, input }));
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('To').fill('bob@x.example');
  await page.getByRole('button', { name: 'Approve' }).click();
  const [edited] = (await sent()).map((frame) => frame.arguments);
  assert.deepEqual([edited?.to, edited?.body.length], ['bob@x.example', 21_000]);
});

test('an element that is moved in the page keeps its connection, and one that is removed ends it', async ({ page, say, problems }) => {
  await say(state('r', null));
  const sockets = () => page.evaluate(() => window.sockets.map(({ readyState }) => readyState));
  await page.evaluate(() => document.body.append(document.querySelector('omniassist-agents')));
  assert.deepEqual(await sockets(), [1]);
  await page.getByRole('treeitem').first().waitFor();
  await page.evaluate(() => {
    window.agents = document.querySelector('omniassist-agents');
    window.agents.remove();
  });
  assert.deepEqual(await sockets(), [3]);
  await page.evaluate(() => document.body.append(window.agents));
  await page.locator('[part=connection]', { hasText: /^connected$/ }).waitFor();
  assert.deepEqual(await sockets(), [3, 1]);
  assert.deepEqual(problems, []);
});

test('hidden characters of arguments are seen, and edited arguments have them still', async ({ page, say, sent }) => {
  await say(asking('r', null, 'Pay?', { editable: true, input: { to: 'ann\u{e0041}\ufff9', amount: 1 } }));
  assert.equal(await page.locator('dd').first().innerText(), 'ann\\udb40\\udc41\\ufff9');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Amount').fill('2');
  await page.getByRole('button', { name: 'Approve' }).click();
  assert.deepEqual((await sent()).map((frame) => frame.arguments), [{ to: 'ann\u{e0041}\ufff9', amount: 2 }]);
});

test('an item is named by its title and its status, without the agents below', async ({ page, say }) => {
  await say(state('r', null, { userContent: 'Root' }), state('a', 'r'), { type: 'text-delta', agentId: 'r', delta: 'Some text' });
  await page.getByRole('treeitem', { name: 'Root running', exact: true }).waitFor();
  await page.getByRole('treeitem', { name: 'Part a running', exact: true }).waitFor();
});

test('an error is shown until the next action of the user', async ({ page, say }) => {
  await say(state('r', null, { status: 'waiting-for-user' }), { type: 'user-query', agentId: 'r', queryId: 'q1', prompt: 'Which city?' });
  const refuse = () => say({ type: 'error', error: 'There is no such city.' });
  const error = page.locator('[part=error]', { hasText: 'There is no such city.' });
  const field = page.getByLabel('Which city?');
  await refuse();
  await error.waitFor();
  await field.fill('Oslo');
  await field.press('Enter');
  await error.waitFor({ state: 'detached' });
  await refuse();
  await error.waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await error.waitFor({ state: 'detached' });
});

test('an answer about a call is sent once, and again after the server has refused it', async ({ page, say, sent }) => {
  for (const [name, call] of [['Approve', { input: { amount: 1 } }], ['Send', { schema: { properties: { city: { type: 'string' } } } }]]) {
    const before = (await sent()).length;
    await say(asking(name, null, 'Pay?', call));
    const button = page.getByRole('group', { name: 'Pay?' }).getByRole('button', { name });
    await button.evaluate((node) => (node.click(), node.click()));
    assert.equal((await sent()).length, before + 1, name);
    await say({ type: 'error', error: 'Not now.' });
    await button.click();
    assert.equal((await sent()).length, before + 2, name);
  }
});

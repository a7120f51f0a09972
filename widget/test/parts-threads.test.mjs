import assert from 'node:assert/strict';
import { partsSuite } from '../testing/parts-page.mjs';

const test = partsSuite();

const stored = () => [
  { id: 'c1', title: 'Refund of order 1002', updatedAt: '2026-03-01T10:00:00Z' },
  { id: 'c2', title: 'Sales <b>by</b> region', updatedAt: '2026-02-03T10:00:00Z', run: { state: 'waiting' } },
  { id: 'c3', updatedAt: 'no date', run: { state: 'running' } },
  { id: 'c4', title: 'Late delivery', run: { state: 'finished' } },
];
const openList = (view, threads = stored()) => view.page.evaluate((threads) => window.openThreads(threads), threads);
const titles = (view) => view.root.locator('[part~=thread-title]').allInnerTexts();
const row = (view, id) => view.root.locator(`li[data-id=${id}]`);

test('the list shows titles, states and days, and marks the open chat', async (view) => {
  await openList(view);
  const rows = await view.root.locator('[part~=thread]').evaluateAll((nodes) =>
    nodes.map((node) => [node.innerText.replace(/\s+/g, ' ').trim(), node.getAttribute('aria-current')]),
  );
  assert.deepEqual(rows, [
    ['Refund of order 1002 Mar 1', 'true'],
    ['Sales <b>by</b> region waiting for you', null],
    ['Chat answering', null],
  ]);
  await view.root.getByRole('button', { name: 'More chats' }).click();
  await row(view, 'c4').waitFor();
  assert.equal(await view.root.getByRole('button', { name: 'More chats' }).count(), 0);
});

test('a chat is opened, and its row stays the same node', async (view) => {
  await openList(view);
  await view.page.evaluate(() => {
    window.kept = window.root.querySelector('li[data-id=c2]');
    window.root.addEventListener('thread-open', ({ detail }) => window.fired.push(detail), { once: true });
  });
  await row(view, 'c2').getByRole('button', { name: /^Sales/ }).click();
  assert.deepEqual((await view.calls()).at(-1), ['setChatId', 'c2']);
  assert.deepEqual(await view.page.evaluate(() => window.fired), [{ chatId: 'c2' }]);
  await view.page.evaluate(() => window.list.load());
  assert.ok(await view.page.evaluate(() => window.kept.isConnected && window.kept.querySelector('[aria-current]')));
});

test('a chat is renamed in place; Escape keeps its title', async (view) => {
  await openList(view);
  const rename = row(view, 'c1').getByRole('button', { name: 'Rename “Refund of order 1002”' });
  await rename.click();
  const field = view.root.getByLabel('Title');
  assert.equal(await field.inputValue(), 'Refund of order 1002');
  await field.evaluate((input) => input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true })));
  assert.equal(await field.count(), 1, 'the key ends a composition only');
  await field.press('Escape');
  assert.equal(await view.page.evaluate(() => window.focused()), 'Rename “Refund of order 1002”');
  await rename.click();
  await field.fill(' Money back ');
  await field.press('Enter');
  assert.deepEqual((await view.calls()).at(-1), ['renameThread', 'c1', 'Money back']);
  assert.equal((await titles(view))[0], 'Money back');
  await view.page.evaluate(() => (window.answers.renameThread = () => Promise.reject(new Error('offline'))));
  await row(view, 'c1').getByRole('button', { name: /^Rename/ }).click();
  await field.fill('Lost');
  await field.press('Enter');
  await view.root.getByText('The chats could not be loaded.').waitFor();
  assert.equal((await titles(view))[0], 'Money back', 'a title that the server refused does not stay');
});

test('a chat is deleted after a question in the list, once', async (view) => {
  await openList(view);
  const remove = row(view, 'c2').getByRole('button', { name: 'Delete “Sales <b>by</b> region”' });
  await remove.click();
  const question = view.root.getByRole('group', { name: 'Delete “Sales <b>by</b> region”?' });
  assert.equal(await view.page.evaluate(() => window.focused()), 'Cancel');
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await question.count(), 0);
  await remove.click();
  await question.getByRole('button', { name: 'Delete' }).evaluate((button) => (button.click(), button.click()));
  await row(view, 'c2').waitFor({ state: 'detached' });
  assert.deepEqual((await view.calls()).filter(([name]) => name === 'deleteThread'), [['deleteThread', 'c2']]);
  await row(view, 'c4').waitFor();
  assert.equal(await view.page.evaluate(() => window.root.activeElement.closest('li')?.dataset.id), 'c3');
});

test('the list is searched, and a late answer of an earlier search is dropped', async (view) => {
  await openList(view);
  const search = view.root.getByRole('searchbox', { name: 'Search chats' });
  await view.page.evaluate(() => {
    window.answers.threads = ({ query }) =>
      query === 'sales'
        ? new Promise((done) => (window.late = () => done({ threads: [{ id: 'c2', title: 'Sales' }], nextCursor: null })))
        : undefined;
  });
  await search.fill('sales');
  await view.page.waitForFunction(() => window.late);
  await search.fill('late');
  await row(view, 'c4').waitFor();
  await view.page.evaluate(() => window.late());
  assert.deepEqual(await titles(view), ['Late delivery']);
  await search.fill('nothing like it');
  await view.root.getByText('No chat found.').waitFor();
});

test('a list that cannot be loaded stays, and is loaded again', async (view) => {
  await openList(view);
  await view.page.evaluate(() => (window.answers.threads = () => Promise.reject(new Error('offline'))) && window.list.load());
  assert.equal((await titles(view)).length, 3);
  await view.root.getByText('The chats could not be loaded.').waitFor();
  await view.page.evaluate(() => delete window.answers.threads);
  await view.root.getByRole('button', { name: 'Try again' }).click();
  await view.root.getByText('The chats could not be loaded.').waitFor({ state: 'detached' });
  await openList(view, []);
  await view.root.getByText('No chats yet.').waitFor();
});

test('the focus goes to the search when its row is no longer found', async (view) => {
  await openList(view);
  await view.root.getByLabel('Search chats').fill('Sales');
  await row(view, 'c1').getByRole('button', { name: /^Delete/ }).click();
  await row(view, 'c1').waitFor({ state: 'detached' });
  assert.equal(await view.page.evaluate(() => window.focused()), 'Search chats');
});

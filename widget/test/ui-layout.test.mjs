// The layout of messages in a narrow window: what is cut, what wraps, and what is beside what.

import assert from 'node:assert/strict';
import { samples } from '../testing/samples.mjs';
import { enter } from '../testing/states.mjs';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();
const NARROW = { attributes: 'mode="panel"', width: 400 };
const answer = (...parts) => ({ messages: [{ id: 'a1', role: 'assistant', parts }] });
const text = (text) => ({ type: 'text', text, state: 'done' });
const box = (locator) => locator.boundingBox();

test('a block of code has letters as large as those of code in a line', NARROW, async (view) => {
  await view.change(answer(text('Call `total()`:\n\n```js\ntotal();\n```')));
  const sizes = await view.part('text').locator('code').evaluateAll((codes) => codes.map((code) => getComputedStyle(code).fontSize));
  assert.equal(sizes.length, 2);
  assert.equal(sizes[1], sizes[0]);
});

for (const locale of ['en', 'ar']) {
  const options = { ...NARROW, attributes: `mode="panel" locale="${locale}"` };
  test(`the line of a call wraps beside its icon, and the title comes first: ${locale}`, options, async (view) => {
    const summary = '25.00 EUR to Frances Allen for order 1002, two notebooks that are dotted';
    const call = { type: 'tool-refund', toolCallId: 't1', state: 'output-available', input: {}, output: 1 };
    const [message] = answer(call).messages;
    const metadata = { omniassist: { tools: { t1: { title: 'Refund order', summary } } } };
    await view.change({ messages: [{ ...message, metadata }] });
    const icon = await box(view.part('tool-icon'));
    const lines = await view.part('tool-summary').evaluate((node) => [...node.getClientRects()].map(({ left, right }) => [left, right]));
    assert.ok(lines.length > 1, 'it has more than one line');
    const beside = lines.map(([left, right]) => (locale === 'en' ? left >= icon.x + icon.width : right <= icon.x));
    assert.deepEqual(beside, lines.map(() => true));
    const [title, state] = await Promise.all(['tool-title', 'tool-state'].map((name) => box(view.part(name))));
    assert.equal(title.x < state.x, locale === 'en');
  });
}

test('a table of many columns keeps numbers in one line, and words beside each other', NARROW, async (view) => {
  const row = '| North | € 18,200.50 | 410 | 12 | Best month since the opening of the second warehouse |';
  await view.change(answer(text(`| Region | Revenue | Orders | Returns | Comment |\n|---|--:|--:|--:|---|\n${row}`)));
  const cells = view.part('text').locator('td');
  const lines = (cell) =>
    cell.evaluate((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getClientRects().length;
    });
  assert.equal(await lines(cells.nth(1)), 1, 'the amount');
  assert.ok((await lines(cells.nth(4))) < 5, 'the comment');
});

test('a table of two columns fits the window', NARROW, async (view) => {
  await view.change(answer(text(`| Setting | Effect |\n|---|---|\n| mode | ${'Where the window is, and how large it is. '.repeat(4)} |`)));
  const table = view.part('text').locator('.table');
  assert.equal(await table.evaluate((node) => node.scrollWidth - node.clientWidth), 0);
});

test('a source with a long title shows its host', NARROW, async (view) => {
  const title = 'A title of a page that is longer than the line of any window of a chat';
  await view.change(answer(text('See there.'), { type: 'source-url', sourceId: 's1', url: 'https://docs.example.org/a', title }));
  const [link, host] = await Promise.all([box(view.part('source')), box(view.part('host'))]);
  assert.equal(await view.part('host').innerText(), 'docs.example.org');
  assert.equal(await view.part('host').evaluate((node) => node.scrollWidth - node.clientWidth), 0, 'it is not cut');
  assert.ok(host.x + host.width <= link.x + link.width, 'it is within the link');
});

test('the note below a question is at the side of the question', { ...NARROW, width: 320 }, async (view) => {
  await view.change({ messages: [{ id: 'u1', role: 'user', parts: [text('Where is my order?')] }] });
  const [said, again] = await Promise.all([box(view.part('said')), box(view.part('again'))]);
  assert.ok(again.y > said.y + said.height + 20, 'the button has a line of its own');
  assert.ok(Math.abs(said.x + said.width - again.x - again.width) < 1);
});

test('a long text of the user leaves the answer in reach, and is scrolled by keys', NARROW, async (view) => {
  const words = 'A line of a long report\n'.repeat(500);
  await view.change({ messages: [{ id: 'u1', role: 'user', parts: [text(words)] }, ...answer(text('Read.')).messages] });
  const said = view.part('said');
  assert.ok((await box(said)).height < 400);
  await said.focus();
  await view.page.keyboard.press('PageDown');
  await view.page.waitForFunction((node) => node.scrollTop > 0, await said.elementHandle());
});

test('the day of a chat of another year has the year', NARROW, async (view) => {
  const now = new Date();
  const list = [now.getFullYear(), now.getFullYear() - 1].map((year) => ({ id: `c${year}`, title: 'Chat', updatedAt: `${year}-03-03T12:00:00Z` }));
  await view.change({ list });
  await view.part('threads-button').click();
  await view.part('thread-time').nth(1).waitFor();
  assert.deepEqual(await view.part('thread-time').allInnerTexts(), ['Mar 3', `Mar 3, ${now.getFullYear() - 1}`]);
});

test('fields, files and buttons stay within the window if letters have twice their size', { ...NARROW, width: 320 }, async (view) => {
  const chat = view.page.locator('omniassist-chat');
  await chat.evaluate((chat) => (chat.style.fontSize = '32px'));
  const outside = () =>
    chat.evaluate(({ shadowRoot: root }) => {
      const { left, right } = root.querySelector('[part~=window]').getBoundingClientRect();
      const within = (root) => [...root.querySelectorAll('*')].flatMap((node) => [node, ...(node.shadowRoot ? within(node.shadowRoot) : [])]);
      return within(root)
        .filter((node) => node.matches('input, textarea, select, button, [part~=file]') && node.checkVisibility())
        .filter((node) => node.getBoundingClientRect().left < left || node.getBoundingClientRect().right > right)
        .map((node) => node.outerHTML.slice(0, 80));
    });
  await view.change(answer({ type: 'tool-ui_form', toolCallId: 't1', state: 'output-available', input: samples.form, output: { instanceId: 'i1' } }));
  await view.page.locator('omniassist-chat [type=date]').waitFor();
  const found = [['component', await outside()]];
  for (const state of ['attachments', 'approval', 'form', 'threads']) {
    await enter(view, state);
    found.push([state, await outside()]);
  }
  assert.deepEqual(found.filter(([, nodes]) => nodes.length > 0), []);
});

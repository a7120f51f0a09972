// The list of chats beside a conversation.

import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();

test('the draft of a chat is deleted with the chat', { attributes: 'mode="panel"' }, async (view) => {
  const draft = () => view.page.evaluate(() => sessionStorage.getItem('omniassist:draft:chat-1'));
  await view.input.fill('a private draft');
  assert.equal(await draft(), 'a private draft');
  await view.change({ chatId: 'chat-2', messages: [] });
  await view.part('threads-button').click();
  await view.part('thread-delete').click();
  await view.part('threads-pane').getByRole('button', { name: 'Delete' }).click();
  await view.part('thread').waitFor({ state: 'detached' });
  assert.equal(await draft(), null);
});

test('the list of chats stays open while the chat is loaded, and closes for another chat', { attributes: 'mode="panel"', width: 480 }, async (view) => {
  await view.change({ chatId: '' });
  await view.part('threads-button').click();
  await view.part('thread').waitFor();
  await view.change({ chatId: 'chat-1' });
  assert.equal(await view.part('threads-pane').isVisible(), true);
  await view.change({ chatId: 'chat-2' });
  assert.equal(await view.part('threads-pane').isVisible(), false);
});

test('nothing that the list of chats covers gets the focus', { attributes: 'mode="panel"', width: 400 }, async (view) => {
  const { keyboard } = view.page;
  await view.change({ messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] });
  const covered = () =>
    view.page.locator('omniassist-chat').evaluate(({ shadowRoot: root }) => root.activeElement?.closest('[part~=main]')?.part.value);
  await view.part('threads-button').click();
  await view.part('thread').waitFor();
  for (let count = 0; count < 12; count += 1) {
    await keyboard.press('Tab');
    assert.equal(await covered(), undefined, `Tab ${count + 1}`);
  }
  await view.part('threads-search').focus();
  await keyboard.press('F6');
  assert.equal(await view.input.evaluate((input) => input.matches(':focus')), true);
  assert.equal(await view.part('threads-pane').isVisible(), false);
  await view.part('threads-button').click();
  await view.part('new-button').click();
  assert.equal(await view.part('threads-pane').isVisible(), false);
  assert.equal(await view.input.evaluate((input) => input.matches(':focus')), true);
});

test('the conversation beside a list of chats can be used', { attributes: 'mode="panel"', width: 1280 }, async (view) => {
  await view.part('threads-button').click();
  await view.part('thread').waitFor();
  await view.input.click();
  await view.page.keyboard.type('Hi');
  assert.equal(await view.input.inputValue(), 'Hi');
  assert.equal(await view.part('threads-pane').isVisible(), true);
});

test('a window that is opened again shows the conversation, and not the list of chats', { width: 400, height: 700 }, async (view) => {
  await view.part('launcher').click();
  await view.part('threads-button').click();
  await view.part('thread').waitFor();
  await view.part('close-button').click();
  await view.part('launcher').click();
  assert.equal(await view.input.evaluate((input) => input.matches(':focus')), true);
});

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

// The list of chats beside a conversation.

import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();

test('the list of chats stays open while the chat is loaded, and closes for another chat', { attributes: 'mode="panel"', width: 480 }, async (view) => {
  await view.change({ chatId: '' });
  await view.part('threads-button').click();
  await view.part('thread').waitFor();
  await view.change({ chatId: 'chat-1' });
  assert.equal(await view.part('threads-pane').isVisible(), true);
  await view.change({ chatId: 'chat-2' });
  assert.equal(await view.part('threads-pane').isVisible(), false);
});

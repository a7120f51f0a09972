// The whole widget with a keyboard only, before a real quickstart with its demo model.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { demo } from '../../tests/lib/app.mjs';
import { DEMO, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { go, stop } from '../testing/keyboard.mjs';
import { program } from '../testing/programs.mjs';
import { LINES, widgetSuite } from '../testing/widget-page.mjs';

program('QUICKSTART_BIN', 'quickstart');
const suite = widgetSuite();
let app;
after(() => app?.stop());

const BODY = `<main><h1>Orders</h1></main>${LINES('attachments')}`;
const options = async () => ({ body: BODY, target: (app ??= await startQuickstart(DEMO, { stored: true })).origin });

/** Waits until the answer to the last question is there, in one of the states. */
const answered = ({ page }, count) =>
  page.waitForFunction((count) => {
    const { messages, status } = document.querySelector('omniassist-chat').chat;
    return status === 'ready' && messages.length >= count && messages.at(-1).role === 'assistant';
  }, count);
const lastText = ({ page }) =>
  page.evaluate(() =>
    document
      .querySelector('omniassist-chat')
      .chat.messages.findLast(({ role }) => role === 'user')
      .parts.map(({ text }) => text)
      .join(''),
  );

suite('ask, approve, edit, branch, form, attach, stop, chats and close, by keyboard', options, async (view) => {
  const { keyboard } = view.page;
  const ask = async (text) => {
    assert.equal((await stop(view)).name, 'Message');
    await keyboard.type(text);
    await keyboard.press('Enter');
  };

  await go(view, 'Tab', 'launcher');
  await keyboard.press('Enter');
  await ask(demo.refund(1004).question);
  await answered(view, 2);

  await view.part('approve').waitFor();
  await go(view, 'Shift+Tab', 'approve');
  await keyboard.press('Enter');
  await stop(view);
  await view.part('approve').waitFor({ state: 'hidden' });
  assert.equal((await stop(view)).name, 'Message');
  await answered(view, 2);

  await keyboard.press('ArrowUp');
  assert.equal((await stop(view)).name, 'Edit the message');
  await keyboard.press('Control+A');
  await keyboard.type(demo.chat.question);
  await keyboard.press('Enter');
  await stop(view);
  await answered(view, 2);
  await stop(view);
  assert.equal(await lastText(view), demo.chat.question);

  await go(view, 'Shift+Tab', 'branch-previous');
  await keyboard.press('Enter');
  await view.page.waitForFunction((text) => {
    const { messages, status } = document.querySelector('omniassist-chat').chat;
    return status === 'ready' && messages[0].parts[0].text === text;
  }, demo.refund(1004).question);
  await stop(view);

  await keyboard.press('F6');
  await ask(demo.complaint.question);
  await answered(view, 4);
  await view.part('form').waitFor();
  await keyboard.press('F6');
  await go(view, 'Tab', /^Order/);
  await keyboard.type('1002');
  await go(view, 'Tab', /^Reason/);
  await keyboard.press('ArrowDown');
  await go(view, 'Tab', /^E-mail/);
  await keyboard.type('ada@example.com');
  await go(view, 'Tab', /^Send$/);
  await keyboard.press('Enter');
  await stop(view);
  await view.part('form').waitFor({ state: 'hidden' });
  assert.equal((await stop(view)).name, 'Message');
  await answered(view, 4);

  // The browser takes a moment until it tells about the dialog instead of opening it.
  const chosen = view.page.waitForEvent('filechooser');
  await go(view, 'Shift+Tab', 'attach-button');
  await keyboard.press('Enter');
  await (await chosen).setFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await go(view, 'Shift+Tab', 'remove-file');
  await keyboard.press('Enter');
  assert.equal((await stop(view)).name, 'Attach files');
  assert.equal(await view.part('file').count(), 0);

  await keyboard.press('F6');
  await ask(demo.slow.question);
  await view.part('bar').filter({ visible: true }).waitFor();
  await go(view, 'Tab', /^Stop$/);
  await keyboard.press('Enter');
  await view.page.waitForFunction(() => document.querySelector('omniassist-chat').chat.status === 'ready');
  assert.equal((await stop(view)).name, 'Message');

  await go(view, 'Shift+Tab', 'threads-button');
  await keyboard.press('Enter');
  await view.part('thread-row').first().waitFor();
  await go(view, 'Tab', 'threads-search');
  await keyboard.type('nothing');
  await view.page.getByText('No chat found.').waitFor();
  await keyboard.press('Control+A');
  await keyboard.type('refund');
  await view.part('thread-row').first().waitFor();
  await go(view, 'Tab', 'thread-rename');
  await keyboard.press('Enter');
  assert.equal((await stop(view)).name, 'Title');
  await keyboard.type('Money back');
  await keyboard.press('Enter');
  assert.match((await stop(view)).name, /^Rename/);
  await view.part('thread-title').getByText('Money back').waitFor();
  await go(view, 'Tab', 'thread-delete');
  await keyboard.press('Enter');
  assert.equal((await stop(view)).name, 'Cancel');
  await go(view, 'Tab', 'danger');
  await keyboard.press('Enter');
  await view.part('thread-row').waitFor({ state: 'detached' });
  assert.equal((await stop(view)).name, 'Conversation', 'the open chat was deleted');

  await go(view, 'Shift+Tab', 'threads-button');
  await keyboard.press('Enter');
  await stop(view);
  await keyboard.press('Escape');
  assert.equal((await stop(view)).name, 'Chats');
  await keyboard.press('Escape');
  assert.equal((await stop(view)).name, 'Open the chat');
});

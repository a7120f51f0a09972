// The widget with the quickstart and its demo model.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { demo } from '../../tests/lib/app.mjs';
import { DEMO, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { LINES, widgetSuite } from '../testing/widget-page.mjs';
import { program } from '../testing/programs.mjs';

program('QUICKSTART_BIN', 'quickstart');
const suite = widgetSuite();
let app;
const test = (name, options, run) =>
  suite(
    name,
    async () => ({ ...options, target: (app ??= await startQuickstart(DEMO, { stored: true })).origin }),
    run,
  );
after(() => app?.stop());

const answer = (page) => page.locator('omniassist-chat [data-role=assistant]').last();
const settled = (page) => page.waitForFunction(() => document.querySelector('omniassist-chat').chat.status === 'ready');
const fresh = (page) =>
  page.evaluate(() =>
    document
      .querySelector('omniassist-chat')
      .chat.ready.then(() => document.querySelector('omniassist-chat').newChat()),
  );

test('two lines in an empty page answer a question', { body: LINES('mode="popup"') }, async ({ page, input }) => {
  await page.getByRole('button', { name: 'Open the chat' }).click();
  await input.fill(demo.lookUp.question);
  await input.press('Enter');
  await answer(page)
    .getByText(/delivered/)
    .waitFor();
});

let detect;
test(
  'a question that is sent while the chat loads leaves the field',
  {
    attributes: 'mode="panel"',
    prepare: (page) => page.route(/stream.startIndex=0/, (route) => (detect = () => route.continue())),
  },
  async ({ page, input }) => {
    await page.waitForFunction(() => document.querySelector('omniassist-chat').chat.chatId);
    await input.pressSequentially(demo.lookUp.question);
    await input.press('Enter');
    detect();
    await answer(page)
      .getByText(/delivered/)
      .waitFor();
    assert.equal(await input.inputValue(), '');
  },
);

test(
  'Arabic is shown from the right, in its language',
  { attributes: 'mode="panel" locale="ar"' },
  async ({ page, part }) => {
    await page.getByRole('textbox', { name: 'رسالة' }).waitFor();
    const [chats, fresh] = [await part('threads-button').boundingBox(), await part('heading').boundingBox()];
    assert.ok(chats.x > fresh.x);
  },
);

test('a conversation is there after a reload', { attributes: 'mode="panel"' }, async ({ page, input }) => {
  await fresh(page);
  await input.fill(demo.lookUp.question);
  await input.press('Enter');
  await answer(page)
    .getByText(/delivered/)
    .waitFor();
  await settled(page);
  await page.reload();
  await answer(page)
    .getByText(/delivered/)
    .waitFor();
  assert.equal(await page.locator('omniassist-chat [data-role=user]').count(), 1);
});

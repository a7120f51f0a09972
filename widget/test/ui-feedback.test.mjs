// The feedback on answers that the browser keeps.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { says, serve } from '../testing/chat.mjs';
import { openBrowser } from '../testing/page.mjs';
import { openWidget } from '../testing/widget-page.mjs';

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser?.close());

test('feedback stays pressed after another chat, after a reload, and after a further answer', async (t) => {
  const assistant = await serve(says('It is in Linz.'), says('Tomorrow.'));
  const view = await openWidget(browser, { attributes: 'mode="panel"', target: new URL(assistant.api).origin });
  t.after(async () => {
    await view.close();
    await assistant.stop();
  });
  const chat = (run) => view.page.evaluate(`(async (chat) => { await chat.ready; return ${run}; })(document.querySelector('omniassist-chat').chat)`);
  const ask = async (text) => {
    await view.input.fill(text);
    await view.input.press('Enter');
  };
  const first = view.part('messages').getByText('It is in Linz.');
  const good = view.part('message').filter({ hasText: 'It is in Linz.' }).getByRole('button', { name: 'Good answer' });
  await ask('Where is my lamp?');
  await good.click();
  const id = await chat('chat.chatId');
  await chat('chat.newChat()');
  await first.waitFor({ state: 'detached' });
  await chat(`chat.setChatId('${id}')`);
  await first.waitFor();
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  await view.page.reload();
  await first.waitFor();
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  await ask('When will it come?');
  await view.part('messages').getByText('Tomorrow.').waitFor();
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  await good.click();
  await view.page.reload();
  await first.waitFor();
  assert.equal(await good.getAttribute('aria-pressed'), 'false');
});

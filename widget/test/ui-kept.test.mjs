// What the user has begun stays, whatever changes around it.

import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();

const QUESTION = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Where is it?' }] };
const paste = (view, name, type) =>
  view.input.evaluate(
    (input, [name, type]) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(['content'], name, { type }));
      input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    },
    [name, type],
  );
const set = (view, change) => view.page.locator('omniassist-chat').evaluate(change);

test(
  'new texts keep the draft, the files, the edit, the question and the focus',
  { attributes: 'mode="panel" attachments persist="none"' },
  async (view) => {
    await view.change({ messages: [QUESTION] });
    await view.page.evaluate(() => {
      window.answer = window.chat.onConfirm('Sure?', new AbortController().signal);
    });
    await view.part('edit').click();
    const editor = view.part('editor').locator('textarea');
    await editor.fill('Where is my order?');
    await view.input.fill('a draft');
    await paste(view, 'a.txt', 'text/plain');
    await set(view, (chat) => (chat.texts = { placeholder: 'MINE' }));
    await view.page.waitForFunction(() => document.querySelector('omniassist-chat').shadowRoot.querySelector('[placeholder=MINE]'));
    assert.equal(await view.input.inputValue(), 'a draft');
    assert.equal(await view.input.evaluate((input) => input.matches(':focus')), true);
    assert.equal(await view.part('file').count(), 1);
    assert.equal(await editor.inputValue(), 'Where is my order?');
    await view.part('allow').click();
    assert.equal(await view.page.evaluate(() => window.answer), true);
  },
);

test('an edit that was begun is there again after another chat', { attributes: 'mode="panel"', width: 320 }, async (view) => {
  await view.change({ messages: [QUESTION] });
  await view.part('edit').click();
  const text = 'Where is my order, and when does it arrive? I have waited for two weeks.';
  const editor = view.part('editor').locator('textarea');
  await editor.fill(text);
  await view.change({ chatId: 'chat-2', messages: [] });
  assert.equal(await editor.count(), 0);
  await view.change({ chatId: 'chat-1', messages: [{ ...QUESTION }] });
  assert.equal(await editor.inputValue(), text);
  assert.equal(await editor.evaluate((field) => field.scrollHeight - field.clientHeight), 0, 'all of its text is seen');
  await editor.press('Escape');
  await view.change({ chatId: 'chat-2', messages: [] });
  await view.change({ chatId: 'chat-1', messages: [{ ...QUESTION }] });
  assert.equal(await editor.count(), 0);
});

test('the files of a message are there again after another chat', { attributes: 'mode="panel" attachments' }, async (view) => {
  await paste(view, 'a.txt', 'text/plain');
  await view.change({ chatId: 'chat-2', messages: [] });
  assert.equal(await view.part('file').count(), 0);
  await view.change({ chatId: 'chat-1', messages: [] });
  assert.equal(await view.part('file').count(), 1);
});

test('an edit that cannot be saved says so', { attributes: 'mode="panel"' }, async (view) => {
  await view.change({ messages: [QUESTION] });
  await view.part('edit').click();
  const editor = view.part('editor');
  await editor.locator('textarea').fill('Where is my order?');
  await view.change({ status: 'streaming' });
  await editor.locator('textarea').press('Enter');
  await editor.getByText('Answering…').waitFor();
  assert.equal(await editor.locator('textarea').inputValue(), 'Where is my order?');
});

const SLOW = {
  attributes: 'mode="panel" attachments',
  prepare: (page) =>
    page.addInitScript(() => {
      window.createImageBitmap = () => new Promise((_, fail) => (window.fail = () => fail(new Error('no image'))));
    }),
};

test('a message whose picture is made smaller is not sent to another chat', SLOW, async (view) => {
  await paste(view, 'a.png', 'image/png');
  await view.input.fill('for the first chat');
  await view.input.press('Enter');
  await view.page.waitForFunction(() => window.fail);
  await view.change({ chatId: 'chat-2', messages: [] });
  await view.page.evaluate(() => window.fail());
  await view.frame();
  assert.deepEqual((await view.calls()).filter(([name]) => name === 'sendMessage'), []);
  await view.change({ chatId: 'chat-1', messages: [] });
  assert.equal(await view.input.inputValue(), 'for the first chat');
});

test('the list beside the conversation shows a new chat', { attributes: 'mode="panel"', width: 1280 }, async (view) => {
  await view.part('threads-button').click();
  await view.part('thread').first().waitFor();
  await view.page.evaluate(() => (window.chat.list = [{ id: 'chat-2', title: 'A new chat' }, ...window.chat.list]));
  await view.change({ chatId: 'chat-2', messages: [QUESTION] });
  await view.part('thread').filter({ hasText: 'A new chat' }).waitFor();
});

test('Escape ends a rename and keeps the window of a phone open', { attributes: 'mode="popup"', width: 400, height: 700 }, async (view) => {
  await view.page.getByRole('button', { name: 'Open the chat' }).click();
  await view.part('threads-button').click();
  await view.part('thread').first().waitFor();
  for (const name of [/^Rename/, /^Delete/]) {
    await view.part('thread-row').first().getByRole('button', { name }).click();
    await view.part('thread-form').waitFor();
    await view.page.keyboard.press('Escape');
    assert.equal(await view.part('thread-form').count(), 0);
    assert.equal(await set(view, (chat) => chat.isOpen), true, String(name));
  }
});

test('a hidden element shows nothing', { attributes: 'mode="panel"' }, async (view) => {
  assert.equal(await view.input.isVisible(), true);
  await set(view, (chat) => (chat.hidden = true));
  assert.equal(await view.input.isVisible(), false);
});

test('a panel has the width and the height of its element', { attributes: 'mode="panel"', width: 400 }, async (view) => {
  const sizes = await set(view, (chat) =>
    [chat, chat.shadowRoot.querySelector('section')].map((one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height]),
  );
  assert.deepEqual(sizes[1], sizes[0]);
  assert.equal(await view.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
});

test('the direction is that of `dir`, else that of `locale`', { attributes: 'mode="panel" locale="ar"' }, async (view) => {
  const direction = () => view.input.evaluate((input) => getComputedStyle(input).direction);
  assert.equal(await direction(), 'rtl');
  await set(view, (chat) => (chat.dir = 'ltr'));
  await view.page.waitForFunction(
    () => getComputedStyle(document.querySelector('omniassist-chat').shadowRoot.querySelector('textarea')).direction === 'ltr',
  );
});

test('a locale with an underscore is that of its language', { attributes: 'mode="panel" locale="de_DE"' }, async (view) => {
  const source = { type: 'source-url', sourceId: 's1', url: 'https://example.com/', title: 'One' };
  await view.change({ messages: [QUESTION, { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Here.' }, source] }] });
  await view.page.getByText('1 Quelle').waitFor();
});

test('a file that is added while a message is sent stays for the next one', { attributes: 'mode="panel" attachments' }, async (view) => {
  await view.page.evaluate(() => {
    const { chat } = window;
    const { sendMessage } = chat;
    chat.sendMessage = async (message) => {
      await new Promise((uploaded) => (window.uploaded = uploaded));
      return sendMessage(message);
    };
  });
  await paste(view, 'a.txt', 'text/plain');
  await view.input.fill('Here is one');
  await view.input.press('Enter');
  await view.page.waitForFunction(() => window.uploaded);
  await paste(view, 'b.txt', 'text/plain');
  await view.page.evaluate(() => window.uploaded());
  await view.page.waitForFunction(() => window.chat.messages.length === 1);
  assert.deepEqual(await view.part('file').allInnerTexts(), ['b.txt']);
  const [[, { files }]] = (await view.calls()).filter(([name]) => name === 'sendMessage');
  assert.equal(files.length, 1);
});

test('the field of an edit has its style at once, and loads nothing', { attributes: 'mode="panel"' }, async (view) => {
  await view.change({ messages: [QUESTION] });
  const requests = [];
  view.page.on('request', (request) => requests.push(request.url()));
  await view.part('edit').click();
  const [border, width] = await view.part('editor').locator('textarea').evaluate((field) => {
    const { borderTopStyle, inlineSize } = getComputedStyle(field);
    return [borderTopStyle, parseFloat(inlineSize)];
  });
  assert.deepEqual([border, width > 400, requests], ['solid', true, []]);
});

const FORM = {
  type: 'tool-request_input',
  toolCallId: 'f1',
  state: 'input-available',
  input: { schema: { properties: { city: { type: 'string' } }, required: ['city'] } },
};
const LONG = 'Where is my order, and when does it arrive? I have waited for two weeks. '.repeat(3);
/** Runs in the page before its scripts, as a browser without `field-sizing`. */
function oldBrowser() {
  CSS.supports = () => false;
  const { replaceSync } = CSSStyleSheet.prototype;
  CSSStyleSheet.prototype.replaceSync = function (text) {
    return replaceSync.call(this, text.replace(/field-sizing:\s*content;?/g, ''));
  };
}

test(
  'a browser that does not grow fields shows all of a draft and of an edit that was begun',
  { width: 500, prepare: (page) => page.addInitScript(oldBrowser) },
  async (view) => {
    const isWhole = (field) => field.evaluate((node) => node.scrollHeight - node.clientHeight <= 0);
    await view.part('launcher').click();
    await view.change({ messages: [QUESTION] });
    await view.part('edit').click();
    const editor = view.part('editor').locator('textarea');
    await editor.fill(LONG);
    await view.change({ chatId: 'chat-2', messages: [] });
    await view.input.fill(LONG);
    await view.part('close-button').click();
    await view.change({ chatId: 'chat-1', messages: [{ ...QUESTION }] });
    await view.part('launcher').click();
    await view.frame();
    assert.deepEqual([await editor.inputValue(), await isWhole(editor)], [LONG, true]);
    await view.part('close-button').click();
    await view.change({ chatId: 'chat-2', messages: [] });
    await view.part('launcher').click();
    await view.frame();
    assert.deepEqual([await view.input.inputValue(), await isWhole(view.input)], [LONG, true]);
    await view.page.setViewportSize({ width: 1280, height: 800 });
    await view.page.setViewportSize({ width: 400, height: 800 });
    await view.frame();
    assert.equal(await isWhole(view.input), true, 'also in a narrower window');
  },
);

const APPROVAL = { type: 'tool-pay', toolCallId: 'p1', state: 'approval-requested', input: { amount: 5 }, approval: { id: 'x' } };
const EDITABLE = { omniassist: { approvals: { p1: { editable: true } } } };

for (const [what, change] of [
  ['another suggestion', (chat) => chat.setAttribute('suggestions', 'New?')],
  ['another heading', (chat) => chat.setAttribute('heading', 'Support')],
  ['another language', (chat) => chat.setAttribute('locale', 'de')],
  ['another place in the page', (chat) => document.body.prepend(chat)],
])
  test(`${what} keeps what was entered in forms and approvals`, { attributes: 'mode="panel" heading="Help"' }, async (view) => {
    await view.change({ messages: [QUESTION, { id: 'a1', role: 'assistant', metadata: EDITABLE, parts: [FORM, APPROVAL] }] });
    const city = view.part('form').locator('input');
    await city.fill('Oslo');
    await view.part('approval').getByRole('button', { name: 'Edit' }).click();
    await view.part('approval').getByLabel('Amount').fill('7');
    await view.part('reason').fill('It is more');
    await set(view, change);
    await set(view, () => new Promise((next) => setTimeout(next, 100)));
    assert.equal(await city.inputValue(), 'Oslo');
    assert.equal(await view.part('reason').inputValue(), 'It is more');
    await view.part('approve').click();
    await view.part('form').locator('[type=submit]').click();
    const answers = (await view.calls()).filter(([name]) => /^(approve|addToolResult)$/.test(name));
    assert.deepEqual(answers.map(([, part, ...rest]) => [part.toolCallId, part.output ?? rest]), [
      ['p1', [true, { reason: 'It is more', input: { amount: 7 } }]],
      ['f1', { city: 'Oslo' }],
    ]);
  });

test('a form can be answered again after a message that the server has refused', { attributes: 'mode="panel"' }, async (view) => {
  await view.change({ messages: [QUESTION, { id: 'a1', role: 'assistant', parts: [FORM] }] });
  const city = view.part('form').locator('input');
  await city.fill('Oslo');
  const isDisabled = async (isOpen) => {
    await view.page.evaluate((isOpen) => void (window.chat.isOpen = () => isOpen), isOpen);
    await view.change({});
    return city.isDisabled();
  };
  assert.deepEqual([await isDisabled(false), await isDisabled(true)], [true, false]);
  assert.equal(await city.inputValue(), 'Oslo');
});

test('a form in which nothing was entered is in the new language', { attributes: 'mode="panel"' }, async (view) => {
  await view.change({ messages: [QUESTION, { id: 'a1', role: 'assistant', parts: [FORM] }] });
  await view.part('form').getByText('Please fill this in.').waitFor();
  await set(view, (chat) => chat.setAttribute('locale', 'de'));
  await view.part('form').getByText('Please fill this in.').waitFor({ state: 'detached' });
  await view.part('form').waitFor();
});

/** Ends a composition as Safari does: the key follows it, with the code 229. */
const endComposition = (field, key) =>
  field.evaluate((input, key) => {
    input.dispatchEvent(new CompositionEvent('compositionend', { data: '日本', bubbles: true }));
    input.dispatchEvent(new KeyboardEvent('keydown', { key, keyCode: 229, bubbles: true, composed: true, cancelable: true }));
  }, key);

test('the Escape that ends a composition closes nothing', { attributes: 'mode="popup"' }, async (view) => {
  await view.part('launcher').click();
  await view.input.fill('日本');
  await endComposition(view.input, 'Escape');
  assert.equal(await view.part('window').isVisible(), true);
  await view.part('threads-button').click();
  await endComposition(view.part('threads-search'), 'Escape');
  assert.equal(await view.part('threads-search').isVisible(), true);
  await view.part('thread-row').first().getByRole('button', { name: /^Rename/ }).click();
  const title = view.part('thread-form').locator('input');
  await endComposition(title, 'Escape');
  assert.equal(await title.isVisible(), true);
});

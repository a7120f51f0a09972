import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();
const PANEL = { attributes: 'mode="panel" attachments suggestions="One?|Two?"' };
const sent = async (view) =>
  (await view.calls()).filter(([name]) => name === 'sendMessage').map(([, { text }]) => text);
const question = (text, id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', text }] });

test('Enter sends and Shift+Enter breaks the line', PANEL, async (view) => {
  await view.input.click();
  await view.page.keyboard.type('one');
  await view.page.keyboard.press('Shift+Enter');
  await view.page.keyboard.type('two');
  await view.page.keyboard.press('Enter');
  assert.deepEqual(await sent(view), ['one\ntwo']);
  assert.equal(await view.input.inputValue(), '');
  await view.page.keyboard.press('Enter');
  assert.equal((await sent(view)).length, 1, 'an empty message is not sent');
});

test('a composition of Chromium is never sent', PANEL, async (view) => {
  await view.input.click();
  const session = await view.page.context().newCDPSession(view.page);
  for (const text of ['に', 'にほ', 'にほん']) {
    await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    await session.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Enter',
      code: 'Enter',
      windowsVirtualKeyCode: 13,
    });
    await session.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Process',
      code: 'Enter',
      windowsVirtualKeyCode: 229,
    });
  }
  await session.send('Input.insertText', { text: '日本' });
  assert.deepEqual(await sent(view), []);
  assert.equal(await view.input.inputValue(), '日本');
  await view.page.keyboard.press('Enter');
  assert.deepEqual(await sent(view), ['日本']);
});

test('the key that ends a composition in Safari is not sent', PANEL, async (view) => {
  await view.input.fill('日本');
  const key = (keyCode) =>
    view.input.evaluate((input, keyCode) => {
      // Safari ends the composition first, so its key says that nothing is composed.
      input.dispatchEvent(new CompositionEvent('compositionend', { data: '日本', bubbles: true }));
      input.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', keyCode, isComposing: false, bubbles: true, cancelable: true }),
      );
    }, keyCode);
  await key(229);
  assert.deepEqual(await sent(view), []);
  await key(13);
  assert.deepEqual(await sent(view), ['日本']);
});

test('during an answer the button stops it, and what is typed stays', PANEL, async (view) => {
  await view.change({ status: 'streaming', messages: [question('q')] });
  await view.input.click();
  await view.page.keyboard.type('next');
  await view.page.keyboard.press('Enter');
  assert.deepEqual(await sent(view), []);
  await view.page.getByRole('button', { name: 'Stop' }).click();
  assert.deepEqual(await view.calls(), [['stop']]);
  await view.frame();
  assert.equal(await view.input.inputValue(), 'next');
  await view.page.getByRole('button', { name: 'Send' }).click();
  assert.deepEqual(await sent(view), ['next']);
});

test('a double click on Send does not stop the answer', PANEL, async (view) => {
  await view.input.fill('one');
  await view.page.evaluate(() => {
    const { sendMessage } = window.chat;
    window.chat.sendMessage = (message) => (window.chat.change({ status: 'submitted' }), sendMessage.call(window.chat, message));
  });
  await view.part('send-button').dblclick();
  assert.deepEqual((await view.calls()).map(([name]) => name).filter((name) => /^(sendMessage|stop)$/.test(name)), ['sendMessage']);
});

test('a text that is copied with its picture, as spreadsheets do, is pasted as text', PANEL, async (view) => {
  await view.input.focus();
  const isTaken = await view.input.evaluate((input) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'a\tb');
    clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
    return !input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  assert.equal(isTaken, false);
  assert.equal(await view.part('file').count(), 0);
});

test('a dropped file never replaces the page', { attributes: 'mode="panel"' }, async (view) => {
  const isTaken = await view.part('body').evaluate((body) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['x'], 'a.txt'));
    return ['dragover', 'drop'].map((type) => !body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })));
  });
  assert.deepEqual(isTaken, [true, true]);
  assert.equal(await view.part('drop').isVisible(), false);
});

for (const [width, height] of [[1280, 800], [320, 256], [390, 844]])
  test(`the button that sends is in the window, however many files there are: ${width} x ${height}`, { attributes: 'mode="popup" attachments open', width, height }, async (view) => {
    await view.part('launcher').click({ timeout: 1_000 }).catch(() => {});
    await view.page.evaluate(() => document.querySelector('omniassist-chat').open());
    await view.part('composer').evaluate((composer) => {
      const clipboardData = new DataTransfer();
      for (let at = 0; at < 12; at += 1) clipboardData.items.add(new File(['x'], `report-number-${at}.pdf`));
      composer.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await view.part('file').nth(11).waitFor({ state: 'attached' });
    await view.input.fill('Here they are');
    await view.part('send-button').click();
    assert.deepEqual(await sent(view), ['Here they are']);
  });

test('the field grows to eight lines and not beyond', PANEL, async (view) => {
  const height = async (lines) => {
    await view.input.fill('x\n'.repeat(lines - 1) + 'x');
    return (await view.input.boundingBox()).height;
  };
  const [one, two, eight, twenty] = [await height(1), await height(2), await height(8), await height(20)];
  assert.equal(two - one, 22);
  assert.equal(eight - one, 7 * 22);
  assert.equal(twenty, eight);
});

test('each chat has its own draft, which lasts over a reload', PANEL, async (view) => {
  await view.input.fill('first draft');
  await view.change({ chatId: 'chat-2' });
  assert.equal(await view.input.inputValue(), '');
  await view.input.fill('second draft');
  await view.change({ chatId: 'chat-1' });
  assert.equal(await view.input.inputValue(), 'first draft');
  await view.page.reload();
  await view.input.waitFor();
  await view.frame();
  assert.equal(await view.input.inputValue(), 'first draft');
});

test('a text that is begun before the chat is loaded stays', PANEL, async (view) => {
  await view.change({ chatId: '' });
  await view.input.fill('an early question');
  await view.change({ chatId: 'chat-1' });
  assert.equal(await view.input.inputValue(), 'an early question');
  await view.change({ chatId: 'chat-2' });
  await view.change({ chatId: 'chat-1' });
  assert.equal(await view.input.inputValue(), 'an early question', 'it is the draft of the chat');
  await view.change({ chatId: '' });
  assert.equal(await view.input.inputValue(), '', 'it is the draft of no other chat');
});

test('a suggestion is asked', PANEL, async (view) => {
  await view.page.getByRole('button', { name: 'Two?' }).click();
  assert.deepEqual(await sent(view), ['Two?']);
  await view.part('empty').waitFor({ state: 'hidden' });
});

test('dropped, pasted and chosen files are shown and sent, and images are made smaller', PANEL, async (view) => {
  const { page } = view;
  await view.input.evaluate(async (input) => {
    const canvas = document.createElement('canvas');
    canvas.width = 3136;
    canvas.height = 100;
    canvas.getContext('2d').fillRect(0, 0, 50, 50);
    const blob = await new Promise((done) => canvas.toBlob(done, 'image/jpeg'));
    const data = new DataTransfer();
    data.items.add(new File([blob], 'wide.jpg', { type: 'image/jpeg' }));
    input.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, composed: true, cancelable: true }));
    const other = new DataTransfer();
    other.items.add(new File(['a,b'], 'table.csv', { type: 'text/csv' }));
    input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: other, bubbles: true, cancelable: true }));
  });
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Attach files' }).click(),
  ]);
  await chooser.setFiles({ name: 'gone.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  assert.deepEqual(await view.part('file').allInnerTexts(), ['wide.jpg', 'table.csv', 'gone.txt']);
  assert.ok(
    await view
      .part('file')
      .locator('img')
      .evaluate((img) => img.decode().then(() => img.naturalWidth > 0)),
  );
  await page.getByRole('button', { name: 'Remove gone.txt' }).click();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForFunction(() => window.chat.calls.length);
  const files = await page.evaluate(async () => {
    const [[, { files }]] = window.chat.calls;
    const { width, height } = await createImageBitmap(files[0]);
    return { names: files.map(({ name }) => name), width, height, type: files[0].type };
  });
  assert.deepEqual(files, { names: ['wide.jpg', 'table.csv'], width: 1568, height: 50, type: 'image/jpeg' });
  assert.equal(await view.part('files').isVisible(), false);
});

test(
  'a kind of file that the page does not accept is refused with a reason',
  { attributes: 'mode="panel" attachments="image/*"' },
  async (view) => {
    const drop = (...names) =>
      view.input.evaluate((input, names) => {
        const dataTransfer = new DataTransfer();
        for (const name of names) dataTransfer.items.add(new File(['x'], name, { type: name.endsWith('.png') ? 'image/png' : '' }));
        input.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, composed: true, cancelable: true }));
      }, names);
    const note = view.part('composer').locator('[part~=error]');
    await view.input.evaluate((input) => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'virus.exe'));
      input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    assert.equal(await view.part('file').count(), 0);
    assert.equal(await view.page.getByRole('status').innerText(), 'virus.exe cannot be attached.');
    assert.equal(await note.innerText(), 'virus.exe cannot be attached.');
    await view.input.press('x');
    assert.equal(await note.isVisible(), false, 'the next change removes it');
    await drop('report.pdf', 'a.png', 'notes.txt');
    assert.equal(await view.part('file').count(), 1);
    assert.equal(await note.innerText(), 'report.pdf cannot be attached. notes.txt cannot be attached.');
    await drop('b.png');
    assert.equal(await note.isVisible(), false);
    const long = `${'a'.repeat(240)}.pdf`;
    await drop(long);
    assert.equal(await note.evaluate((node) => node.scrollWidth > node.clientWidth), false, 'a long name is broken');
    await view.change({ chatId: 'chat-2' });
    assert.equal(await note.isVisible(), false);
  },
);

test('ArrowUp in the empty field edits the last question', PANEL, async (view) => {
  const { page } = view;
  const editor = page.getByRole('textbox', { name: 'Edit the message' });
  await view.change({
    messages: [question('old'), { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'x' }] }],
  });
  await view.input.click();
  await page.keyboard.type('a');
  await page.keyboard.press('ArrowUp');
  assert.equal(await editor.count(), 0, 'the field is not empty');
  await page.keyboard.press('Delete');
  await page.keyboard.press('ArrowUp');
  assert.equal(await editor.inputValue(), 'old');
  await view.frame();
  await page.keyboard.type('er');
  await page.keyboard.press('Enter');
  assert.deepEqual(await view.calls(), [['edit', 'u1', 'older']]);
});

test('F6 moves between the conversation and the field', PANEL, async (view) => {
  const focused = () =>
    view.page.evaluate(() => document.querySelector('omniassist-chat').shadowRoot.activeElement.getAttribute('part'));
  await view.input.click();
  await view.page.keyboard.press('F6');
  assert.equal(await focused(), 'log');
  await view.page.keyboard.press('F6');
  assert.equal(await focused(), 'input');
});

test('a question of a tool of the page is answered in the chat', PANEL, async (view) => {
  const ask = (question) =>
    view.page.evaluate((question) => {
      window.ended = new AbortController();
      window.answer = window.chat.onConfirm(question, window.ended.signal);
    }, question);
  await ask('Leave this page?');
  assert.equal(await view.page.getByRole('status').innerText(), 'Leave this page?');
  await view.page.getByRole('button', { name: 'Approve' }).click();
  assert.equal(await view.page.evaluate(() => window.answer), true);
  await ask('Leave by a script?');
  await view.part('allow').evaluate((button) => button.click());
  assert.equal(await view.part('question').isVisible(), true, 'only a click of the user agrees');
  await view.page.evaluate(() => window.ended.abort());
  assert.equal(await view.page.evaluate(() => window.answer), false);
  await ask('Leave again?');
  await view.page.getByRole('button', { name: 'Deny' }).click();
  assert.equal(await view.page.evaluate(() => window.answer), false);
  await ask('And now?');
  await view.page.evaluate(() => window.ended.abort());
  assert.equal(await view.page.evaluate(() => window.answer), false);
  assert.equal(await view.part('question').count(), 0);
});

test('the focus of the field is seen with forced colours, which draw no shadows', { ...PANEL, contrast: 'active' }, async (view) => {
  await view.input.click();
  const ring = () => view.part('composer').evaluate((node) => getComputedStyle(node).outlineStyle);
  assert.equal(await ring(), 'solid');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('F6');
  await view.page.keyboard.press('F6');
  assert.equal(await ring(), 'none');
});

test('what is typed at the moment in which a chat opens stays', PANEL, async (view) => {
  await view.change({ chatId: '' });
  for (const chatId of ['chat-1', 'chat-2']) {
    await view.input.evaluate((input, chatId) => {
      window.chat.change({ chatId });
      input.value = `For ${chatId}`;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      return new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    }, chatId);
    assert.equal(await view.input.inputValue(), `For ${chatId}`);
  }
});

test('a question stays in the field until the chat has it', PANEL, async (view) => {
  await view.page.evaluate(() => (window.chat.sendMessage = () => new Promise(() => {})));
  await view.input.fill('Where is it?');
  await view.input.press('Enter');
  await view.frame();
  assert.equal(await view.input.inputValue(), 'Where is it?');
  assert.equal(await view.part('send-button').getAttribute('aria-disabled'), 'true');
  const question = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Where is it?' }] };
  await view.change({ messages: [question], status: 'submitted' });
  assert.equal(await view.input.inputValue(), '');
});

/** Pastes a text of `length` characters. */
async function paste({ page }, length) {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate((length) => navigator.clipboard.writeText('word '.repeat(length / 5 + 1).slice(0, length)), length);
  await page.keyboard.press('Control+V');
}
const LONGEST = 1_000_000;

test('a text that is too long is refused with a reason before it is in the field', PANEL, async (view) => {
  const sentence = 'Message: enter at most 1,000,000 characters.';
  const note = view.part('composer').locator('[part~=error]');
  const length = () => view.input.evaluate(({ value }) => value.length);
  await view.input.fill('kept');
  await paste(view, LONGEST - 3);
  assert.equal(await length(), 4);
  assert.equal(await note.innerText(), sentence);
  assert.equal(await view.page.getByRole('status').innerText(), sentence);
  await paste(view, 10_000_000);
  assert.equal(await length(), 4);
  await paste(view, LONGEST - 4);
  assert.equal(await length(), LONGEST);
  assert.equal(await note.isVisible(), false);
  for (const key of ['x', 'Shift+Enter']) {
    await view.page.keyboard.press(key);
    assert.equal(await length(), LONGEST);
    assert.equal(await note.isVisible(), true, key);
  }
  await view.page.keyboard.press('Backspace');
  assert.equal(await note.isVisible(), false);
  await view.page.keyboard.press('Shift+Enter');
  assert.equal(await length(), LONGEST);
  // What replaces a text needs no further space.
  await view.page.keyboard.press('Control+A');
  await paste(view, LONGEST);
  assert.equal(await length(), LONGEST);
  assert.equal(await note.isVisible(), false);
  for (const leave of [() => view.input.press('Enter'), () => view.change({ chatId: 'chat-2', status: 'ready' })]) {
    await view.input.fill('kept');
    await paste(view, LONGEST);
    assert.equal(await note.isVisible(), true);
    await leave();
    assert.equal(await note.isVisible(), false);
  }
});

test('an edited message has the same limit, in the language of the page', { attributes: `${PANEL.attributes} locale="de"` }, async (view) => {
  await view.change({ messages: [question('old')] });
  await view.input.press('ArrowUp');
  const editor = view.part('editor');
  await paste(view, LONGEST);
  assert.equal(await editor.locator('textarea').inputValue(), 'old');
  assert.match(await editor.locator('[part~=error]').innerText(), /1\.000\.000/);
  await view.page.keyboard.type('er');
  await view.page.keyboard.press('Enter');
  assert.deepEqual(await view.calls(), [['edit', 'u1', 'older']]);
});

for (const [page, question] of [['en', 'مرحبا!'], ['he', 'Hello!']])
  test(`a text in another direction than that of the page is written as its own language: ${page}`, { ...PANEL, lang: page }, async (view) => {
    const looks = async (text) => {
      await view.input.fill(text);
      return (await view.input.screenshot({ caret: 'hide' })).toString('base64');
    };
    const hint = async (placeholder) => {
      await view.page.evaluate((placeholder) => (document.querySelector('omniassist-chat').texts = { placeholder }), placeholder);
      await view.page.getByPlaceholder(placeholder).waitFor();
      return looks('');
    };
    // The same within marks for the first strong letter.
    const marked = (text) => `\u2068${text}\u2069`;
    assert.equal(await looks(question), await looks(marked(question)));
    assert.equal(await hint(question), await hint(marked(question)));
    await view.page.evaluate((emptyTitle) => (document.querySelector('omniassist-chat').texts = { emptyTitle }), question);
    const greeting = view.part('greeting').getByText(question);
    const [first, last] = await greeting.evaluate(({ firstChild }) =>
      [0, firstChild.length - 1].map((at) => {
        const range = new Range();
        range.setStart(firstChild, at);
        range.setEnd(firstChild, at + 1);
        return range.getBoundingClientRect().x;
      }),
    );
    assert.equal(first < last, page === 'he');
  });

test('the lines of the field do not overlap if the user has chosen large letters', PANEL, async (view) => {
  const [size, line] = await view.input.evaluate((input) => {
    document.querySelector('omniassist-chat').style.fontSize = '32px';
    const { fontSize, lineHeight } = getComputedStyle(input);
    return [fontSize, lineHeight].map(parseFloat);
  });
  assert.ok(line > 1.3 * size, `${line} for letters of ${size} pixels`);
});

for (const locale of ['ar', 'de', 'en', 'es'])
  test(
    `the empty field of a phone has one line, and a long title shows its beginning: ${locale}`,
    { attributes: `mode="page" attachments locale="${locale}" heading="Support for desk lamps and office chairs"`, width: 320 },
    async (view) => {
      const lines = () => view.input.evaluate((input) => input.clientHeight);
      const empty = await lines();
      await view.input.fill('?');
      assert.equal(empty, await lines());
      const isSeen = await view.part('heading').evaluate((heading) => {
        const range = new Range();
        range.setStart(heading.firstChild, 0);
        range.setEnd(heading.firstChild, 1);
        const [first, box] = [range, heading].map((one) => one.getBoundingClientRect());
        return first.left >= box.left && first.right <= box.right;
      });
      assert.equal(isSeen, true);
    },
  );

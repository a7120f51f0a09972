import assert from 'node:assert/strict';
import { add, suite } from '../page-tools.mjs';

const start = (view, options) =>
  view.page.evaluate(
    async (options) => void (window.remove = await window.page.tools(options)),
    options ?? { fill: true, discover: true },
  );
const values = (view) =>
  view.page.evaluate(() => {
    const form = document.querySelector('#ticket');
    const all = [...new FormData(form)].filter(([, value]) => !String(value).startsWith('planted'));
    return [all.map(([name, value]) => `${name}=${value}`).join('&'), document.querySelector('#remarks').innerText];
  });
const fields = {
  subject: 'Late delivery',
  details: 'Two\nlines',
  priority: 'high',
  labels: '["red", "blue"]',
  urgent: 'true',
  channel: 'By phone',
  days: ['Monday'],
  due: '2026-03-04',
  amount: 12,
  Remarks: 'New\nremarks',
};

suite('plain', (test) => {
  test('contract_000_09 each kind of field is filled and marked, and undo restores all of them', async (view) => {
    await start(view);
    const before = await values(view);
    const answer = await view.call('fill_form', { fields });
    assert.deepEqual(answer.filled, {
      subject: 'Late delivery',
      details: 'Two\nlines',
      priority: 'High',
      labels: ['red', 'blue'],
      urgent: true,
      channel: 'By phone',
      days: ['Monday'],
      due: '2026-03-04',
      amount: '12',
      remarks: 'New\nremarks',
    });
    assert.equal(answer.submitted, false);
    assert.deepEqual(await values(view), [
      'id=17&subject=Late delivery&details=Two\nlines&priority=h&labels=red&labels=blue&urgent=on&channel=phone&days=mo&due=2026-03-04&amount=12&email=',
      'New\nremarks',
    ]);
    const subject = view.page.getByLabel('Subject');
    assert.equal(await subject.evaluate((field) => getComputedStyle(field).outlineStyle), 'dashed');
    assert.equal(await view.page.locator('[data-assistant-filled]').count(), 11);

    const undone = await view.call('undo_fill', {});
    assert.deepEqual(undone.kept, []);
    assert.equal(undone.restored.length, 10);
    assert.deepEqual(await values(view), before);
    assert.equal(await view.page.locator('#remarks b').count(), 1, 'the nodes of rich text are the earlier ones');
    assert.equal(await view.page.locator('[data-assistant-filled]').count(), 0);
  });

  test('an editor that keeps its text itself gets a text, and undo restores it there', async (view) => {
    await start(view);
    await add(view, ['div', { id: 'editor', contenteditable: 'true' }, 'Old']);
    await view.page.evaluate(() => {
      const node = document.querySelector('#editor');
      const editor = (window.editor = { text: 'Old', isAll: false });
      const placeholder = window.make('span', { contenteditable: 'false' }, 'Write');
      placeholder.style.userSelect = 'none';
      const draw = () => {
        node.replaceChildren(editor.text || placeholder);
        node.focus();
      };
      const select = () => (editor.isAll = getSelection().type === 'Range');
      document.addEventListener('selectionchange', () => setTimeout(select, 20));
      node.addEventListener('paste', (event) => {
        // Slate leaves a text that comes with its markup to the browser.
        if (event.clipboardData.types.length > 1) return;
        event.preventDefault();
        editor.text = (editor.isAll ? '' : editor.text) + event.clipboardData.getData('text/plain');
        queueMicrotask(draw);
      });
      node.addEventListener('beforeinput', (event) => {
        event.preventDefault();
        editor.text = '';
        draw();
      });
    });
    const subject = view.page.getByLabel('Subject');
    await subject.fill('Wor');
    for (const text of ['New\ntext', '']) {
      await view.call('fill_form', { fields: { editor: text } });
      assert.equal(await view.page.evaluate(() => window.editor.text), text);
      assert.deepEqual(await view.call('undo_fill', {}), { restored: ['editor'], kept: [] });
      assert.equal(await view.page.evaluate(() => window.editor.text), 'Old');
    }
    await view.page.keyboard.type('ds');
    assert.equal(await subject.inputValue(), 'Words');
    await view.call('fill_form', { fields: { editor: '' } });
    await view.call('fill_form', { fields: { editor: 'New' } });
    await view.call('undo_fill', {});
    assert.equal(await view.page.evaluate(() => window.editor.text), '');
  });

  /** Lets an editor that pastes have the focus for a second. */
  const slow = (view) =>
    view.page.evaluate(() => {
      const { setTimeout } = window;
      window.setTimeout = (run, ms, ...values) => setTimeout(run, ms === 150 ? 1_000 : ms, ...values);
      const editor = document.querySelector('#remarks');
      editor.addEventListener('paste', (event) => {
        event.preventDefault();
        editor.textContent = event.clipboardData.getData('text/plain');
      });
    });
  const isFocused = (view, id) => view.page.waitForFunction((id) => document.activeElement.id === id, id);

  test('what the user types while an editor has the focus is typed into the field of before', async (view) => {
    await start(view);
    await slow(view);
    const subject = view.page.getByLabel('Subject');
    await subject.fill('Worx');
    const answer = view.call('fill_form', { fields: { Remarks: 'New' } });
    await isFocused(view, 'remarks');
    await view.page.keyboard.press('Backspace');
    await view.page.keyboard.type('ds');
    assert.deepEqual((await answer).filled, { remarks: 'New' });
    assert.equal(await subject.inputValue(), 'Words');
  });

  test('what a keyboard on the screen inserts while an editor has the focus is inserted into the field of before', async (view) => {
    await start(view);
    await slow(view);
    const subject = view.page.getByLabel('Subject');
    await subject.fill('Wor');
    const answer = view.call('fill_form', { fields: { Remarks: 'New' } });
    await isFocused(view, 'remarks');
    // It has no key.
    await view.page.keyboard.insertText('ds');
    assert.deepEqual((await answer).filled, { remarks: 'New' });
    assert.equal(await subject.inputValue(), 'Words');
  });

  test('a character that is composed while an editor has the focus is composed in the field of before', async (view) => {
    await start(view);
    await slow(view);
    const session = await view.page.context().newCDPSession(view.page);
    const compose = (text) => session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    const subject = view.page.getByLabel('Subject');
    await subject.fill('Wor');
    const answer = view.call('fill_form', { fields: { Remarks: 'New' } });
    await isFocused(view, 'remarks');
    await view.page.keyboard.type('d');
    await session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'Process', code: 'KeyH', windowsVirtualKeyCode: 229 });
    await compose('h');
    await compose('日');
    await view.page.keyboard.insertText('日');
    assert.deepEqual((await answer).filled, { remarks: 'New' });
    assert.equal(await subject.inputValue(), 'Word日');
  });

  test('an editor takes no focus while the user composes a character', async (view) => {
    await start(view);
    await slow(view);
    const session = await view.page.context().newCDPSession(view.page);
    const subject = view.page.getByLabel('Subject');
    await subject.fill('');
    await session.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
    const answer = view.call('fill_form', { fields: { Remarks: 'New' } });
    await view.page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
    assert.equal(await view.page.evaluate(() => document.activeElement.getAttribute('name')), 'subject');
    await view.page.keyboard.insertText('日本');
    assert.deepEqual((await answer).filled, { remarks: 'New' });
    assert.equal(await subject.inputValue(), '日本');
  });

  test('an editor behind a chat that covers a phone takes a text, and the chat covers the page again', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      const chat = document.body.appendChild(document.createElement('omniassist-chat'));
      const dialog = chat.attachShadow({ mode: 'open' }).appendChild(document.createElement('dialog'));
      dialog.append(document.createElement('textarea'));
      dialog.showModal();
      const editor = document.querySelector('#remarks');
      editor.addEventListener('paste', (event) => {
        event.preventDefault();
        editor.textContent = `pasted ${event.clipboardData.getData('text/plain')}`;
      });
    });
    assert.deepEqual((await view.call('fill_form', { fields: { Remarks: 'New' } })).filled, { remarks: 'pasted New' });
    const shown = await view.page.evaluate(() => {
      const { activeElement, firstChild: dialog } = document.querySelector('omniassist-chat').shadowRoot;
      return [dialog.matches(':modal'), activeElement?.localName];
    });
    assert.deepEqual(shown, [true, 'textarea']);
  });

  test('a dialog over the page keeps the caret while a text is filled', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      const dialog = document.body.appendChild(window.make('dialog', {}, window.make('textarea', { id: 'words' })));
      dialog.showModal();
    });
    const words = view.page.locator('#words');
    await words.pressSequentially('Fil');
    const { filled } = await view.call('fill_form', { fields: { Remarks: 'New' } });
    await view.page.keyboard.type('led');
    assert.deepEqual([filled, await words.inputValue()], [{ remarks: 'New' }, 'Filled']);
  });

  test('an edit of the user removes the mark, and undo keeps it', async (view) => {
    await start(view);
    await view.call('fill_form', {
      fields: [
        { field: 'subject', value: 'A' },
        { field: 'details', value: 'B' },
        { field: 'channel', value: 'phone' },
      ],
    });
    await view.page.getByLabel('Subject').fill('Mine');
    await view.page.getByLabel('By mail').check();
    assert.deepEqual(
      await view.page.locator('[data-assistant-filled]').evaluateAll((all) => all.map((field) => field.name)),
      ['details'],
    );
    assert.deepEqual(await view.page.evaluate(() => window.page.undo()), {
      restored: ['details'],
      kept: ['channel', 'subject'],
    });
    assert.equal(await view.page.getByLabel('Subject').inputValue(), 'Mine');
    assert.equal(await view.page.getByLabel('Details').inputValue(), 'Old details');
  });

  test('undo restores call by call, also a field that two calls have filled', async (view) => {
    await start(view);
    const shown = () => view.page.evaluate(() => ['subject', 'details'].map((name) => document.querySelector(`#ticket [name=${name}]`).value));
    const undo = () => view.page.evaluate(() => window.page.undo());
    const before = await shown();
    await view.call('fill_form', { fields: { subject: 'A' } });
    await view.call('fill_form', { fields: { details: 'B' } });
    await view.call('fill_form', { fields: { subject: 'C', details: 'D' } });
    assert.deepEqual(await view.call('undo_fill', {}), { restored: ['details', 'subject'], kept: [] });
    assert.deepEqual(await shown(), ['A', 'B']);
    assert.deepEqual(await undo(), { restored: ['details'], kept: [] });
    assert.deepEqual(await undo(), { restored: ['subject'], kept: [] });
    assert.deepEqual(await shown(), before);
    assert.deepEqual(await undo(), { restored: [], kept: [] });
    for (let count = 0; count <= 20; count += 1) await view.call('fill_form', { fields: { subject: `Call ${count}` } });
    for (let count = 0; count <= 20; count += 1) await undo();
    assert.equal((await shown())[0], 'Call 0', 'the last 20 calls are undone');
  });

  test('a value that does not fit names its field, and nothing is filled', async (view) => {
    await start(view);
    const before = await values(view);
    const error = async (fields) => (await view.call('fill_form', { fields })).error;
    assert.match(
      await error({ subject: 'New', due: 'tomorrow' }),
      /^Nothing was filled\. due: The value must be a date/,
    );
    assert.match(await error({ amount: 101 }), /amount: .*100/);
    assert.match(await error({ amount: 'many' }), /amount: The value must be a number/);
    assert.match(await error({ email: 'nobody' }), /email: .*@/);
    assert.match(await error({ subject: 'x'.repeat(41) }), /subject: At most 40 characters/);
    assert.match(await error({ priority: 'medium' }), /priority: "medium" is no choice\. Choices: Low, Normal, High\./);
    assert.match(await error({ priority: 'Closed' }), /priority: "Closed" is no choice/);
    assert.match(await error({ urgent: 'perhaps' }), /urgent: The value must be true or false/);
    assert.match(
      await error({ colour: 'red' }),
      /colour: There is no such field\. Forms: ticket\. Fields: id, subject, /,
    );
    assert.match(await error({}), /no fields/);
    assert.deepEqual(await values(view), before);
  });

  test('private and locked fields, and forms that are not opted in, cannot be filled', async (view) => {
    await start(view);
    const closed = [
      'field_1',
      'shown_password',
      'card',
      'until',
      'message_code',
      'fresh',
      'old',
      'field_2',
      'ignored',
      'inside',
      'session',
      'disabled',
      'group',
      'field_7',
      'field_8',
      'accessToken',
      'masked',
      'PIN',
      'inert',
    ];
    const before = await view.page.evaluate(() =>
      [...document.querySelectorAll('input, textarea')].map((field) => field.value),
    );
    for (const name of closed) {
      const { error } = await view.call('fill_form', { fields: { [name]: 'overwritten' } });
      assert.match(error, new RegExp(`Nothing was filled\\. ${name}: Only the user fills this field`));
    }
    assert.match(
      (await view.call('fill_form', { fields: { nickname: 'x' } })).error,
      /nickname: There is no such field/,
    );
    assert.match(
      (await view.call('fill_form', { form: 'other', fields: { nickname: 'x' } })).error,
      /nickname: There is no such field\. Forms: ticket\./,
    );
    assert.deepEqual(
      await view.page.evaluate(() => [...document.querySelectorAll('input, textarea')].map((field) => field.value)),
      before,
    );
  });

  test('a form that its page submits at each change is not submitted', async (view) => {
    await start(view);
    for (const how of ['request', 'submit']) {
      await view.page.evaluate((how) => void (document.body.dataset.submitsAtChange = how), how);
      await view.call('fill_form', { fields: { ...fields, subject: how, urgent: how === 'request' } });
      await view.call('undo_fill', {});
    }
    assert.deepEqual(await view.page.evaluate(() => [window.hasSubmitted, location.pathname]), [[], '/']);
    await view.page.evaluate(() => delete document.body.dataset.submitsAtChange);
    await view.page.locator('#send').click();
    assert.deepEqual(await view.page.evaluate(() => window.hasSubmitted), ['submit'], 'the user can submit afterwards');
  });

  test('two calls at once submit nothing, and the submit of the page stays', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      document.body.dataset.submitsAtChange = 'submit';
      const form = document.querySelector('#ticket');
      form.submit = () => (window.hasSubmitted.push('own'), 'own');
    });
    await Promise.all([
      view.call('fill_form', { fields: { subject: 'One' } }),
      view.call('fill_form', { fields: { details: 'Two', amount: 3, urgent: true } }),
    ]);
    assert.deepEqual(await view.page.evaluate(() => window.hasSubmitted), []);
    assert.equal(await view.page.evaluate(() => document.querySelector('#ticket').submit()), 'own');
    await view.page.evaluate(() => delete document.body.dataset.submitsAtChange);
  });

  test('the context of a send lists the forms, and tools disappear when the page removes them', async (view) => {
    await start(view, { fill: '#other' });
    const [forms] = await view.context();
    assert.deepEqual([forms.type, forms.data], ['fillable forms', { other: 'nickname' }]);
    assert.deepEqual((await view.call('fill_form', { fields: { nickname: 'Ann' } })).filled, { nickname: 'Ann' });
    await view.page.evaluate(() => window.remove());
    assert.deepEqual(await view.context(), []);
    assert.match((await view.call('fill_form', { fields: { nickname: 'x' } })).error, /no tool/);
  });

  test('forms without a name are listed and filled by their number', async (view) => {
    await view.page.evaluate(() => {
      for (const at of [1, 2, 3]) {
        const field = window.make('input', { name: 'colour' });
        document.body.append(window.make('form', { class: 'nameless' }, field, window.make('input', { name: `own${at}` })));
      }
    });
    await start(view, { fill: '.nameless', discover: true });
    const [forms] = await view.context();
    assert.deepEqual(forms.data, { form: 'colour, own1', 'form 2': 'colour, own2', 'form 3': 'colour, own3' });
    const { filled } = await view.call('fill_form', { form: 'form 2', fields: { colour: 'red' } });
    assert.deepEqual(filled, { colour: 'red' });
    const shown = await view.page.evaluate(() => [...document.querySelectorAll('[name=colour]')].map(({ value }) => value));
    assert.deepEqual(shown, ['', 'red', '']);
    const { elements } = await view.call('discover_page', { whole_page: true });
    const found = elements.filter(({ field }) => field === 'colour').map(({ form, value }) => [form, value]);
    assert.deepEqual(found, [['form', ''], ['form 2', 'red'], ['form 3', '']]);
  });

  test('the value of a field that the page replaces is that of the new field', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      const field = document.querySelector('[name=subject]');
      field.addEventListener('change', () => {
        const next = field.cloneNode();
        next.value = 'LATE';
        field.replaceWith(next);
      });
    });
    const { filled } = await view.call('fill_form', { fields: { subject: 'late' } });
    assert.deepEqual(filled, { subject: 'LATE' });
    assert.deepEqual(await view.call('undo_fill', {}), { restored: [], kept: ['subject'] });
  });

  const option = (label, value) => ['option', { value }, label];
  const fillOne = async (view, name, value) => {
    const { filled, error } = await view.call('fill_form', { fields: [{ field: name, value }] });
    return error ?? filled[name];
  };

  test('a choice is the one whose label the model sees, and an ambiguous label is refused', async (view) => {
    await start(view);
    await add(view, [
      'select',
      { name: 'size' },
      option('None', '0'),
      option('2', '1'),
      option('1', '2'),
      ['optgroup', { label: 'Men' }, option('Large', 'ml')],
      ['optgroup', { label: 'Women' }, option('Large', 'wl')],
    ]);
    const chosen = () => view.page.evaluate(() => document.querySelector('[name=size]').value);
    assert.equal(await fillOne(view, 'size', '1'), '1');
    assert.equal(await chosen(), '2');
    assert.match(await fillOne(view, 'size', 'large'), /Several choices are called "large"\. Give a value: ml, wl\./);
    assert.equal(await fillOne(view, 'size', 'wl'), 'Large');
    assert.equal(await chosen(), 'wl');
  });

  test('a check box is ticked by its value, its label and a list of them', async (view) => {
    await start(view);
    await add(view, ['label', {}, 'Gift wrap ', ['input', { type: 'checkbox', name: 'extra', value: 'wrap' }]]);
    for (const value of ['wrap', 'gift wrap', '["wrap"]', ['Gift wrap'], true]) {
      assert.equal(await fillOne(view, 'extra', false), false);
      assert.equal(await fillOne(view, 'extra', value), true, JSON.stringify(value));
    }
    assert.equal(await fillOne(view, 'extra', []), false);
    assert.match(await fillOne(view, 'extra', 'ribbon'), /The value must be true or false/);
  });

  test('a value that the page sets later stays at undo', async (view) => {
    await start(view);
    await view.call('fill_form', { fields: { subject: 'A', due: '2026-03-04', details: 'B' } });
    await view.page.evaluate(() => void (document.querySelector('[name=due]').value = '2026-05-06'));
    assert.deepEqual(await view.call('undo_fill', {}), { restored: ['details', 'subject'], kept: ['due'] });
    assert.equal(await view.page.getByLabel('Due').inputValue(), '2026-05-06');
  });

  test('an edit in another form leaves the marks of check boxes with the same name', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      const box = window.make('input', { type: 'checkbox', name: 'urgent', 'aria-label': 'Other urgent' });
      document.querySelector('#other').append(box);
    });
    await view.call('fill_form', { fields: { urgent: true } });
    await view.page.getByLabel('Other urgent').check();
    assert.deepEqual(await view.call('undo_fill', {}), { restored: ['urgent'], kept: [] });
  });

  test('a value that the browser would replace is refused', async (view) => {
    await start(view);
    await add(
      view,
      ['input', { type: 'range', name: 'volume', min: '0', max: '10', value: '3' }],
      ['input', { type: 'color', name: 'paint', value: '#112233' }],
    );
    for (const [name, value] of [
      ['volume', 'loud'],
      ['volume', '11'],
      ['paint', 'dark blue'],
      ['subject', 'Two\nlines'],
    ])
      assert.match(await fillOne(view, name, value), new RegExp(`^Nothing was filled\\. ${name}: The browser would replace`));
    assert.equal(await fillOne(view, 'volume', 7), '7');
    assert.equal(await fillOne(view, 'paint', '#AABBCC'), '#aabbcc');
    assert.equal(await fillOne(view, 'subject', 'One line\n'), 'One line');
  });
});

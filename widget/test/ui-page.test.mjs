// What the user sees of the page's own tools in the chat.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answers, begins, says, serve, sse } from '../testing/chat.mjs';
import { openBrowser } from '../testing/page.mjs';
import { LINES, openWidget } from '../testing/widget-page.mjs';

const FORM =
  '<form data-assistant="ticket"><label>Subject <input name="subject" value="old"></label><label>Details <input name="details"></label></form>';

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser?.close());

/** Opens a page with a form, the widget and an assistant that answers with `turns`. The page registers its tools with `options`. */
async function opened(t, turns, options, { attributes = '', ...settings } = {}) {
  const assistant = await serve(...turns);
  const body = FORM + LINES(`mode="panel" ${attributes}`);
  const view = await openWidget(browser, { body, target: new URL(assistant.api).origin, ...settings });
  t.after(async () => {
    await view.close();
    await assistant.stop();
  });
  await view.page.evaluate(async (options) => {
    await document.querySelector('omniassist-chat').chat.ready;
    const { page } = await import('/assistant/widget.js');
    await page.tools(options);
  }, options);
  const ask = async (text) => {
    await view.input.fill(text);
    await view.input.press('Enter');
  };
  return { ...view, assistant, ask, calls: view.part('tool') };
}

const call = (toolCallId, toolName, input) => answers({ type: 'tool-input-available', toolCallId, toolName, input });

test('the user undoes a call that filled the form, and the model is told', async (t) => {
  const fill = (id, field, value) => call(id, 'fill_form', { fields: [{ field, value }] });
  const turns = [fill('one', 'subject', 'Lamp'), fill('two', 'details', 'Broken'), says('Done.'), says('All right.')];
  const view = await opened(t, turns, { fill: true });
  const [subject, details] = ['Subject', 'Details'].map((name) => view.page.getByLabel(name, { exact: true }));
  await view.ask('Fill it in');
  await view.part('messages').getByText('Done.').waitFor();
  const undo = view.calls.getByRole('button', { name: 'Undo filling in' });
  assert.equal(await undo.count(), 2);
  await undo.first().click();
  await undo.nth(1).waitFor({ state: 'detached' });
  assert.deepEqual([await subject.inputValue(), await details.inputValue()], ['old', 'Broken']);
  await undo.click();
  await undo.waitFor({ state: 'detached' });
  assert.equal(await details.inputValue(), '');
  await view.ask('And now?');
  await view.part('messages').getByText('All right.').waitFor();
  const told = view.assistant.posts.at(-1).context.filter(({ type }) => type === 'undone by the user');
  assert.deepEqual(told.map(({ data }) => data.restored), [['subject'], ['details']]);
});

/** Opens a chat whose last answer has filled the form. Its call has a button that undoes it. */
async function withUndo(t) {
  const turns = [call('one', 'fill_form', { fields: [{ field: 'subject', value: 'Lamp' }] }), says('Done.')];
  const view = await opened(t, turns, { fill: true });
  await view.ask('Fill it in');
  await view.part('messages').getByText('Done.').waitFor();
  assert.equal(await view.part('undo').isVisible(), true);
  return view;
}

test('a call that the page undoes has no button to undo it', async (t) => {
  const view = await withUndo(t);
  await view.page.evaluate(async () => (await import('/assistant/widget.js')).page.undo());
  assert.equal(await view.part('undo').isVisible(), false);
});

test('a call of the time before a reload has no button to undo it', async (t) => {
  const view = await withUndo(t);
  await view.page.reload();
  await view.part('messages').getByText('Done.').waitFor();
  assert.equal(await view.part('undo').isVisible(), false);
});

/** Lets the assistant open another site. Returns the question for the user, and the call as it is shown meanwhile and afterwards. */
async function asks(t, options, settings) {
  const turns = [call('one', 'navigate', { path: 'https://shop.example/' }), says('Done.')];
  const view = await opened(t, turns, { navigate: true, ...options }, settings);
  await view.ask('Shop');
  const question = await view.part('question').locator('p').innerText();
  const shown = async () => view.calls.locator('[part=summary]').innerText();
  const running = await shown();
  await view.part('refuse').click();
  await view.part('messages').getByText('Done.').waitFor();
  return [question, running, await shown()].map((text) => text.replace(/\s+/g, ' ').trim());
}

test('the tools of the page use the language of the page, also while they run', async (t) => {
  assert.deepEqual(await asks(t, {}, { lang: 'de-AT' }), [
    'Eine andere Website in einem neuen Tab öffnen? https://shop.example/',
    'Seite öffnen läuft',
    'Seite öffnen fehlgeschlagen',
  ]);
});

test('the language of the chat comes before that of the page, and texts of the page before both', async (t) => {
  const texts = { foreign: 'Go to {url}?' };
  assert.deepEqual(await asks(t, { texts }, { lang: 'de', attributes: 'locale="es"' }), [
    'Go to https://shop.example/?',
    'Abrir una página en ejecución',
    'Abrir una página falló',
  ]);
});

test('a call has its title while its arguments arrive', async (t) => {
  let arrives;
  const begun = { type: 'tool-input-start', toolCallId: 'one', toolName: 'fill_form' };
  const input = { fields: [{ field: 'subject', value: 'Lampe' }] };
  const view = await opened(t, [begins((response) => (arrives = response), begun), says('Fertig.')], { fill: true }, { lang: 'de' });
  await view.ask('Bitte ausfüllen');
  assert.match(await view.calls.locator('[part=summary]').innerText(), /^Formular ausfüllen\s+wird vorbereitet/);
  arrives.end(sse({ ...begun, type: 'tool-input-available', input }, { type: 'finish-step' }, { type: 'finish' }));
  await view.part('undo').getByText('Ausfüllen rückgängig machen').waitFor();
});

// What the user sees of the page's own tools in the chat.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answers, says, serve } from '../testing/chat.mjs';
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

test('a call of the time before a reload has no button to undo it', async (t) => {
  const turns = [call('one', 'fill_form', { fields: [{ field: 'subject', value: 'Lamp' }] }), says('Done.')];
  const view = await opened(t, turns, { fill: true });
  await view.ask('Fill it in');
  await view.part('messages').getByText('Done.').waitFor();
  assert.equal(await view.part('undo').isVisible(), true);
  await view.page.reload();
  await view.part('messages').getByText('Done.').waitFor();
  assert.equal(await view.part('undo').isVisible(), false);
});

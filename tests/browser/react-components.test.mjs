// examples/react-chat/components.html: a small page with an unmodified `useChat` that shows components. A scripted model
// answers.

import assert from 'node:assert/strict';

import { holdAfter, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { startBehind } from '../lib/vite.mjs';
import { suiteOn } from './page.mjs';

const PAGE = '/components.html';

let model;

const onPage = suiteOn(async () => {
  const app = await startScripted((model) => startBehind('react-chat', () => startQuickstart(openai('openai', model.baseUrl))));
  ({ model } = app);
  return app;
});

async function ask(view, question) {
  await view.page.getByLabel('Question').fill(question);
  await view.page.keyboard.press('Enter');
}

const PROPS = { columns: [{ label: 'Tea' }, { label: 'Packs', kind: 'number' }], rows: [['Assam', 3], ['Sencha Uji', 5]], selectable: true };

onPage('useChat: a component grows, and its state is posted back', async (view) => {
  let go;
  const held = new Promise((resolve) => (go = resolve));
  const calls = [{ id: 'call_table', name: 'ui_table', args: PROPS }];
  model.script({ calls, hold: holdAfter('Sencha', () => held) }, { text: 'There.' }, { text: 'Three packs.' });
  await ask(view, 'Show the teas');
  await view.page.getByText('Assam').waitFor();
  assert.equal(await view.page.getByText('Sencha Uji').count(), 0);
  go();
  await view.page.getByText('There.').waitFor();
  await view.page.getByRole('row', { name: 'Assam' }).getByRole('checkbox').check();
  await view.screenshot('react-components');
  await ask(view, 'How many did I tick?');
  await view.page.getByText('Three packs.').waitFor();
  assert.match(model.requests[2].raw, /\\"selected\\":\[\\"Assam\\"\]/);
  const posted = view.runs[1].messages[1].parts.find((part) => part.type === 'data-ui-state');
  assert.equal(typeof posted.data.seal, 'string');
}, PAGE);

onPage('useChat: a component that waits is answered', async (view) => {
  const args = { fields: [{ name: 'day', label: 'Day', kind: 'date', required: true }], submit: 'Book' };
  model.script({ calls: [{ id: 'call_form', name: 'ui_form', args }] }, { text: 'It is booked.' });
  await ask(view, 'Book a delivery');
  await view.page.getByLabel('Day').fill('2026-12-01');
  await view.page.getByRole('button', { name: 'Book' }).click();
  await view.page.getByText('It is booked.').waitFor();
  const output = model.requests[1].body.input.find((item) => item.type === 'function_call_output');
  assert.deepEqual(JSON.parse(output.output), { values: { day: '2026-12-01' } });
}, PAGE);

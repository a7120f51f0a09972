// The quickstart's page shows components: a table with a state, a chart and a form that waits. A scripted model answers.

import assert from 'node:assert/strict';

import { instancesIn } from '../lib/components.mjs';
import { holdAfter, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { forgive, prose, suiteOn } from './page.mjs';

const KEYS = { OMNIASSIST_SEAL_KEYS: `k1:${'5a'.repeat(32)}` };

/** Starts a quickstart whose chats the page keeps, or the server. */
const start = (stored) => async () => {
  return startScripted((model) => startQuickstart({ ...openai('openai', model.baseUrl), ...KEYS }, { stored }));
};
const suites = { page: suiteOn(start(false)), server: suiteOn(start(true)) };

/** Returns the output of the last call in a request to the model. */
const lastOutput = (body) => JSON.parse(body.input.findLast((item) => item.type === 'function_call_output').output);

/** A turn that shows the sales that a tool has returned. It waits for `until()` after the fourth region. */
const showing = (until) => (body) => {
  const sales = lastOutput(body);
  const number = (label) => ({ label, kind: 'number' });
  const columns = [{ label: 'Region' }, number('Orders'), number('Euros')];
  const rows = sales.map(({ region, orders, euros }) => [region, orders, euros]);
  const series = [{ name: 'Euros', values: sales.map(({ euros }) => euros) }];
  const table = { title: 'Sales by region', columns, rows, selectable: true };
  const chart = { title: 'Sales in euros', kind: 'bar', labels: sales.map(({ region }) => region), series, unit: '€' };
  return { calls: [{ id: 'call_table', name: 'ui_table', args: table }, { id: 'call_chart', name: 'ui_chart', args: chart }], hold: holdAfter(sales[3].region, until) };
};
const sales = { calls: [{ id: 'call_sales', name: 'sales_by_region', args: {} }] };

/** A turn that answers from what the model was sent: the sum of the rows that are ticked. */
function sumOfTicked(body) {
  const { selected } = instancesIn(body).find(({ component }) => component === 'table').state;
  const { rows } = JSON.parse(body.input.find((item) => item.name === 'ui_table').arguments);
  const ticked = rows.filter(([region]) => selected.includes(region));
  return { text: `${selected.join(' and ')}: ${ticked.reduce((sum, row) => sum + row[2], 0).toFixed(2)} euros.` };
}

const table = (view) => view.page.locator('[data-tool-name=ui_table]');
const chart = (view) => view.page.locator('[data-tool-name=ui_chart]');
const rows = (view) => table(view).locator('tbody tr');
const box = (view, region) => rows(view).filter({ hasText: region }).getByRole('checkbox');

async function ticksRows(view, app, keeper) {
  const { model } = app;
  let go;
  const held = new Promise((resolve) => (go = resolve));
  model.script(sales, showing(() => held), { text: 'There they are.' });
  await view.type('Show sales by region');
  await rows(view).first().waitFor();
  await until(async () => (await rows(view).count()) >= 2, 'some rows are shown');
  assert.ok((await rows(view).count()) < 7, 'the rest of the rows is still to come');
  assert.equal(await chart(view).count(), 0);
  await view.screenshot('components-growing');
  go();
  await view.settled();
  await until(async () => (await rows(view).count()) === 7, 'all rows are shown');
  await chart(view).locator('svg').waitFor();

  for (const region of ['Berlin', 'Vienna']) await box(view, region).check();
  await view.screenshot('components');
  await chart(view).scrollIntoViewIfNeeded();
  await view.screenshot(`components-chart-${keeper}`);
  await view.page.emulateMedia({ colorScheme: 'dark' });
  await view.screenshot('components-dark');
  await view.page.reload();
  await box(view, 'Berlin').waitFor();
  assert.deepEqual([await box(view, 'Berlin').isChecked(), await box(view, 'Dublin').isChecked()], [true, false]);
  await app.kill();
  await app.start();
  await view.page.reload();
  assert.ok(await box(view, 'Vienna').isChecked());

  model.script(sumOfTicked);
  await view.ask('The total of what I ticked?');
  const orders = await (await fetch(`${app.origin}/api/orders`)).json();
  const customers = await (await fetch(`${app.origin}/api/customers`)).json();
  const city = new Map(customers.map(({ name, city }) => [name, city]));
  const euros = (amount) => Number.parseFloat(amount);
  const counted = orders.filter((order) => order.status !== 'cancelled' && ['Berlin', 'Vienna'].includes(city.get(order.customer)));
  const sum = counted.reduce((sum, order) => sum + euros(order.total) - euros(order.refunded), 0);
  assert.equal(await prose(view.answer()), `Berlin and Vienna: ${sum.toFixed(2)} euros.`);
  forgive(view);
}

for (const [keeper, onPage] of Object.entries(suites)) {
  const name = `ticked rows that the ${keeper} keeps survive a reload and a restart, and the model is sent them`;
  onPage(name, (view, app) => ticksRows(view, app, keeper));
}

suites.page('a form waits for the user, and the model gets what was entered', async (view, { model }) => {
  const fields = [
    { name: 'day', label: 'Day', kind: 'date', required: true },
    { name: 'time', label: 'Time', kind: 'select', options: ['morning', 'afternoon'], required: true },
    { name: 'floor', label: 'Floor', kind: 'number' },
  ];
  const args = { title: 'Book a delivery', fields, submit: 'Book' };
  model.script({ calls: [{ id: 'call_form', name: 'ui_form', args }] }, { text: 'It is booked.' });
  await view.ask('Book a delivery');
  const form = view.page.locator('[data-tool-name=ui_form]');
  await form.getByLabel('Day').fill('2026-12-01');
  await form.getByRole('button', { name: 'Book' }).click();
  assert.equal(model.requests.length, 1, 'a field is missing');
  await form.getByLabel('Time').selectOption('morning');
  await form.getByLabel('Floor').fill('3');
  await view.screenshot('components-form');
  await form.getByRole('button', { name: 'Book' }).click();
  await until(async () => (await prose(view.answer())) === 'It is booked.', 'the run continues');
  await view.settled();
  assert.deepEqual(lastOutput(model.requests[1].body), { values: { day: '2026-12-01', time: 'morning', floor: 3 } });
  assert.equal(await form.getByRole('button', { name: 'Book' }).count(), 0, 'the answer is shown in place of the form');
  await view.screenshot('components-form-sent');
});

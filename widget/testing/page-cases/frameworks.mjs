import assert from 'node:assert/strict';
import { suite } from '../page-tools.mjs';

const filled = {
  subject: 'Late delivery',
  details: 'Two\nlines',
  priority: 'high',
  urgent: true,
  channel: 'phone',
  due: '2026-03-04',
  amount: '12',
};
const state = (view) => view.page.evaluate(() => window.state);

async function fillsState(view, wanted) {
  const before = await state(view);
  const answer = await view.call('fill_form', { form: 'ticket', fields: filled });
  assert.equal(answer.error, undefined);
  assert.deepEqual(await state(view), { ...before, ...wanted });
  const [form] = (await view.context()).filter(({ type }) => type === 'form');
  assert.deepEqual(
    [form.data.form, form.data.fields.find(({ name }) => name === 'subject').value],
    ['ticket', 'Late delivery'],
  );
  assert.doesNotMatch(JSON.stringify([form, answer]), /planted/);
  const undone = await view.call('undo_fill', {});
  assert.deepEqual([undone.kept, undone.restored.length], [[], Object.keys(filled).length]);
  assert.deepEqual(await state(view), before);
}

/** Opens an order by its path with and without the folder of the router, where the routes have none. */
async function opensBothForms(view) {
  await view.page.evaluate(() => void window.page.tools({ navigate: window.router, routes: [{ path: '/orders/:id' }] }));
  for (const path of ['/app/orders/7', '/orders/8']) {
    const answer = await view.call('navigate', { path });
    assert.equal(answer.path, `/app/orders/${path.at(-1)}`, JSON.stringify(answer));
  }
  for (const path of ['/app/start', '/application/orders/7'])
    assert.match((await view.call('navigate', { path })).error, /There is no page/, path);
}

suite('react', (test) => {
  test('contract_001_09 the state of a React form has the filled values, and the earlier ones after undo', async (view) => {
    await fillsState(view, filled);
    assert.equal(await view.page.evaluate(() => window.submitted), undefined);
  });

  test('contract_001_09 React Router opens a page after its loader, and says what it cannot open', async (view) => {
    assert.deepEqual(await view.call('navigate', { path: '/orders/7' }), { path: '/orders/7', title: 'Order 7' });
    assert.equal(await view.page.locator('p').textContent(), 'Order 7');
    const navigation = (await view.context()).filter(({ type }) => type === 'navigation');
    assert.deepEqual(
      navigation.map(({ data }) => data),
      [{ path: '/orders/7', title: 'Order 7', from: '/' }],
    );
    assert.match(
      (await view.call('navigate', { path: '/nowhere' })).error,
      /The page \/nowhere was not opened: 404 Not Found\./,
    );
    assert.deepEqual(view.server.loads, ['/']);
  });

  const opensFragments = async (view) => {
    for (const path of ['/orders/7', '/hash/#/orders/8']) {
      const opened = `/hash/#/orders/${path.at(-1)}`;
      assert.deepEqual(await view.call('navigate', { path }), { path: opened, title: `Order ${path.at(-1)}` });
    }
  };
  test('React Router with pages in the fragment opens the paths that it has reported', opensFragments, { path: '/hash/' });
  test('with a list of routes, React Router opens a path with and without its base', opensBothForms, { path: '/app/' });
});

suite('vue', (test) => {
  test(
    'contract_001_09 the state of a Vue form has the filled values, and the earlier ones after undo',
    async (view) => {
      await fillsState(view, { ...filled, amount: 12 });
      await view.call('fill_form', { fields: { days: ['mo'], lazy: 'new' } });
      const { days, lazy } = await state(view);
      assert.deepEqual([days, lazy], [['mo'], 'new']);
    },
    { path: '/app/' },
  );

  test(
    'contract_001_09 Vue Router opens a page below its base, and says what it cannot open',
    async (view) => {
      assert.deepEqual(await view.call('navigate', { path: '/app/orders/7' }), {
        path: '/app/orders/7',
        title: 'Order',
      });
      assert.deepEqual(await view.call('navigate', { path: '/app/orders/7' }), {
        path: '/app/orders/7',
        title: 'Order',
      });
      assert.equal(await view.page.locator('p').textContent(), 'An order');
      assert.match((await view.call('navigate', { path: '/app/nowhere' })).error, /There is no page \/app\/nowhere\./);
      assert.match(
        (await view.call('navigate', { path: '/app/closed' })).error,
        /The page \/app\/closed was not opened: /,
      );
      assert.deepEqual(view.server.loads, ['/app/']);
    },
    { path: '/app/' },
  );

  test('with a list of routes, Vue Router opens a path with and without its base', opensBothForms, { path: '/app/' });
});

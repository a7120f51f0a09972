import assert from 'node:assert/strict';
import { suite } from '../page-tools.mjs';

const start = (view, options) =>
  view.page.evaluate((options) => void (window.remove = window.page.capture(options)), options);
const go = (view, path, title) =>
  view.page.evaluate(
    ([path, title]) => {
      history.pushState(null, '', path);
      // Pages set the title when they have drawn.
      document.title = title;
    },
    [path, title],
  );
const data = async (view) => (await view.context()).map(({ type, data }) => ({ type, ...data }));

suite('plain', (test) => {
  test('contract_001_09 visited pages are added once, and the open page is in each send', async (view) => {
    await start(view, { navigation: true });
    assert.deepEqual(await data(view), [{ type: 'navigation', path: '/', title: 'Start' }]);
    await go(view, '/orders', 'Orders');
    await go(view, '/orders/7?view=all', 'Order 7');
    assert.deepEqual(await data(view), [
      { type: 'navigation', path: '/orders', title: 'Orders', from: '/' },
      { type: 'navigation', path: '/orders/7?view=all', title: 'Order 7', from: '/orders' },
    ]);
    assert.deepEqual(await data(view), [{ type: 'navigation', path: '/orders/7?view=all', title: 'Order 7' }]);
    await view.page.goBack();
    assert.deepEqual(await data(view), [
      { type: 'navigation', path: '/orders', title: 'Order 7', from: '/orders/7?view=all' },
    ]);
    await view.page.evaluate(() => window.remove());
    await go(view, '/later', 'Later');
    assert.deepEqual(await data(view), []);
  });

  const fields = ({ fields }) => Object.fromEntries(fields.map(({ name, value }) => [name, value]));

  test('contract_001_09 an opted-in form is added after a change, and at once when it is submitted', async (view) => {
    await start(view, { forms: true, delay: 60_000 });
    await view.page.getByLabel('Nickname').fill('not opted in');
    assert.deepEqual(await data(view), []);
    await view.page.getByLabel('Subject').fill('Late delivery');
    await view.page.getByLabel('By phone').check();
    // The message of the user is sent within the pause.
    const [changed, ...rest] = await data(view);
    assert.deepEqual([changed.type, changed.form, changed.event, rest], ['form', 'ticket', 'changed', []]);
    assert.deepEqual(fields(changed), {
      id: '17',
      subject: 'Late delivery',
      details: 'Old details',
      priority: 'Low',
      labels: ['green'],
      urgent: false,
      channel: 'By phone',
      days: ['Friday'],
      due: '',
      amount: '',
      email: '',
      remarks: 'Old remarks',
    });
    assert.deepEqual(changed.fields.find(({ name }) => name === 'channel').label, 'Channel');
    assert.deepEqual(await data(view), [], 'it is added once');

    await view.page.evaluate(() =>
      document.querySelector('#ticket').addEventListener('submit', (event) => event.target.reset()),
    );
    await view.page.locator('#send').click();
    const [submitted] = await data(view);
    assert.deepEqual([submitted.event, fields(submitted).subject], ['submitted', 'Late delivery']);
  });

  test('changes are added together after the pause, with what the browser finds wrong', async (view) => {
    await start(view, { forms: true, delay: 30 });
    await view.page.evaluate(() => {
      window.added = new Promise((done) => {
        const { addContext } = window.registry;
        window.registry.addContext = (message) => {
          addContext.call(window.registry, message);
          done();
        };
      });
    });
    await view.page.getByLabel('E-mail').pressSequentially('nobody');
    await view.page.getByLabel('Subject').focus();
    await view.page.evaluate(() => window.added);
    const all = await data(view);
    assert.match(all.at(-1).errors.email, /@/);
    assert.equal(fields(all.at(-1)).email, 'nobody');
  });
});

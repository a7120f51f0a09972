import assert from 'node:assert/strict';
import { suite } from '../page-tools.mjs';

/** A page with a small router of its own, which loads before it draws. */
const start = (view, options = {}) =>
  view.page.evaluate((options) => {
    addEventListener('popstate', () => {
      if (!location.pathname.startsWith('/orders')) return;
      setTimeout(() => {
        document.querySelector('h1').textContent = 'Orders';
        document.title = 'Orders';
      }, 60);
    });
    void window.page.tools({ navigate: true, ...options });
  }, options);

suite('plain', (test) => {
  test('the History API opens a page, and the answer has its path and title', async (view) => {
    await start(view);
    assert.deepEqual(await view.call('navigate', { path: '/orders?status=open' }), {
      path: '/orders?status=open',
      title: 'Orders',
    });
    assert.deepEqual(await view.asked(), []);
    assert.deepEqual(view.server.loads, ['/'], 'the page was not loaded again');
    assert.deepEqual(await view.call('navigate', { path: '#part' }), {
      path: '/orders?status=open#part',
      title: 'Orders',
    });
  });

  test('a page that the router does not show needs the agreement of the user', async (view) => {
    await start(view);
    assert.match((await view.call('navigate', { path: '/elsewhere' })).error, /did not agree/);
    await view.page.waitForFunction(() => location.pathname === '/');
    assert.deepEqual(await view.asked(), [`Leave this page and open ${view.server.origin}/elsewhere?`]);
    const loaded = view.page.waitForEvent('load');
    assert.deepEqual(await view.call('navigate', { path: '/elsewhere' }, true), { loading: '/elsewhere' });
    await loaded;
    assert.deepEqual(view.server.loads, ['/', '/elsewhere']);
  });

  test('another site needs the agreement of the user, and gets a tab of its own', async (view) => {
    await start(view);
    const foreign = view.server.origin.replace('127.0.0.1', 'localhost');
    const opened = [];
    view.tabs.on('page', (tab) => opened.push(tab.url()));
    assert.match((await view.call('navigate', { path: `${foreign}/x?d=1` })).error, /did not agree/);
    assert.deepEqual(await view.asked(), [`Open another site in a new tab? ${foreign}/x?d=1`]);
    assert.deepEqual([opened, view.server.loads], [[], ['/']]);
    const odd = `${foreign}/$'x$&`;
    assert.match((await view.call('navigate', { path: odd })).error, /did not agree/);
    assert.equal((await view.asked()).at(-1), `Open another site in a new tab? ${odd}`);
    const tab = view.tabs.waitForEvent('page');
    await view.page.mouse.click(5, 690);
    assert.equal(
      (await view.call('navigate', { path: `${foreign}/x?d=1` }, true)).opened_in_new_tab,
      `${foreign}/x?d=1`,
    );
    await (await tab).waitForURL(`${foreign}/x?d=1`);
    assert.equal(await (await tab).evaluate(() => window.opener), null);
    assert.equal(await view.page.evaluate(() => location.pathname), '/');
  });

  test('an address that is no page is refused', async (view) => {
    await start(view);
    for (const path of [
      'javascript:alert(1)',
      'data:text/html,x',
      'blob:x',
      'http://user:word@127.0.0.1/',
      'http://[',
      'mailto:a@example.com',
      '/.//localhost:1/x',
      '/%2e%2e/\\localhost:1/x',
    ]) {
      assert.match((await view.call('navigate', { path }, true)).error, /is no path of a page/, path);
    }
    assert.match((await view.call('navigate', { path: '//localhost:1/x' })).error, /did not agree/);
  });

  test('with a list of routes, other paths are refused and the model is told the routes', async (view) => {
    await start(view, { routes: [{ path: '/orders/:id?', title: 'Orders' }, { path: '/files/*' }] });
    assert.match(
      await view.page.evaluate(() => window.registry.tools.get('navigate').tool.description),
      /^\/orders\/:id\?: Orders$/m,
    );
    assert.match(
      (await view.call('navigate', { path: '/logout' })).error,
      /There is no page \/logout\. Pages: \/orders\/:id\?, \/files\/\*\./,
    );
    assert.match((await view.call('navigate', { path: '/orders/1/edit' })).error, /There is no page/);
    assert.equal((await view.call('navigate', { path: '/orders/7' })).path, '/orders/7');
  });

  test('a list of routes fits paths as the routers do: names with hyphens, other letters, any case', async (view) => {
    const routes = [{ path: '/orders/:order-id' }, { path: '/orders/by-day/:from-:to' }, { path: '/orders/für/über' }];
    await start(view, { routes });
    for (const [path, opened] of [
      ['/orders/7'],
      ['/orders/by-day/1-2'],
      ['/orders/für/über', '/orders/f%C3%BCr/%C3%BCber'],
      ['/orders/f%C3%BCr/%C3%BCber'],
      ['/orders/By-Day/1-2'],
      ['/orders/a%2Fb'],
    ])
      assert.equal((await view.call('navigate', { path })).path, opened ?? path);
    for (const path of ['/orders', '/orders/7/8', '/orders/%E0%A4%A'])
      assert.match((await view.call('navigate', { path: `${path}/no/page` })).error, /There is no page/);
  });

  test('a function of the page navigates, and its exception is the error', async (view) => {
    await view.page.evaluate(() => {
      window.page.tools({
        navigate: async (path) => {
          if (path === '/no') throw new Error('Not today.');
          await new Promise((done) => setTimeout(done, 30));
          history.pushState(null, '', path);
          setTimeout(() => void (document.title = 'Later'), 30);
        },
      });
    });
    assert.deepEqual(await view.call('navigate', { path: '/no' }), { error: 'Not today.' });
    assert.deepEqual(await view.call('navigate', { path: '/yes' }), { path: '/yes', title: 'Later' });
  });

  test('a function that only begins to navigate is waited for', async (view) => {
    await view.page.evaluate(() => {
      window.page.tools({
        navigate: (path) =>
          void setTimeout(() => {
            history.pushState(null, '', path);
            document.title = 'Loaded';
          }, 500),
      });
    });
    assert.deepEqual(await view.call('navigate', { path: '/late' }), { path: '/late', title: 'Loaded' });
  });
});

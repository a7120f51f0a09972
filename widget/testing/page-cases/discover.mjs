import assert from 'node:assert/strict';
import { suite } from '../page-tools.mjs';

const start = (view, options = { fill: true, discover: true, point: true, navigate: true }) =>
  view.page.evaluate((options) => void window.page.tools(options), options);
const hasSecret = (value) => /planted/.test(JSON.stringify(value));

suite('plain', (test) => {
  test('contract_000_09 the list has roles, names, references and the values of opted-in forms', async (view) => {
    await start(view);
    const { page, elements } = await view.call('discover_page', {});
    assert.deepEqual(page, { path: '/', title: 'Start' });
    const named = (name) => elements.find((element) => element.name === name);
    assert.equal(named('Tickets').role, 'heading');
    assert.deepEqual(
      { ...named('Orders'), ref: '' },
      { ref: '', role: 'link', name: 'Orders', to: '/orders?token=[redacted]&page=2' },
    );
    assert.deepEqual(
      { ...named('Manual'), ref: '' },
      { ref: '', role: 'link', name: 'Manual', to: 'https://example.com' },
    );
    assert.deepEqual(
      { ...named('Open details'), ref: '' },
      { ref: '', role: 'button', name: 'Open details', id: 'open-details', click: true },
    );
    assert.deepEqual(
      { ...named('Priority'), ref: '' },
      {
        ref: '',
        role: 'combobox',
        name: 'Priority',
        form: 'ticket',
        field: 'priority',
        value: 'Low',
        choices: ['Low', 'Normal', 'High'],
      },
    );
    assert.equal(named('Far away'), undefined, 'it is out of view');
    const whole = await view.call('discover_page', { whole_page: true });
    const find = (name) => whole.elements.find((element) => element.name === name);
    assert.equal(find('Far away').id, 'far');
    assert.equal(find('By mail').value, true);
    assert.equal(find('Remarks').value, 'Old remarks');
    assert.deepEqual({ ...find('Word'), ref: '' }, { ref: '', role: 'textbox', name: 'Word', private: true });
    assert.equal(find('Nickname').value, undefined, 'its form is not opted in');
    assert.equal(find('Priority').ref, named('Priority').ref, 'references stay the same');
    const filled = await view.call('fill_form', { fields: [{ field: named('Subject').ref, value: 'By reference' }] });
    assert.deepEqual(filled.filled, { subject: 'By reference' });
  });

  test('what its container cuts off is listed with the whole page only, and names have no hidden text', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      const { make } = window;
      const slides = make('div', {}, make('button', {}, 'Slide 1'), make('button', {}, 'Slide 2'));
      Object.assign(slides.style, { display: 'flex', overflow: 'hidden', inlineSize: '100px' });
      for (const slide of slides.children) slide.style.flex = 'none';
      slides.firstChild.style.inlineSize = '100px';
      const [none, invisible] = [make('span', {}, 'Loading'), make('span', {}, 'Done')];
      none.hidden = true;
      invisible.style.visibility = 'hidden';
      document.body.prepend(slides, make('button', {}, none, invisible, 'Save'));
    });
    const named = async (input) => {
      const { elements } = await view.call('discover_page', input);
      return elements.map(({ name }) => name).filter((name) => /Slide|Save/.test(name));
    };
    assert.deepEqual(await named({}), ['Slide 1', 'Save']);
    assert.deepEqual(await named({ whole_page: true }), ['Slide 1', 'Slide 2', 'Save']);
  });

  test('a link whose address is not valid is listed without an address', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      for (const href of ['http://', 'http://a:99999/', 'http://[/']) {
        const link = document.querySelector('h1').appendChild(document.createElement('a'));
        link.setAttribute('href', href);
        link.textContent = 'Broken';
      }
    });
    const { elements } = await view.call('discover_page', {});
    const broken = elements.filter(({ name }) => name === 'Broken');
    assert.deepEqual(broken.map(({ role, to }) => [role, to]), Array(3).fill(['link', undefined]));
  });

  test('twenty planted secrets are in no list, no result, no error and no context', async (view) => {
    await start(view);
    await view.page.evaluate(() => void window.page.capture({ navigation: true, forms: true, delay: 0 }));
    const said = [];
    said.push(
      await view.call('discover_page', { whole_page: true }),
      await view.call('fill_form', { fields: { subject: 'New', field_2: 'x' } }),
    );
    for (const [, name] of 'field_1,card,masked,session,inside'.matchAll(/(\w+)/g)) {
      said.push(
        await view.call('fill_form', { fields: { [name]: 'x' } }),
        await view.call('point_at', { target: name }),
      );
    }
    said.push(await view.call('fill_form', { fields: { subject: 'New' } }));
    await view.page.getByLabel('Details').fill('typed');
    // The user changes private fields too.
    for (const name of ['field_1', 'shown_password', 'card', 'message_code', 'ignored']) {
      await view.page
        .locator(`[name=${name}]`)
        .evaluate((field) => field.dispatchEvent(new Event('change', { bubbles: true })));
    }
    await view.page.locator('#send').click();
    await view.page.evaluate(() =>
      history.pushState(null, '', '/reset?token=planted-token&code=planted-code#access_token=planted-hash'),
    );
    said.push(await view.call('navigate', { path: '/reset?otp=planted' }), await view.context());
    assert.equal(
      await view.page.evaluate(
        () =>
          [...document.querySelectorAll('#ticket *')].filter((field) =>
            /^planted-\d+-secret$/.test(field.value || field.textContent),
          ).length,
      ),
      20,
    );
    assert.equal(hasSecret(said), false, JSON.stringify(said).match(/.{200}planted.{20}/)?.[0]);
    assert.match(JSON.stringify(said), /typed/, 'what is not private is said');
  });

  test('the list of a large page has at most 8 KB and says how many elements are left out', async (view) => {
    await start(view);
    await view.page.evaluate(() => {
      for (let number = 0; number < 2_000; number += 1) {
        const link = document.createElement('a');
        link.href = `/${number}`;
        link.textContent = `Größe ${number} 日本語`;
        document.body.append(link, ' ');
      }
    });
    const list = await view.call('discover_page', { whole_page: true });
    assert.ok(Buffer.byteLength(JSON.stringify(list)) <= 8_192);
    assert.ok(Buffer.byteLength(JSON.stringify(list)) > 7_500);
    assert.ok(list.more > 1_800);
  });

  test(
    'pointing scrolls to an element within the window that its list or table hides',
    async (view) => {
      await start(view);
      await view.page.evaluate(() => {
        const list = document.querySelector('h1').appendChild(document.createElement('div'));
        Object.assign(list.style, { overflow: 'auto', blockSize: '60px', inlineSize: '200px', font: '16px / 20px monospace', whiteSpace: 'pre' });
        for (let number = 0; number < 10; number += 1) {
          const button = list.appendChild(document.createElement('div')).appendChild(document.createElement('button'));
          button.textContent = `Row ${number}`;
          button.style.marginInlineStart = '300px';
        }
      });
      assert.deepEqual(await view.call('point_at', { target: 'Row 9' }), { pointed_at: 'Row 9' });
      const isSeen = await view.page.evaluate(() => {
        const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Row 9');
        const { x, y, width, height } = button.getBoundingClientRect();
        return document.elementFromPoint(x + width / 2, y + height / 2) === button;
      });
      assert.equal(isSeen, true);
    },
    { reducedMotion: 'reduce' },
  );

  const ring = (view) =>
    view.page.evaluate(() => {
      const node = document.querySelector('[data-assistant-pointer]');
      const far = document.querySelector('#far').getBoundingClientRect();
      if (!node) return undefined;
      const { left, top } = node.getBoundingClientRect();
      return {
        isTop: node.matches(':popover-open'),
        x: Math.round(left - far.left),
        y: Math.round(top - far.top),
        inView: far.top > 0 && far.bottom < innerHeight,
      };
    });

  for (const reducedMotion of ['no-preference', 'reduce']) {
    test(
      `contract_000_09 pointing scrolls to the element and rings it (${reducedMotion})`,
      async (view) => {
        await start(view);
        assert.deepEqual(await view.call('point_at', { target: 'Far away' }), { pointed_at: 'Far away' });
        if (reducedMotion === 'no-preference')
          await view.page.waitForFunction(
            () => document.querySelector('#far').getBoundingClientRect().bottom < innerHeight,
          );
        await view.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        assert.deepEqual(await ring(view), { isTop: true, x: -6, y: -6, inView: true });
        assert.equal(await view.page.evaluate(() => document.getAnimations().length), 0);
        assert.deepEqual(await view.page.evaluate(() => window.clicks), []);
        // The ring follows the element, and does not take clicks.
        await view.page.mouse.wheel(0, -40);
        await view.page.locator('#far').click();
        assert.deepEqual(await view.page.evaluate(() => window.clicks), ['far']);
        await view.page.waitForFunction(() => !document.querySelector('[data-assistant-pointer]'));
      },
      { reducedMotion },
    );
  }

  test(
    'only opted-in elements are clicked, and never a button that submits',
    async (view) => {
      await start(view);
      const click = (target) => view.call('point_at', { target, click: true });
      assert.deepEqual(await click('open-details'), { clicked: 'Open details' });
      assert.match((await click('plain')).error, /Only the user clicks this element: the page did not allow it/);
      assert.match((await click('send')).error, /it submits or resets a form/);
      assert.match((await click('send-label')).error, /it submits or resets a form/);
      await view.page.evaluate(() => document.querySelector('#open-details').setAttribute('aria-disabled', 'true'));
      assert.match((await click('Open details')).error, /it is disabled/);
      assert.match((await click('nothing')).error, /No element of this page is called nothing/);
      assert.deepEqual(await view.page.evaluate(() => [window.clicks, window.hasSubmitted]), [['open-details'], []]);
    },
    { reducedMotion: 'reduce' },
  );

  test('a reference to a removed element is an error that says what to do', async (view) => {
    await start(view);
    const { elements } = await view.call('discover_page', {});
    const { ref } = elements.find(({ name }) => name === 'Open details');
    await view.page.evaluate(() => document.querySelector('#open-details').remove());
    assert.match(
      (await view.call('point_at', { target: ref })).error,
      /no longer on the page\. List the elements again/,
    );
  });
});

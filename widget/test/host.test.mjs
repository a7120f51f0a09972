import assert from 'node:assert/strict';
import { samples } from '../testing/samples.mjs';
import { suite } from '../testing/page.mjs';

const test = suite();

test('a component that fails is replaced by its label, and reported', async (view) => {
  await view.page.evaluate(() => {
    omni.registerComponent('broken', {
      schema: { type: 'object' },
      render() {
        throw new Error('no <b>data</b>');
      },
    });
    omni.registerComponent('later', {
      schema: { type: 'object' },
      render(root) {
        root.textContent = 'fine';
      },
      update({ props }) {
        if (props.fail) throw new Error('too late');
      },
    });
  });
  await view.show({ component: 'broken', props: { city: 'Oslo' } });
  assert.match(await view.text(), /^Error rendering broken\s+no <b>data<\/b>\s+\{\s+"city": "Oslo"\s+\}$/);
  assert.equal(await view.root.locator('b').count(), 0);
  await view.change({});
  assert.deepEqual(
    (await view.log()).errors,
    [['broken', 'broken_1', 'Error: no <b>data</b>']],
    'the same error is reported once',
  );
  await view.show({ component: 'later', props: {} });
  await view.change({ props: { fail: true } });
  assert.match(await view.text(), /^Error rendering later\s+too late/);
  await view.change({ props: {} });
  assert.equal(await view.root.innerText(), 'fine', 'it is drawn again once it works');
});

test('a component that fails is unmounted, and an error of its end is reported', async (view) => {
  const calls = await view.page.evaluate(async () => {
    const calls = [];
    omni.registerComponent('clock', {
      schema: { type: 'object' },
      render(root, { signal }) {
        calls.push('render');
        signal.addEventListener('abort', () => calls.push('abort'));
      },
      update({ props }) {
        if (props.fail) throw new Error('no clock');
        calls.push('update');
      },
      unmount() {
        calls.push('unmount');
        throw new Error('no end');
      },
    });
    show({ component: 'clock', props: {} });
    for (const fail of [true, true, false]) {
      change({ props: { fail } });
      await frame().then(frame);
    }
    calls.push('end');
    mounted.unmount();
    return calls;
  });
  const ended = ['unmount', 'abort'];
  assert.deepEqual(calls, ['render', ...ended, 'render', 'update', 'end', ...ended]);
  assert.equal(await view.root.evaluate((root) => root.childElementCount), 0);
  assert.deepEqual(
    (await view.log()).errors.map(([, , error]) => error),
    ['Error: no end', 'Error: no clock'],
  );
});

test('an unknown component is shown as text until it is registered', async (view) => {
  await view.show({ component: 'weather-card', props: '{"city":"Oslo","note":"<img src=x>', status: 'streaming' });
  assert.match(await view.text(), /^No view for weather-card\s+\{"city":"Oslo","note":"<img src=x>$/);
  await view.page.evaluate(() => {
    omni.registerComponent('weather-card', {
      schema: { type: 'object' },
      render(root, { props }) {
        root.append(props.city ?? '');
      },
    });
  });
  await view.settle();
  assert.equal(await view.root.innerText(), 'Oslo');
});

test('a part that failed shows the error', async (view) => {
  await view.show({ component: 'table', props: samples.table });
  await view.change({ status: 'error', error: 'Component props validation failed: rows' });
  assert.match(await view.text(), /^Error rendering table\s+Component props validation failed: rows/);
  await view.show({ component: 'code', props: `{"code":"${'x'.repeat(262_144)}"}` });
  assert.match(await view.text(), /^Error rendering code\s+The properties exceed 256 KiB/);
});

test('a component of the page is drawn in the tree of the page, with all hooks and context', async (view) => {
  const result = await view.page.evaluate(async () => {
    const calls = [];
    omni.registerComponent('counter', {
      schema: {
        type: 'object',
        properties: {
          step: { type: 'integer' },
          unit: { enum: ['cm', 'm'] },
          url: { type: 'string', format: 'uri' },
          note: { type: 'string' },
        },
      },
      render(root, context) {
        this.root = root;
        calls.push(['render', structuredClone(context.props), context.complete, context.status('unit')]);
        root.append('a');
      },
      update(context) {
        this.context = context;
        calls.push([
          'update',
          structuredClone(context.props),
          context.complete,
          context.status('unit'),
          context.state.count ?? null,
        ]);
      },
      unmount() {
        calls.push(['unmount', this.root.textContent]);
      },
    });
    omni.registerComponent('plain', {
      schema: {},
      render(root, { props }) {
        root.append(props.text ?? '');
      },
    });
    window.show(
      { component: 'counter', props: '{"unit":"c', status: 'streaming', state: { count: 1 } },
      {
        dispatch: async (action, payload) => {
          calls.push([action, payload]);
          if (action === 'fail') throw new Error('refused');
        },
      },
    );
    await window.frame();
    window.change({ props: '{"unit":"cm","step":12,"url":"https://a.exam' });
    await window.frame();
    window.change({ props: '{"unit":"cm","step":12,"url":"https://a.example/"}', status: 'complete' });
    await window.frame();
    const host = window.mounted && document.querySelector('[data-component=counter]');
    const own = { text: host.textContent, shadow: !!host.shadowRoot, theme: host.isConnected };
    const object = Object.getPrototypeOf({});
    let context;
    omni.registerComponent('spy', {
      schema: {},
      render(_root, given) {
        context = given;
      },
    });
    window.mounted.unmount();
    const second = document.createElement('div');
    document.querySelector('main').append(second);
    const spy = omni.mount(
      second,
      { component: 'spy', instanceId: 's', props: {}, status: 'complete', state: { count: 1 } },
      {
        locale: 'no such locale',
        theme: 'dark',
        dispatch: (action) => {
          if (action === 'fail') throw new Error('refused');
        },
      },
    );
    context.setState({ count: 2 });
    const refused = await context.dispatch('fail').catch((error) => error.message);
    const unanswered = await context.respond(1).catch((error) => error.message);
    const live = {
      state: context.state,
      theme: context.theme,
      locale: context.locale,
      instanceId: context.instanceId,
      refused,
      unanswered,
    };
    spy.unmount();
    const plain = omni.mount(second, {
      component: 'plain',
      instanceId: 'p',
      props: { text: 'one' },
      status: 'streaming',
    });
    plain.update({ component: 'plain', instanceId: 'p', props: { text: 'two' }, status: 'complete' });
    await window.frame();
    const redrawn = second.innerText;
    plain.unmount();
    return {
      calls,
      own,
      live,
      aborted: context.signal.aborted,
      left: second.childNodes.length,
      redrawn,
      clean: Object.keys(object),
    };
  });
  assert.deepEqual(result.calls, [
    ['render', {}, false, 'streaming'],
    ['update', { unit: 'cm', step: 12 }, false, 'done', 1],
    ['update', { unit: 'cm', step: 12, url: 'https://a.example/' }, true, 'done', 1],
    ['unmount', 'a'],
  ]);
  assert.deepEqual(result.own, { text: 'a', shadow: false, theme: true });
  assert.deepEqual(result.live, {
    state: { count: 2 },
    theme: 'dark',
    locale: 'en',
    instanceId: 's',
    refused: 'refused',
    unanswered: 'The page accepts no answer.',
  });
  assert.ok(result.aborted);
  assert.equal(result.left, 0);
  assert.equal(result.redrawn, 'two');
});

test('invalid properties: the default, else without the member, else without the item, else the fallback', async (view) => {
  const schema = {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string' },
      size: { enum: ['s', 'm'], default: 'm' },
      note: { type: 'string' },
      rows: { type: 'array', items: { $ref: '#/$defs/Row' } },
      cells: { type: 'array', items: { type: ['number', 'null'] } },
    },
    $defs: {
      Row: { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, tag: { type: 'string' } } },
    },
  };
  const shown = (props, status = 'complete') =>
    view.page.evaluate(
      ([schema, props, status]) => {
        let seen = 'fallback';
        omni.registerComponent('probe', {
          schema,
          render(_, context) {
            seen = [
              context.props,
              ['rows', 'cells'].map((key) =>
                (context.props[key] ?? []).map((_, index) => context.status([key, index])).join(),
              ),
            ];
          },
        });
        window.show({ component: 'probe', props, status });
        return seen;
      },
      [schema, props, status],
    );
  assert.deepEqual(await shown({ title: 'a' }), [{ title: 'a', size: 'm' }, ['', '']]);
  assert.deepEqual(await shown({ title: 'a', size: 'xl', note: 3 }), [{ title: 'a', size: 'm' }, ['', '']]);
  assert.deepEqual(
    await shown({
      title: 'a',
      size: 's',
      rows: [{ id: 1 }, { tag: 'x' }, 'row', { id: 2, tag: 5 }],
      cells: [1, 'x', 2],
    }),
    [{ title: 'a', size: 's', rows: [{ id: 1 }, { id: 2 }], cells: [1, null, 2] }, ['done,done', 'done,done,done']],
  );
  assert.equal(await shown({ size: 's' }), 'fallback');
  assert.match(await view.text(), /Error rendering probe\s+The properties are invalid: title required/);
  assert.deepEqual(
    await shown('{"rows":[{"tag":"x"},{"id":1},{"id":2', 'streaming'),
    [{ rows: [{ id: 1 }, {}] }, ['done,streaming', '']],
    'the status follows the items that are left',
  );
  assert.deepEqual(
    await shown('{"title":"a"}}'),
    [{ title: 'a', size: 'm' }, ['', '']],
    'a surplus bracket changes nothing',
  );
});

test('a page can change words, colours and parts', async (view) => {
  await view.page.evaluate(async (props) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('#root { --omni-color-surface: rgb(1, 2, 3) } #root ::part(title) { color: rgb(4, 5, 6) }');
    document.adoptedStyleSheets.push(sheet);
    window.show({ component: 'table', props }, { texts: { copyCsv: 'Als CSV kopieren' }, locale: 'de' });
  }, samples.table);
  assert.match(await view.text(), /18\.200,5[^]*28\.06\.2026[^]*Als CSV kopieren/);
  const styles = await view.page.evaluate(() => [
    getComputedStyle(window.shadow().querySelector('figure')).backgroundColor,
    getComputedStyle(window.shadow().querySelector('figcaption')).color,
  ]);
  assert.deepEqual(styles, ['rgb(1, 2, 3)', 'rgb(4, 5, 6)']);
});

test('a part that shows an instance again takes its place', async (view) => {
  await view.page.evaluate(() => {
    const root = document.getElementById('root');
    const [thread, other] = [{}, {}];
    const places = [0, 1, 2].map(() => root.appendChild(document.createElement('section')));
    const stat = (value, instanceId) => ({ items: [{ label: 'Total', value }], ...(instanceId && { instanceId }) });
    const part = (instanceId, props) => ({ component: 'stat', instanceId, props, status: 'complete' });
    const mounts = [
      omni.mount(places[0], part('stat_1', stat('one')), { thread }),
      omni.mount(places[1], { ...part('call_2', JSON.stringify(stat('two', 'stat_1')).slice(0, -3)), status: 'streaming' }, { thread }),
      omni.mount(places[2], part('stat_1', stat('elsewhere')), { thread: other }),
    ];
    Object.assign(window, { places, mounts, part, stat });
  });
  const shown = async () => {
    await view.settle();
    return view.page.evaluate(() => places.map((place) => [...place.children].map((stage) => stage.shadowRoot.textContent.replace('Total', '')).join()));
  };
  assert.deepEqual(await shown(), ['one', 'two', 'elsewhere'], 'half an id names no instance');
  await view.page.evaluate(() => mounts[1].update(part('call_2', JSON.stringify(stat('two', 'stat_1')))));
  assert.deepEqual(await shown(), ['two', '', 'elsewhere']);
  await view.page.evaluate(() => mounts[1].update(part('stat_1', stat('three', 'stat_1'))));
  await view.page.evaluate(() => mounts[0].update(part('stat_1', stat('one again'))));
  assert.deepEqual(await shown(), ['three', '', 'elsewhere'], 'the earlier part stays replaced');
  await view.page.evaluate(() => mounts[1].unmount());
  assert.deepEqual(await shown(), ['one again', '', 'elsewhere'], 'without the later part, the earlier one is back');
});

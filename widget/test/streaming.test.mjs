import assert from 'node:assert/strict';
import { samples, variants } from '../testing/samples.mjs';
import { suite } from '../testing/page.mjs';

const test = suite();

/**
 * Streams each part in chunks of one size. Returns what was seen on the way and at the end. `repaired`: the properties
 * are objects, as of a client that repairs half JSON itself.
 */
function stream(view, parts, sizes, repaired) {
  return view.page.evaluate(
    ([parts, sizes, repaired]) =>
      window.ticking(() => {
        const results = [];
        for (const { component, props } of parts) {
          const text = JSON.stringify(props);
          window.show({ component, props: text });
          const whole = JSON.stringify(window.tree());
          const seen = (root) => ({
            addresses: [...root.querySelectorAll('[href],[src],[datetime]')].map(
              (node) => node.getAttribute('href') ?? node.getAttribute('src') ?? node.getAttribute('datetime'),
            ),
            words: [...root.querySelectorAll('time,select option:checked')].map((node) => node.textContent),
            parts: [...root.querySelectorAll('[part]')].flatMap((node) => node.getAttribute('part').split(' ')),
          });
          const allowed = seen(window.shadow());
          for (const size of sizes) {
            const stray = new Set();
            window.show({ component, props: repaired ? {} : '', status: 'streaming' });
            let removed = [];
            const observer = new MutationObserver(() => {});
            observer.observe(window.shadow(), { childList: true, subtree: true });
            const parser = new omni.Growing();
            for (let end = size; ; end += size) {
              parser.push(text.slice(end - size, end));
              window.change({ props: repaired ? structuredClone(parser.value ?? {}) : text.slice(0, end) });
              window.tick();
              const now = seen(window.shadow());
              for (const address of now.addresses) if (!allowed.addresses.includes(address)) stray.add(address);
              for (const word of now.words) if (!allowed.words.includes(word) && word !== 'Choose…') stray.add(word);
              for (const part of now.parts)
                if (!allowed.parts.includes(part) && !['note', 'loading', 'plot', 'empty', ''].includes(part))
                  stray.add(part);
              if (window.shadow().querySelector('[part~=error]:not(:empty),[aria-invalid],[part~=fallback]'))
                stray.add('a message');
              if (!window.shadow().host.offsetHeight) stray.add('a blank surface');
              removed.push(
                ...observer
                  .takeRecords()
                  .flatMap((record) =>
                    [...record.removedNodes]
                      .filter((node) => node.localName && !node.matches('[part~=loading],[part~=empty]'))
                      .flatMap((node) => (node.getAttribute('part') ?? node.localName).split(' ')),
                  ),
              );
              if (end >= text.length) break;
            }
            window.change({ props: repaired ? props : text, status: 'complete' });
            window.tick();
            // The ticks of an axis depend on the values.
            removed = removed.filter((part) => !['span', 'grid'].includes(part));
            results.push({
              component,
              size,
              same: JSON.stringify(window.tree()) === whole,
              stray: [...stray],
              removed,
            });
          }
        }
        return results;
      }),
    [parts, sizes, repaired],
  );
}

const parts = Object.entries({ ...samples, ...variants }).map(([name, props]) => ({
  component: name.split(' ')[0],
  props,
}));
const sizes = [1, 2, 3, 7, 20, 144, 100_000];

for (const repaired of [false, true]) {
  test(`chunks of every size end in the same nodes, from ${repaired ? 'repaired objects' : 'text'}`, async (view) => {
    for (const result of await stream(view, parts, repaired ? [2, 7, 64] : sizes, repaired)) {
      const name = `${result.component} in chunks of ${result.size}`;
      assert.ok(result.same, name);
      assert.deepEqual(result.stray, [], `${name} shows no half value`);
      assert.deepEqual(result.removed, [], `${name} keeps its nodes`);
    }
    await view.page.waitForLoadState('networkidle');
    assert.deepEqual(
      view.server.requests.filter((path) => path !== '/image.svg'),
      [],
      'no half address was requested',
    );
  });
}

test('a selection and a focused field survive the rest of the answer', async (view) => {
  const text = JSON.stringify(samples.code);
  const half = text.indexOf('rows');
  await view.show({ component: 'code', props: text.slice(0, half), status: 'streaming' });
  const selected = () =>
    view.page.evaluate(() => {
      const [{ startContainer, startOffset, endOffset }] = getSelection().getComposedRanges({
        shadowRoots: [window.shadow()],
      });
      return startContainer.data?.slice(startOffset, endOffset);
    });
  await view.page.evaluate(() => {
    const node = window.shadow().querySelector('code').firstChild;
    getSelection().setBaseAndExtent(node, 3, node, 7);
  });
  assert.equal(await selected(), 'main');
  for (let end = half; end <= text.length; end += 4) await view.change({ props: text.slice(0, end) });
  await view.change({ props: text, status: 'complete' });
  assert.equal(await selected(), 'main');
  assert.match(await view.text(), /println/);

  const form = JSON.stringify(samples.form);
  const cut = form.indexOf('"guests"');
  await view.show({ component: 'form', props: form.slice(0, cut), status: 'streaming' });
  await view.root.getByLabel('Name').pressSequentially('Grace');
  for (let end = cut; end <= form.length; end += 40) {
    await view.change({ props: form.slice(0, end) });
    await view.page.keyboard.press('!');
  }
  await view.change({ props: form, status: 'complete' });
  assert.match(await view.root.getByLabel('Name').inputValue(), /^Grace!{5,}$/);
  assert.equal(await view.page.evaluate(() => window.shadow().activeElement?.id), 'f0');
});

test('one frame draws any number of updates', async (view) => {
  const frames = await view.page.evaluate(() =>
    window.ticking(() => {
      window.show({ component: 'code', props: '', status: 'streaming' });
      const others = Array.from({ length: 5 }, () =>
        document.querySelector('main').appendChild(document.createElement('div')),
      );
      const mounts = others.map((root, index) =>
        omni.mount(root, { component: 'code', instanceId: `c${index}`, props: '', status: 'streaming' }),
      );
      for (let round = 1; round <= 100; round++) {
        const props = `{"code":"${'x'.repeat(round)}`;
        window.change({ props });
        mounts.forEach((one, index) =>
          one.update({ component: 'code', instanceId: `c${index}`, props, status: 'streaming' }),
        );
      }
      window.tick();
      const shown = others.map((root) => root.firstChild.shadowRoot.querySelector('code').textContent.length);
      mounts.forEach((one) => one.unmount());
      return [window.frames_requested, shown];
    }),
  );
  assert.deepEqual(frames, [1, [100, 100, 100, 100, 100]]);
});

test('86 KB of properties are drawn in little time', async (view) => {
  const rows = Array.from({ length: 1_300 }, (_, index) => [
    `Customer ${index}`,
    index * 3.5,
    '2026-06-28',
    `City number ${index}`,
  ]);
  const props = {
    columns: [{ label: 'Name' }, { label: 'Sum', kind: 'number' }, { label: 'Day', kind: 'date' }, { label: 'City' }],
    rows,
  };
  const { length, ms } = await view.page.evaluate(
    (props) =>
      window.ticking(() => {
        const text = JSON.stringify(props);
        const start = performance.now();
        window.show({ component: 'table', props: '', status: 'streaming' });
        // 60 frames a second at 200 tokens of four characters.
        for (let end = 0; end < text.length; end += 1_024) {
          window.change({ props: text.slice(0, end) });
          window.tick();
        }
        window.change({ props: text, status: 'complete' });
        window.tick();
        return { length: text.length, ms: performance.now() - start };
      }),
    props,
  );
  console.log(`${length} bytes in ${Math.ceil(length / 1_024)} frames: ${Math.round(ms)} ms of script`);
  assert.equal(await view.root.locator('tbody tr').count(), 1_000);
  assert.match(await view.text(), /300 more not shown/);
});

import assert from 'node:assert/strict';
import { samples, variants } from '../testing/samples.mjs';
import { suite } from '../testing/page.mjs';

const test = suite();

/** Returns numbers from 0 to 1, the same for the same seed. */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns the path of each value below `value`. */
function paths(value, path = []) {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    ...(path.length ? [path] : []),
    ...Object.entries(value).flatMap(([key, member]) => paths(member, [...path, key])),
  ];
}

/** Returns a copy of `value` in which the value at a path is another. `undefined` removes it. */
function put(value, [key, ...rest], other) {
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const next = rest.length ? put(copy[key], rest, other) : other;
  if (next === undefined) Array.isArray(copy) ? copy.splice(key, 1) : delete copy[key];
  else Object.defineProperty(copy, key, { value: next, enumerable: true, configurable: true, writable: true });
  return copy;
}

const at = (value, path) => path.reduce((inner, key) => inner[key], value);
const parts = Object.entries({ ...samples, ...variants }).map(([name, props]) => [name.split(' ')[0], props]);

test('200 mutated answers leave no blank surface', async (view) => {
  const next = random(17);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const GARBAGE = [null, true, -1, 1e308, 'text', '', [], {}, [[]], { a: { b: [] } }, [1, 'x', null]];
  const mutations = {
    missing: (props) => JSON.stringify(put(props, pick(paths(props)), undefined)),
    'wrong type': (props) => JSON.stringify(put(props, pick(paths(props)), pick(GARBAGE))),
    'extra brace': (props) => JSON.stringify(props) + pick(['}', ']', '}}', '"}']),
    'bad row': (props) => {
      const rows = paths(props).filter((path) => Array.isArray(at(props, path)) && at(props, path).length);
      if (!rows.length) return JSON.stringify(put(props, pick(paths(props)), pick(GARBAGE)));
      const path = pick(rows);
      return JSON.stringify(put(props, [...path, Math.floor(next() * at(props, path).length)], pick(GARBAGE)));
    },
    'wrong nesting': (props) => {
      const path = pick(paths(props));
      return JSON.stringify(
        pick([{ props }, [props], put(props, path, [at(props, path)]), put(props, path, { value: at(props, path) })]),
      );
    },
    truncated: (props) => JSON.stringify(props).slice(0, -1 - Math.floor(next() * 40)),
    'no comma': (props) => JSON.stringify(props).replace(pick([/,/, /:/, /"/]), ''),
  };
  const answers = Array.from({ length: 210 }, (_, index) => {
    const [kind, mutate] = Object.entries(mutations)[index % 7];
    const [component, props] = parts[Math.floor(next() * parts.length)];
    return { kind, component, text: mutate(props), size: 1 + Math.floor(next() * 40) };
  });
  const results = await view.page.evaluate(
    (answers) =>
      window.ticking(() =>
        answers.map(({ kind, component, text, size }) => {
          let blank = 0;
          const look = () => {
            const box = window.shadow().host.getBoundingClientRect();
            if (box.height < 20 || !(window.text().trim() || window.shadow().querySelector('img, svg, progress')))
              blank++;
          };
          window.show({ component, props: '', status: 'streaming' });
          look();
          for (let end = size; end < text.length + size; end += size) {
            window.change({ props: text.slice(0, end) });
            window.tick();
            look();
          }
          window.change({ status: 'complete' });
          window.tick();
          look();
          return { kind, component, text, blank, fallback: !!window.shadow().querySelector('[data-type=error]') };
        }),
      ),
    answers,
  );
  assert.deepEqual(
    results.filter(({ blank }) => blank).map(({ kind, component, text, blank }) => [kind, component, text, blank]),
    [],
  );
  assert.deepEqual((await view.log()).errors, [], 'no component threw');
  const fallbacks = results.filter(({ fallback }) => fallback).length;
  console.log(
    `${results.length} mutated answers: ${fallbacks} fallbacks, ${results.length - fallbacks} repaired or valid`,
  );
  assert.ok(fallbacks > 20 && fallbacks < 150);
});

const RTL = '\u202e';
const PAYLOADS = [
  ...[
    'javascript:',
    'JaVaScRiPt:',
    ' javascript:',
    '\tjava\nscript:',
    '\u0001javascript:',
    'javascript&colon;',
    'vbscript:',
    'blob:javascript:',
    'view-source:javascript:',
    'feed:javascript:',
  ].map((scheme) => `${scheme}window.pwned=1`),
  'data:text/html,<script>parent.pwned=1</script>',
  'data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduZWQ9MTwvc2NyaXB0Pg==',
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="parent.pwned=1"/>',
  'data:image/SVG+xml;base64,PHN2Zy8+',
  'data:application/xhtml+xml,<script xmlns="http://www.w3.org/1999/xhtml">parent.pwned=1</script>',
  'https://evil.example/pixel.png?secret=1',
  '//evil.example/pixel.png',
  '\\\\evil.example\\pixel.png',
  'https:evil.example/pixel.png',
  'http://127.0.0.1:1/pixel.png',
  'file:///etc/passwd',
  'filesystem:http://evil.example/x',
  'ws://evil.example',
  'intent://evil#Intent;end',
  '<script>window.pwned=1</script>',
  '<img src=x onerror=window.pwned=1>',
  '"><svg onload=window.pwned=1>',
  "' onmouseover='window.pwned=1",
  '</figure></main><iframe srcdoc="<script>parent.pwned=1</script>">',
  '<style>*{background:url(https://evil.example/css)}</style>',
  'red;background:url(https://evil.example/style)',
  'url(https://evil.example/paint)',
  '<a ping=https://evil.example/ping href=/>x</a>',
  '<link rel=prefetch href=https://evil.example/prefetch>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/refresh">',
  '${window.pwned=1}',
  '{{constructor.constructor("window.pwned=1")()}}',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  `${RTL}gpj.exe`,
  '\u0000\u0008\u001b[31m',
  'a'.repeat(1_000_000),
  '\u0301'.repeat(5_000),
  '‮'.repeat(2_000),
  JSON.parse('{"__proto__":{"pwned":1},"constructor":{"prototype":{"pwned":1}}}'),
  { tag: 'script', attributes: { src: 'https://evil.example/x.js', onclick: 'x' }, children: [] },
  { toString: 'x', valueOf: 1, length: 1e9 },
  Array.from({ length: 20_000 }, () => 'x'),
  Array.from({ length: 20_000 }, () => ({ label: 'x', value: 'y', text: 'z', name: 'n', id: 'i', title: 't' })),
  1e308,
  -1e308,
  5e-324,
  [1e308, -1e308, 1e308],
];

test('hostile properties run nothing and request nothing', async (view) => {
  const cases = PAYLOADS.flatMap((_, index) =>
    parts.map(([component, props], row) => {
      const places = paths(props);
      return [component, row, places[(index * 7 + row) % places.length], index];
    }),
  );
  const results = await view.page.evaluate(
    ([cases, parts, payloads]) => {
      const put = (value, [key, ...rest], other) => {
        const copy = Array.isArray(value) ? [...value] : { ...value };
        copy[key] = rest.length ? put(copy[key], rest, other) : other;
        return copy;
      };
      const faults = [];
      const LINK = /^(https?:|mailto:|tel:)/;
      window.ticking(() => {
        for (const [component, row, path, index] of cases) {
          window.show({
            component,
            props: put(parts[row][1], path, payloads[index]),
            state: { selected: ['__proto__'], sort: { column: 0, descending: true } },
          });
          const name = `${component} ${path.join('.')} ${JSON.stringify(payloads[index]).slice(0, 60)}`;
          if (window.log.errors.length) faults.push(`${name}: ${window.log.errors.splice(0)}`);
          const root = window.shadow();
          for (const node of root.querySelectorAll('*')) {
            if (
              /^(script|iframe|object|embed|style|link|meta|base|template|foreignobject|animate|set|use)$/i.test(
                node.localName,
              )
            )
              faults.push(`${name}: <${node.localName}>`);
            for (const { name: attribute, value } of node.attributes) {
              if (/^(on|style$|srcdoc$|ping$|formaction$|srcset$|background$)/.test(attribute))
                faults.push(`${name}: ${attribute}`);
              if (attribute === 'href' && !LINK.test(value)) faults.push(`${name}: href ${value.slice(0, 60)}`);
              if (
                attribute === 'src' &&
                !value.startsWith(location.origin) &&
                !/^(blob:|data:image\/(?!svg))/i.test(value)
              )
                faults.push(`${name}: src ${value.slice(0, 60)}`);
            }
          }
          if (root.querySelectorAll('*').length > 30_000)
            faults.push(`${name}: ${root.querySelectorAll('*').length} nodes`);
          if (root.host.offsetHeight < 20) faults.push(`${name}: blank`);
        }
      });
      return { faults, pwned: [window.pwned, {}.pwned, Object.prototype.pwned], errors: window.log.errors };
    },
    [cases, parts, PAYLOADS],
  );
  console.log(`${cases.length} hostile properties`);
  assert.ok(cases.length >= 150);
  assert.deepEqual(results, { faults: [], pwned: [null, null, null].map(() => undefined), errors: [] });
  await view.page.waitForLoadState('networkidle');
});

test('only the first 1,000 items are shown, and a note says how many more there are', async (view) => {
  const many = (item) => Array.from({ length: 1_100 }, (_, index) => item(index));
  const cases = {
    table: { columns: [{ label: 'A' }], rows: many((index) => [index]) },
    list: { items: many((index) => ({ text: `Item ${index}` })) },
    timeline: { events: many((index) => ({ time: 'now', title: `Event ${index}` })) },
    progress: { steps: many(() => ({ label: 'Step', status: 'done' })) },
    stat: { items: many(() => ({ label: 'Figure', value: '1' })) },
    card: { title: 'Card', fields: many(() => ({ label: 'Field', value: '1' })) },
    choices: { question: 'Which?', options: many((index) => ({ id: `${index}`, label: `Option ${index}` })) },
    form: { fields: many((index) => ({ name: `${index}`, label: 'Field', kind: 'text' })) },
    stack: { children: many(() => ({ component: 'code', props: { code: 'x' } })) },
    chart: { kind: 'line', labels: many(String), series: [{ name: 'a', values: many((index) => index % 7) }] },
  };
  for (const [component, props] of Object.entries(cases)) {
    await view.show({ component, props });
    const notes = await view.root.locator('[part~=note]').allTextContents();
    assert.ok(notes.includes('100 more not shown'), component);
  }
});

test('images come from the page, from data, or from the origins that the page allows', async (view) => {
  const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
  const shown = async (url, hooks) => {
    await view.show({ component: 'image', props: { url, alt: 'A map', caption: 'Map' } }, hooks);
    return view.page.evaluate(() => {
      const [image, link] = ['img', 'a'].map((tag) => window.shadow().querySelector(tag));
      return image
        ? `image ${image.getAttribute('src').slice(0, 40)}`
        : link
          ? `link ${link.href} ${link.innerText} ${link.rel}`
          : window.text();
    });
  };
  assert.equal(await shown('/image.svg'), `image ${view.server.origin}/image.svg`);
  assert.equal(await shown(PIXEL), `image ${PIXEL.slice(0, 40)}`);
  assert.equal(
    await shown('https://evil.example/map.png'),
    'link https://evil.example/map.png A map noopener noreferrer nofollow',
  );
  assert.equal(await shown('javascript:alert(1)'), 'A map (javascript:alert(1))\nMap');
  assert.equal(await shown('data:image/svg+xml,<svg/>'), 'A map (data:image/svg+xml,<svg/>)\nMap');
  assert.equal(
    await shown(`${view.server.origin.replace('127.0.0.1', 'localhost')}/image.svg`),
    `link ${view.server.origin.replace('127.0.0.1', 'localhost')}/image.svg A map noopener noreferrer nofollow`,
  );
});

test('stacks end at four levels, and contain no form', async (view) => {
  let props = { children: [{ component: 'code', props: { code: 'deepest' } }] };
  for (let depth = 0; depth < 3; depth++) props = { children: [{ component: 'stack', props }] };
  await view.show({ component: 'stack', props });
  assert.match(await view.text(), /deepest/);
  await view.show({
    component: 'stack',
    props: {
      children: [
        { component: 'stack', props },
        { component: 'list', props: { items: [{ text: 'beside' }] } },
      ],
    },
  });
  assert.match(await view.text(), /Error rendering stack\s+Nested too deeply[^]*beside/);
  await view.show({
    component: 'stack',
    props: {
      children: [
        { component: 'form', props: samples.form },
        { component: 'card', props: { title: 4 } },
        { component: 'list', props: { items: [{ text: 'beside' }] } },
      ],
    },
  });
  assert.equal(await view.root.locator('form').count(), 0);
  assert.match(await view.text(), /Error rendering card[^]*beside/);
});

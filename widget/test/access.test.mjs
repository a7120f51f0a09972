import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { samples, variants } from '../testing/samples.mjs';
import { suite } from '../testing/page.mjs';

const test = suite();
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const text = (name) => JSON.stringify(samples[name]);
/** Each built-in, its variants, and the states that a reader meets. */
const parts = [
  ...Object.entries({ ...samples, ...variants }).map(([name, props]) => ({
    component: name.split(' ')[0],
    instanceId: name,
    props,
    status: 'complete',
  })),
  ...Object.keys(samples).map((name) => ({
    component: name,
    instanceId: `half ${name}`,
    props: text(name).slice(0, text(name).length * 0.6),
    status: 'streaming',
  })),
  ...Object.keys(samples).map((name) => ({
    component: name,
    instanceId: `empty ${name}`,
    props: '',
    status: 'streaming',
  })),
  {
    component: 'table',
    instanceId: 'sorted',
    props: samples.table,
    status: 'complete',
    state: { selected: ['North'], sort: { column: 1, descending: true } },
  },
  {
    component: 'table',
    instanceId: 'long',
    props: { columns: [{ label: 'Number', kind: 'number' }], rows: Array.from({ length: 60 }, (_, index) => [index]) },
    status: 'complete',
  },
  {
    component: 'form',
    instanceId: 'answered',
    props: samples.form,
    status: 'complete',
    output: { values: { name: 'Ada' } },
  },
  {
    component: 'choices',
    instanceId: 'chosen',
    props: samples.choices,
    status: 'complete',
    output: { chosen: ['pm'] },
  },
  { component: 'unknown', instanceId: 'unknown', props: { a: 1 }, status: 'complete' },
  { component: 'card', instanceId: 'failed', props: samples.card, status: 'error', error: 'The server is down.' },
  { component: 'list', instanceId: 'nothing', props: { items: [] }, status: 'complete' },
];

for (const scheme of ['light', 'dark']) {
  for (const width of [320, 1280]) {
    test(
      `axe finds nothing: ${scheme}, ${width} px, both directions`,
      async (view) => {
        await view.page.evaluate(axe);
        for (const direction of ['ltr', 'rtl']) {
          const found = await view.page.evaluate(
            async ([parts, direction]) => {
              document.documentElement.dir = direction;
              const root = document.querySelector('#root');
              root.replaceChildren();
              for (const part of parts) omni.mount(root.appendChild(document.createElement('div')), part);
              for (const node of root.children)
                for (const details of node.firstChild.shadowRoot.querySelectorAll('details')) details.open = true;
              root.querySelector('[data-instance=form]').shadowRoot.querySelector('button').click();
              await window.frame().then(window.frame);
              const { violations, passes } = await window.axe.run();
              return {
                passes: passes.length,
                wide: document.documentElement.scrollWidth,
                faults: violations.flatMap(({ id, nodes }) =>
                  nodes.map(({ target, failureSummary }) => `${id} ${JSON.stringify(target)} ${failureSummary}`),
                ),
              };
            },
            [parts, direction],
          );
          assert.deepEqual(found.faults, [], direction);
          assert.ok(found.passes > 30);
          assert.equal(found.wide, width, 'nothing is wider than the page');
        }
      },
      { width, scheme },
    );
  }
}

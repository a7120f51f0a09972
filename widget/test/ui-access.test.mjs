// What axe finds in each state of the widget, in light and dark, in both directions, in narrow and wide windows.

import assert from 'node:assert/strict';
import { enter, leave, states } from '../testing/states.mjs';
import { axe } from '../testing/tree-page.mjs';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();
const BODY = (attributes) =>
  `<main><h1>Page</h1></main><script type="module" src="/assistant/widget.js"></script><omniassist-chat ${attributes}></omniassist-chat>`;

const faults = (page) =>
  page.evaluate(async () => {
    const { violations, passes } = await window.axe.run({ resultTypes: ['violations'] });
    const roots = [...document.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? []);
    const small = roots
      .flatMap((root) => [...root.querySelectorAll('button, summary, input, textarea, select')])
      // The label of a box that is ticked is part of its target.
      .map((node) => (node.type === 'checkbox' && node.closest('label, [part~=field]')) || node)
      .filter((node) => node.checkVisibility() && !node.matches('[type=file]'))
      .filter((node) => Math.min(node.getBoundingClientRect().width, node.getBoundingClientRect().height) < 24);
    return {
      passes: passes.length,
      wide: document.documentElement.scrollWidth - innerWidth,
      faults: [
        ...violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => `${id} ${JSON.stringify(target)} ${failureSummary}`),
        ),
        ...roots
          .flatMap((root) => [...root.querySelectorAll('[part~=log], [part~=threads-pane]')])
          .filter((node) => node.scrollWidth > node.clientWidth)
          .map((node) => `its content is wider: ${node.getAttribute('part')}`),
        ...small.map((node) => `smaller than 24 px: ${node.outerHTML.slice(0, 80)}`),
      ],
    };
  });

for (const direction of ['ltr', 'rtl'])
  for (const width of [320, 1280]) {
    const body = BODY(direction === 'rtl' ? 'locale="ar"' : '');
    test(`axe finds nothing in any state: ${direction}, ${width} px, light and dark`, { width, body }, async (view) => {
      await view.page.evaluate((dir) => (document.documentElement.dir = dir), direction);
      await view.page.evaluate(axe);
      for (const name of Object.keys(states)) {
        await enter(view, name);
        for (const colorScheme of ['light', 'dark']) {
          await view.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          const found = await faults(view.page);
          assert.deepEqual(found.faults, [], `${name}, ${colorScheme}`);
          assert.ok(found.passes > 5, `${name}: ${found.passes}`);
          assert.equal(found.wide, 0, `${name}: nothing is wider than the page`);
        }
        await leave(view, name);
      }
    });
  }

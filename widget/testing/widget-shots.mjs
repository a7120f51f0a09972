// Takes screenshots of the widget in its states and modes: `node testing/widget-shots.mjs FOLDER [NAME…]`.

import { mkdir } from 'node:fs/promises';
import { openBrowser } from './page.mjs';
import { enter, leave, states } from './states.mjs';
import { LINES, openWidget } from './widget-page.mjs';

const [folder = 'out/shots', ...names] = process.argv.slice(2);

/** Each look of the widget, and the states that are shown in it. */
const looks = {
  popup: { of: Object.keys(states) },
  dark: { scheme: 'dark', of: Object.keys(states) },
  rtl: { attributes: 'locale="ar"', of: Object.keys(states) },
  phone: { width: 390, height: 844, of: ['closed', 'suggestions', 'finished', 'tools', 'form', 'components', 'threads', 'agents'] },
  narrow: { width: 320, height: 256, of: ['finished', 'approval', 'threads'] },
  sidebar: { attributes: 'mode="sidebar"', of: ['suggestions', 'finished', 'approval', 'threads'] },
  panel: { attributes: 'mode="panel"', of: ['suggestions', 'finished', 'components'] },
  page: { attributes: 'mode="page"', of: ['suggestions', 'finished', 'components', 'threads', 'approval', 'edit'] },
  compact: { attributes: 'density="compact"', of: ['finished', 'tools', 'approval'] },
  forced: { contrast: 'active', of: ['closed', 'suggestions', 'finished', 'tools', 'approval', 'form with faults', 'components', 'error', 'threads', 'agents'] },
};

await mkdir(folder, { recursive: true });
const browser = await openBrowser();
for (const [look, { of, attributes = '', ...options }] of Object.entries(looks)) {
  const wanted = of.filter((state) => names.length === 0 || names.some((name) => `${look} ${state}`.includes(name)));
  if (wanted.length === 0) continue;
  const isAlone = /panel|page/.test(attributes);
  const body = `<main><h1>Orders</h1><p>The page of the host, with its own text.</p></main>${LINES(attributes)}`;
  const view = await openWidget(browser, { ...options, body: isAlone ? LINES(attributes) : body });
  for (const state of wanted) {
    await enter(view, state);
    await view.page.screenshot({ path: `${folder}/${look} ${state}.png`.replace(/[: ]+/g, '-') });
    await leave(view, state);
  }
  if (view.problems.length) console.log(look, view.problems);
  await view.close();
}
await browser.close();

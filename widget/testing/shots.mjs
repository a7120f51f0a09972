// Takes screenshots of all components: `node testing/shots.mjs FOLDER [WIDTH] [rtl] [forced] [half]`.

import { mkdir } from 'node:fs/promises';
import { openBrowser, openPage } from './page.mjs';
import { samples, variants } from './samples.mjs';

const [folder = 'out', width = '720', ...options] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await openBrowser();
for (const scheme of ['light', 'dark']) {
  const view = await openPage(browser, {
    width: Number(width),
    scheme,
    contrast: options.includes('forced') ? 'active' : null,
  });
  await view.page.setViewportSize({ width: Number(width), height: 1200 });
  const parts = Object.entries({ ...samples, ...variants });
  // All on one page, in two sheets.
  for (const [half, some] of [parts.slice(0, 6), parts.slice(6, 12), parts.slice(12)].entries()) {
    await view.page.evaluate(
      ([some, rtl, half]) => {
        document.documentElement.dir = rtl ? 'rtl' : 'ltr';
        const root = document.querySelector('#root');
        root.replaceChildren();
        for (const [name, full] of some) {
          const text = JSON.stringify(full);
          const props = half ? text.slice(0, text.length * 0.55) : full;
          const box = document.createElement('div');
          box.style.marginBlockEnd = '16px';
          root.append(box);
          omni.mount(box, {
            component: name.split(' ')[0],
            instanceId: name,
            props,
            status: half ? 'streaming' : 'complete',
          });
        }
        document.body.style.fontFamily = 'system-ui, sans-serif';
      },
      [some, options.includes('rtl'), options.includes('half')],
    );
    await view.page.waitForLoadState('networkidle');
    await view.page.screenshot({ path: `${folder}/${scheme}-${half}.png`, fullPage: true });
  }
  if (view.problems.length + view.server.reports.length) console.log(view.problems, view.server.reports);
  await view.close();
}
await browser.close();

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { enter, leave, states } from '../testing/states.mjs';
import { LINES, widgetSuite } from '../testing/widget-page.mjs';

const file = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const sources = (ending) =>
  readdirSync(new URL('../src/', import.meta.url), { recursive: true })
    .filter((name) => /^(?:ui|parts|tree|markdown)\b/.test(name) && name.endsWith(ending))
    .map((name) => file(`src/${name}`));
const found = (texts, expression) => new Set(texts.flatMap((text) => [...text.matchAll(expression)].map(([, name]) => name)));

const [, tables] = file('THEME.md').split('## Custom properties');
const [properties, parts] = tables.split(/^## /m);

test('THEME.md lists the custom properties of the chat and of the agents', () => {
  const used = found(sources('.css'), /var\((--omni-[\w-]+)/g);
  const listed = found([properties], /`(--omni-[\w-]+)`/g);
  assert.ok(used.size > 40);
  assert.deepEqual([...listed].sort(), [...used].sort());
});

test('the window sets each colour of the components, which have no other in the build of the widget', () => {
  const used = found([file('src/components/style.css')], /var\((--omni-color-[\w-]+)/g);
  const set = found([file('src/ui/style/base.css')], /[ ;](--omni-color-[\w-]+):/g);
  assert.equal(used.size, 10);
  assert.deepEqual([...used].filter((name) => !set.has(name)), []);
});

widgetSuite()('each part of THEME.md is a part of the chat', { body: `<main>${LINES()}</main>` }, async (view) => {
  const shown = new Set();
  const collect = async () => {
    const names = await view.page.evaluate(() => {
      const nodes = document.querySelector('omniassist-chat').shadowRoot.querySelectorAll('[part]');
      return [...nodes].flatMap((node) => [...node.part]);
    });
    names.forEach((part) => shown.add(part));
  };
  for (const name of Object.keys(states)) {
    await enter(view, name);
    await collect();
    await leave(view, name);
  }
  for (const mode of ['sidebar', 'panel', 'page']) {
    await view.page.locator('omniassist-chat').evaluate((chat, mode) => chat.setAttribute('mode', mode), mode);
    await view.frame();
    await collect();
  }
  const listed = [...found([parts.split('## Texts')[0]], /`([a-z-]+)`/g)];
  assert.ok(listed.length > 40);
  assert.deepEqual(listed.filter((part) => !shown.has(part)), []);
});

const sizes = (view) =>
  view.page.locator('omniassist-chat').evaluate((chat) => {
    const within = (root) =>
      [...root.querySelectorAll('*')].flatMap((node) => {
        const { fontSize, minInlineSize } = getComputedStyle(node);
        return [`${node.part} ${fontSize} ${minInlineSize}`, ...(node.shadowRoot ? within(node.shadowRoot) : [])];
      });
    return within(chat.shadowRoot);
  });

widgetSuite()('letters have the size of the browser, whatever the page sets for html', { body: `<main>${LINES()}</main>` }, async (view) => {
  const ofPage = (size) => view.page.evaluate((size) => void (document.documentElement.style.fontSize = size), size);
  for (const name of Object.keys(states)) {
    await enter(view, name);
    const before = await sizes(view);
    await ofPage('62.5%');
    assert.deepEqual(await sizes(view), before, name);
    await ofPage('');
    await leave(view, name);
  }
});

widgetSuite()('letters grow with the font size that a page sets for the element', { attributes: 'mode="panel"' }, async (view) => {
  const before = await sizes(view);
  await view.page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('omniassist-chat { font-size: 32px }');
    document.adoptedStyleSheets = [sheet];
  });
  const after = await sizes(view);
  const size = (line) => parseFloat(line.split(' ').at(-2));
  assert.ok(before.some((line) => size(line) === 15));
  assert.deepEqual(after.map(size), before.map((line) => 2 * size(line)));
});

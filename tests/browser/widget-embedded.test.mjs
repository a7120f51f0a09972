// The two lines of the widget in an empty page under the strictest policy, in Chromium. `cargo xtask test browser` runs
// this file over each adapter.

import assert from 'node:assert/strict';

import { tools } from '../lib/app.mjs';
import { holdAfter, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { headersOf, shop, startProxy } from '../lib/shop.mjs';
import { MARKDOWN, prose, showsMarkdown, suiteOn } from './page.mjs';

/** A module that registers a tool of the page. */
const tool = (mount) => `import { registerTool } from '${mount}/widget.js';
  const inputSchema = { type: 'object', properties: { colour: { type: 'string' } } };
  registerTool({ name: 'paint_wall', description: 'Paints the wall', inputSchema }, ({ colour }) => {
    document.title = colour;
    return { painted: colour };
  });`;

const start = () => startScripted((model) => startQuickstart(openai('openai', model.baseUrl)));

/** The page of the adapter's own origin. The browser gets it from the test, and all else from the server. */
const onPage = suiteOn(async () => {
  const app = await start();
  const pages = shop('/assistant', tool('/assistant'));
  const serve = async (context) => {
    for (const [path, body] of Object.entries(pages)) {
      await context.route(app.origin + path, (route) => route.fulfill({ headers: headersOf(path), body }));
    }
  };
  return { ...app, serve, seen: [] };
});

/** The page below a path of another server, which strips a prefix of the path. */
const behindProxy = suiteOn(async () => {
  const mount = '/shop/assistant';
  const app = await start();
  const proxy = await startProxy(app.origin, mount);
  Object.assign(proxy.pages, shop(mount, tool(mount)));
  return { ...app, ...proxy, stop: () => proxy.stop().finally(app.stop) };
});

const lastOutput = ({ model }) => {
  const outputs = model.requests.at(-1).body.input.filter(({ type }) => type === 'function_call_output');
  return outputs.at(-1).output;
};

async function usesAll(view, app) {
  const { page } = view;
  const { model } = app;
  const shows = (words) => until(async () => (await prose(view.answers)).includes(words), `"${words}" is shown`);
  await page.click('[part~=launcher]');

  let go;
  const held = new Promise((resolve) => (go = resolve));
  model.script({ text: MARKDOWN, hold: holdAfter('bold', () => held) });
  await view.type('Show me everything');
  await shows('A title');
  assert.doesNotMatch(await prose(view.answers), /A site/, 'the rest of the answer is still to come');
  go();
  await view.settled();
  await showsMarkdown(view, view.answer());

  model.script({ calls: [{ id: 'call_r', ...tools.refund }] }, { text: 'It is refunded.' });
  await view.ask('Refund it');
  await view.answer().getByRole('button', { name: 'Approve' }).click();
  await shows('It is refunded.');
  await view.settled();
  assert.match(lastOutput(app), /25\.00/);

  const table = { title: 'Sales', columns: [{ label: 'Region' }], rows: [['North'], ['South']] };
  model.script({ calls: [{ id: 'call_t', name: 'ui_table', args: table }] }, { text: 'There it is.' });
  await view.ask('Show the sales');
  const rows = page.locator('[data-tool-name=ui_table] tbody th');
  // The first component of a page loads the code that draws it.
  await rows.last().waitFor();
  assert.deepEqual(await rows.allInnerTexts(), ['North', 'South']);

  model.script({ calls: [{ id: 'call_p', name: 'paint_wall', args: { colour: 'red' } }] }, { text: 'It is red.' });
  await view.ask('Paint the wall');
  await shows('It is red.');
  assert.equal(await page.title(), 'red');
  assert.equal(lastOutput(app), '{"painted":"red"}');

  const before = await prose(view.answers);
  const noted = () => page.evaluate(() => window.problems);
  assert.deepEqual(await noted(), []);
  await view.reload();
  await page.click('[part~=launcher]');
  await rows.last().waitFor();
  assert.equal(await prose(view.answers), before);
  assert.deepEqual(await noted(), []);
  assert.deepEqual(app.seen.filter(({ url }) => url === '/policy-reports'), []);
}

onPage('an empty page with the two lines has all that the widget does', usesAll);
behindProxy('and so has a page below a path, behind a proxy that strips a prefix', usesAll);

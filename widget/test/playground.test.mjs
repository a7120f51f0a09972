// The playground with the quickstart and its demo model, and with the recorded run of the server's tests.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { demo } from '../../tests/lib/app.mjs';
import { DEMO, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { playgroundSuite } from '../testing/playground-page.mjs';
import { program } from '../testing/programs.mjs';

program('QUICKSTART_BIN', 'quickstart');
const suite = playgroundSuite();
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const fixturePath = (name) => new URL(`../../omniassist-server/tests/playground/${name}`, import.meta.url);
const fixture = (name) => readFile(fixturePath(name), 'utf8');
const apps = new Map();
const start = (stored) => () => {
  if (!apps.has(stored)) apps.set(stored, startQuickstart({ ...DEMO, QUICKSTART_PLAYGROUND: '1' }, { stored }));
  return apps.get(stored);
};
const quickstart = start(false);
after(() => Promise.all([...apps.values()].map(async (app) => (await app).stop())));

/** An assistant that answers its runs with the recorded events, one after the other. */
const recorded = async () => {
  const runs = await Promise.all([fixture('recorded.jsonl'), fixture('recorded_again.jsonl')]);
  const answer = (response, path, body) => {
    if (path.endsWith('/stream')) return response.writeHead(204).end();
    if (path.endsWith('/manifest.json')) {
      const manifest = { provider: 'scripted', model: null, agents: [], tools: [] };
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(manifest));
    }
    response.writeHead(body ? 200 : 404, { 'content-type': 'text/event-stream' });
    response.end(runs.shift().replace(/^/gm, 'data: ').replace(/\n/g, '\n\n'));
  };
  return { answer };
};

const answer = (page) => page.locator('omniassist-chat:not([hidden]) [data-role=assistant]').last();
const events = (page) => page.locator('.events > li:not([hidden]) summary');
const call = (page, name) => page.locator('.calls > li').filter({ has: page.getByText(name, { exact: true }) });
/** Waits for the end of the shown run. */
const ended = (page) => events(page).locator('b').getByText('finish', { exact: true }).waitFor();
const selected = (page) => page.getByLabel('Run', { exact: true }).evaluate(({ selectedOptions }) => selectedOptions[0].text);

suite('a question shows its answer, and the events of its run', quickstart, async ({ page, ask, sent }) => {
  await page.getByLabel('Temperature').fill('0.5');
  await page.getByLabel('Further fields for the provider').fill('{"seed": 1}');
  await page.getByLabel('Context').fill('[{"type": "page", "data": {"title": "Orders"}}]');
  await ask(demo.lookUp.question);
  await answer(page).getByText(/delivered/).waitFor();
  await ended(page);
  assert.deepEqual(sent[0].playground, { options: { temperature: 0.5, extra: { seed: 1 } } });
  assert.deepEqual(sent[0].context, [{ type: 'page', data: { title: 'Orders' } }]);
  assert.match(await events(page).first().innerText(), /^\+\d\.\d{3} start \{"messageId":/);
  assert.match(await selected(page), /^1 · What is the status of order 1012\? · \d/);
  // The model writes a word in 25 ms.
  await page.getByLabel('Filter the events').fill('text-delta');
  const times = (await events(page).allInnerTexts()).map((text) => 1_000 * Number(/^\+([\d.]+)/.exec(text)[1]));
  const gaps = times.slice(1).map((time, at) => Math.round(time - times[at]));
  assert.ok(gaps.filter((gap) => gap > 20 && gap < 36).length > gaps.length / 3, `${gaps}`);
  await page.getByLabel('Filter the events').fill('tool-input-available');
  await events(page).nth(1).waitFor({ state: 'detached' });
  assert.match(await events(page).innerText(), /tool-input-available .*"toolName":"order_status"/);
  await page.getByText('1 of').waitFor();
});

suite('a run that goes on after a reload of the page is recorded, with its calls', start(true), async ({ page, ask }) => {
  await ask(demo.slow.question);
  await events(page).locator('b').getByText('tool-input-available', { exact: true }).waitFor();
  const input = await page.getByLabel('Arguments of export_report').inputValue();
  await page.reload();
  await call(page, demo.slow.tool).waitFor();
  await ended(page);
  assert.match(await selected(page), /^1 · Export the sales report · \d/);
  assert.equal(await page.getByLabel('Arguments of export_report').inputValue(), input);
  assert.match(await call(page, demo.slow.tool).innerText(), /output-available/);
  const shown = await answer(page).getByText(/report/i).last().innerText();
  await page.getByRole('button', { name: 'Replay at once' }).click();
  await page.locator('.replay').getByText(shown, { exact: true }).last().waitFor();
  await page.locator('.replay').getByText(demo.slow.question).waitFor();
  await page.getByRole('button', { name: 'Back to the conversation' }).click();
  await page.getByRole('button', { name: 'Export a test' }).click();
  await page.getByText('Only a run that has ended without a failure, and whose request this page has sent, becomes a test.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  // A chat that is at rest has no run.
  await page.reload();
  await answer(page).getByText(shown, { exact: true }).waitFor();
  assert.equal(await events(page).count(), 0);
});

const served = async () => ({ origin: (await quickstart()).origin, isServed: true });
suite('the page of the server works under its own policy', served, async ({ page, ask, sent, origin }) => {
  const { headers } = await fetch(`${origin}/assistant/playground`);
  assert.match(headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; /);
  await ask(demo.lookUp.question);
  await answer(page).getByText(/delivered/).waitFor();
  await ended(page);
  await page.getByRole('button', { name: 'Replay at once' }).click();
  await page.locator('.replay').getByText(/delivered/).first().waitFor();
  assert.deepEqual(sent, []);
});

suite('a request that the server refuses shows the reason', quickstart, async ({ page, ask }) => {
  await page.getByLabel('Headers').fill('{"content-type": "text/plain"}');
  await ask(demo.chat.question);
  await page.getByText(/0 of 0 events. Failed: 415: .*unsupported_media_type/).waitFor();
  await page.getByRole('button', { name: 'Export a test' }).click();
  await page.getByText('Only a run that has ended without a failure, and whose request this page has sent, becomes a test.').waitFor();
}, 415);

suite('text that is not JSON is not sent, and the page says why', quickstart, async ({ page, ask, sent }) => {
  await page.getByLabel('Further fields for the provider').fill('{"seed": ');
  await page.getByText(/^Not used: /).waitFor();
  await ask(demo.chat.question);
  await ended(page);
  assert.equal(sent[0].playground, undefined);
  await page.getByLabel('Further fields for the provider').fill('');
  await page.getByText(/^Not used: /).waitFor({ state: 'hidden' });
});

suite('another agent answers with its own tools', quickstart, async ({ page, ask, paths }) => {
  const names = () => page.getByLabel('Tool choice').evaluate(({ options }) => [...options].map(({ value }) => value));
  await page.getByLabel('Agent').selectOption('handbook');
  await page.waitForFunction(() => [...document.querySelector('[name=toolChoice]').options].some(({ value }) => value === 'tool read_handbook'));
  assert.equal((await names()).includes('tool order_status'), false);
  await ask(demo.handbook.question);
  await call(page, demo.handbook.tool).waitFor();
  await ended(page);
  assert.ok(paths.includes('POST /assistant/agents/handbook'));
  await page.getByLabel('Agent').selectOption('');
  await page.waitForFunction(() => [...document.querySelector('[name=toolChoice]').options].some(({ value }) => value === 'tool order_status'));
});

for (const stored of [false, true])
  suite(`a call runs again with other arguments${stored ? ', stored' : ''}`, start(stored), async ({ page, ask, sent }) => {
    await ask(demo.lookUp.question);
    await answer(page).getByText(/delivered/).waitFor();
    await ended(page);
    const again = call(page, 'order_status').getByRole('button', { name: 'Run again' });
    await page.getByLabel('Arguments of order_status').fill('{"order_id":');
    assert.equal(await again.isDisabled(), true);
    await page.getByLabel('Arguments of order_status').fill('{"order_id": 1001}');
    await again.click();
    await page.getByLabel('Run', { exact: true }).getByText(/^2 · .* s$/).waitFor({ state: 'attached' });
    assert.deepEqual(sent[1].playground, {
      turns: [{ text: '', calls: [{ name: 'order_status', arguments: { order_id: 1001 } }] }],
    });
    assert.match(await call(page, 'order_status').locator('pre').innerText(), /"id": 1001/);
    await answer(page).getByText(/1001/).first().waitFor();
    // The next question is for the model alone.
    await ask(demo.chat.question);
    await page.getByLabel('Run', { exact: true }).getByText(/^3 · .* s$/).waitFor({ state: 'attached' });
    assert.equal(sent[2].playground, undefined);
  });

suite('a call that waits for the page gets the result that a developer writes', quickstart, async ({ page, ask, problems, sent }) => {
  await ask(demo.navigate.question);
  await ended(page);
  await page.getByLabel('Result of navigate').fill('{"page": "customers"}');
  await call(page, 'navigate').getByRole('button', { name: 'Send the result' }).click();
  await page.getByLabel('Run', { exact: true }).getByText(/^2 · goes on with 1 · .* s$/).waitFor({ state: 'attached' });
  const part = sent[1].messages.at(-1).parts.find(({ type }) => type === 'tool-navigate');
  assert.deepEqual([part.state, part.output], ['output-available', { page: 'customers' }]);
  assert.match(problems.splice(0).join(), /^No handler runs the tool navigate\.[^,]*$/);
  const shown = await answer(page).innerText();

  // Both runs are one answer in a replay.
  const requests = sent.length;
  await page.getByRole('button', { name: 'Replay at once' }).click();
  await page.waitForFunction(() => document.querySelector('.replay omniassist-chat')?.chat.messages.at(-1)?.role === 'assistant' && document.querySelector('.replay omniassist-chat').chat.status === 'ready');
  // A replay at once has no time of thinking.
  const withoutTime = (text) => text.replace(/^Thought.*\n/, '');
  assert.equal(withoutTime(await answer(page).innerText()), withoutTime(shown));
  assert.equal(sent.length, requests);
});

suite('a replay shows the same text and sends nothing', recorded, async ({ page, ask, paths }) => {
  await ask('Where is order 7?');
  await answer(page).getByText('It has "shipped".', { exact: true }).waitFor();
  await ended(page);
  const shown = await answer(page).innerText();
  for (const name of ['Replay', 'Replay at once']) {
    const before = paths.length;
    await page.getByRole('button', { name, exact: true }).click();
    await page.locator('.replay').getByText('It has "shipped".', { exact: true }).waitFor();
    await page.locator('.replay').getByText('Where is order 7?').waitFor();
    assert.equal(await answer(page).innerText(), shown);
    await page.getByRole('button', { name: 'Back to the conversation' }).click();
    await page.locator('.replay').waitFor({ state: 'detached' });
    assert.equal(paths.length, before);
  }
});

suite('a call whose answer is not in the chat cannot run again', recorded, async ({ page, ask, sent }) => {
  await ask('Where is order 7?');
  await ended(page);
  const again = page.locator('.calls').getByRole('button', { name: 'Run again' }).first();
  await page.waitForFunction(() => !document.querySelector('.calls [part~=again]').disabled);
  await page.locator('omniassist-chat').evaluate((chat) => chat.newChat());
  await page.waitForFunction(() => document.querySelector('.calls [part~=again]').disabled);
  await again.evaluate((button) => button.click());
  await ask('Another question');
  await page.getByLabel('Run', { exact: true }).getByText(/^2 · .* s$/).waitFor({ state: 'attached' });
  assert.equal(sent[1].playground, undefined);
});

suite('events and tests are copied on a page without a clipboard', recorded, async ({ page, ask }) => {
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    window.copied = [];
    document.addEventListener('copy', () => {
      const { value, selectionStart, selectionEnd } = document.activeElement;
      window.copied.push(value.slice(selectionStart, selectionEnd));
    });
  });
  const copied = () => page.evaluate(() => window.copied.pop());
  await ask('Where is order 7?');
  await ended(page);
  await page.getByRole('button', { name: 'Copy events' }).click();
  assert.match(await copied(), /"type":"finish"/);
  await page.getByRole('button', { name: 'Export a test' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
  assert.equal(await copied(), await page.getByLabel('Test', { exact: true }).inputValue());
});

suite('the exported tests are those that the server runs', recorded, async ({ page, ask }) => {
  for (const [number, question, name] of [
    [1, 'Where is order 7?', 'exported.rs'],
    [2, 'And "order 0"?\nI mean C:\\0. \u202e', 'exported_again.rs'],
  ]) {
    await ask(question);
    await page.getByLabel('Run', { exact: true }).getByText(new RegExp(`^${number} · .* s$`)).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Export a test' }).click();
    const text = await page.getByLabel('Test', { exact: true }).inputValue();
    if (process.env.UPDATE) await writeFile(fixturePath(name), text);
    assert.equal(text, await fixture(name));
    await page.getByRole('button', { name: 'Close' }).click();
  }
});

for (const scheme of ['light', 'dark'])
  for (const width of [1400, 400])
    suite(`axe finds nothing: ${scheme}, ${width} pixels`, recorded, async ({ page, ask }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 900 });
      await ask('Where is order 7?');
      await ended(page);
      await page.getByLabel('Headers').fill('{');
      await page.evaluate(axe);
      const find = async () => (await page.evaluate(() => window.axe.run())).violations;
      const told = (violations) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
      assert.deepEqual(told(await find()), []);
      await page.getByRole('button', { name: 'Export a test' }).click();
      assert.deepEqual(told(await find()), []);
    });

import assert from 'node:assert/strict';
import { partsSuite } from '../testing/parts-page.mjs';

const test = partsSuite();

const said = (text, id = 'q') => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const answer = (...parts) => ({ id: 'a', role: 'assistant', parts });
const text = (text, state = 'done') => ({ type: 'text', text, state });

test('messages are named articles, and the text of the user is no markup', async (view) => {
  await view.open({ messages: [said('one\n  **two** <b>x</b>'), answer(text('**Hello**'))] });
  const you = view.root.getByRole('article', { name: 'You' });
  assert.equal(await you.locator('[part~=said]').innerText(), 'one\n  **two** <b>x</b>');
  assert.equal(await view.root.getByRole('article', { name: 'Assistant' }).locator('strong').innerText(), 'Hello');
});

test('actions copy, ask again, and give feedback', async (view) => {
  await view.open({ messages: [said('Hi'), answer(text('**One**'), { type: 'step-start' }, text('Two'))] });
  const article = view.root.getByRole('article', { name: 'Assistant' });
  await article.getByRole('button', { name: 'Copy' }).click();
  await view.page.waitForFunction(() => window.announced.length);
  assert.equal(await view.page.evaluate(() => navigator.clipboard.readText()), '**One**\n\nTwo');
  assert.deepEqual(await view.page.evaluate(() => window.announced), ['Copied']);
  await article.getByRole('button', { name: 'Try again' }).click();
  assert.deepEqual(await view.calls(), [['regenerate', 'a']]);
  const good = article.getByRole('button', { name: 'Good answer' });
  await good.click();
  await article.getByRole('button', { name: 'Bad answer' }).click();
  assert.equal(await good.getAttribute('aria-pressed'), 'false');
  await article.getByRole('button', { name: 'Bad answer' }).click();
  const fired = await view.page.evaluate(() => window.fired);
  assert.deepEqual(fired, ['up', 'down', null].map((value) => ['omni-feedback', { messageId: 'a', value }]));
});

test('feedback that the page prevents is not marked', async (view) => {
  await view.open({ messages: [answer(text('Hi'))], prevented: true });
  const good = view.root.getByRole('button', { name: 'Good answer' });
  await good.click();
  assert.equal(await good.getAttribute('aria-pressed'), 'false');
});

test('the metadata of a message can say its feedback', async (view) => {
  await view.open({ messages: [{ ...answer(text('Hi')), metadata: { feedback: 'down' } }] });
  const pressed = (name) => view.root.getByRole('button', { name }).getAttribute('aria-pressed');
  assert.deepEqual([await pressed('Good answer'), await pressed('Bad answer')], ['false', 'true']);
});

test('a text is copied where the page has no clipboard', async (view) => {
  await view.open({ messages: [said('Plain words')] });
  await view.page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
    document.addEventListener('copy', () => (window.copied = window.root.activeElement?.value), { once: true });
  });
  await view.root.getByRole('button', { name: 'Copy' }).click();
  await view.page.waitForFunction(() => window.announced.length);
  assert.deepEqual(await view.page.evaluate(() => [window.announced, window.copied, window.focused()]), [['Copied'], 'Plain words', 'Copy']);
  await view.page.evaluate(() => delete navigator.clipboard);
});

test('a message is edited in place; Cancel and Escape keep it', async (view) => {
  await view.open({ messages: [said('First words'), answer(text('Yes'))] });
  const edit = view.root.getByRole('button', { name: 'Edit' });
  const field = view.root.getByLabel('Edit the message');
  for (const leave of [() => view.root.getByRole('button', { name: 'Cancel' }).click(), () => field.press('Escape')]) {
    await edit.click();
    await field.fill('Other words');
    await leave();
    assert.equal(await field.count(), 0);
    assert.ok(await view.root.getByText('First words').isVisible());
    assert.equal(await view.page.evaluate(() => window.focused()), 'Edit');
  }
  assert.deepEqual(await view.calls(), []);
  await edit.click();
  assert.equal(await field.inputValue(), 'First words');
  await field.fill('Other\nwords');
  // The chat has not changed the text yet: an update must not close the field.
  await view.page.evaluate(() => window.refresh());
  await view.root.getByRole('button', { name: 'Save' }).click();
  assert.deepEqual(await view.calls(), [['edit', 'q', 'Other\nwords']]);
});

test('the key that ends a composition does not save an edit', async (view) => {
  await view.open({ messages: [said('First')] });
  await view.root.getByRole('button', { name: 'Edit' }).click();
  const field = view.root.getByLabel('Edit the message');
  await field.fill('日本');
  const press = (init) =>
    field.evaluate((node, init) => node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', cancelable: true, ...init })), init);
  await press({ isComposing: true });
  await press({ keyCode: 229 });
  assert.deepEqual(await view.calls(), []);
  await press({});
  assert.deepEqual(await view.calls(), [['edit', 'q', '日本']]);
});

test('branches are counted and chosen', async (view) => {
  await view.open({ messages: [said('Hi'), answer(text('Yes'))], branches: { a: { count: 3, current: 1 } } });
  const group = view.root.getByRole('group', { name: 'Version 2 of 3' });
  assert.equal(await group.innerText(), '2/3');
  await group.getByRole('button', { name: 'Next version' }).click();
  await group.getByRole('button', { name: 'Previous version' }).click();
  assert.deepEqual(await view.calls(), [['selectBranch', 'a', 2], ['selectBranch', 'a', 0]]);
  await view.open({ messages: [answer(text('Yes'))], branches: { a: { count: 2, current: 1 } } });
  await view.root.getByRole('button', { name: 'Next version' }).click({ force: true });
  assert.deepEqual(await view.calls(), [], 'nothing comes after the last one');
});

test('no action can be chosen while an answer arrives', async (view) => {
  await view.open({ messages: [said('Hi'), answer(text('Ye', 'streaming'))], status: 'streaming' });
  const buttons = await view.root.getByRole('button').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label')));
  assert.deepEqual(buttons, ['Copy']);
});

test('thoughts are folded, and their time is counted', async (view) => {
  await view.page.evaluate(() => {
    window.clock = performance.now;
    window.now = 1000;
    performance.now = () => window.now;
  });
  const thought = { type: 'reasoning', text: 'First, **look**', state: 'streaming' };
  await view.open({ messages: [said('Hi'), answer(thought)], status: 'streaming' });
  const fold = view.root.locator('[part~=reasoning]');
  assert.equal(await fold.locator('summary').innerText(), 'Thinking…');
  assert.equal(await fold.locator('strong').count(), 0, 'a folded thought is not drawn');
  await view.page.evaluate(() => (window.now = 2500));
  await view.change({ text: 'First, **look** closely' });
  await view.page.evaluate(() => (window.now = 4100));
  await view.change({ state: 'done' });
  assert.equal(await fold.locator('summary').innerText(), 'Thought for 3 s');
  await fold.locator('summary').click();
  assert.equal(await fold.locator('strong').innerText(), 'look');
  await view.open({ messages: [answer({ ...thought, state: 'done' })] });
  assert.equal(await fold.locator('summary').innerText(), 'Thoughts');
  await view.page.evaluate(() => (performance.now = window.clock));
});

test('sources are links to web pages, each once', async (view) => {
  const source = (url, title) => ({ type: 'source-url', sourceId: url, url, title });
  const list = [source('https://a.example/x', 'A page'), source('https://a.example/x', 'A page'), source('https://b.example/')];
  await view.open({ messages: [answer(text('Yes'), ...list, { type: 'source-document', sourceId: 'd', title: 'Contract', filename: 'c.pdf' })] });
  assert.equal(await view.root.locator('[part~=sources] > p').innerText(), '3 sources');
  const links = await view.root.getByRole('link').evaluateAll((nodes) => nodes.map(({ href, rel, target }) => [href, rel, target]));
  const safe = ['noopener noreferrer nofollow', '_blank'];
  assert.deepEqual(links, [['https://a.example/x', ...safe], ['https://b.example/', ...safe]]);
  assert.equal(await view.root.getByRole('listitem').nth(2).innerText(), 'Contract');
});

test('files are previewed from the page itself, and others are links', async (view) => {
  const file = (url, mediaType, filename) => ({ type: 'file', url, mediaType, filename });
  await view.open({
    messages: [
      { id: 'q', role: 'user', parts: [
        file('/image.svg', 'image/svg+xml', 'own.svg'),
        file('data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'image/gif', 'dot.gif'),
        file('https://elsewhere.example/track.png', 'image/png', 'far.png'),
        file('/files/1', 'application/pdf', 'bill.pdf'),
        file('/files/2', 'audio/mpeg', 'call.mp3'),
      ] },
    ],
  });
  await view.root.locator('img').nth(1).waitFor();
  const images = await view.root.locator('img').evaluateAll(async (nodes) => {
    await Promise.all(nodes.map((node) => node.decode()));
    return nodes.map(({ alt }) => alt);
  });
  assert.deepEqual(images, ['own.svg', 'dot.gif']);
  assert.equal(await view.root.getByRole('button', { name: 'Play call.mp3' }).count(), 1);
  const links = await view.root.getByRole('link').evaluateAll((nodes) => nodes.map((node) => [node.textContent, node.hasAttribute('download'), node.target]));
  assert.deepEqual(links, [
    ['own.svg', true, ''],
    ['dot.gif', true, ''],
    ['far.png', false, '_blank'],
    ['bill.pdf', true, ''],
    ['call.mp3', true, ''],
  ]);
  assert.deepEqual(view.server.requests, ['/image.svg'], 'nothing else was loaded');
});

test('a stopped answer says so, and the last one can be asked for again, in no name of the user', async (view) => {
  await view.open({ messages: [said('Hi'), answer(text('Half'))], incomplete: ['a'] });
  assert.match(await view.root.getByRole('article', { name: 'Assistant' }).innerText(), /This answer is incomplete\./);
  const again = (role) => view.root.locator(`[data-role=${role}] [part~=incomplete]`).getByRole('button', { name: 'Try again' });
  await again('assistant').click();
  assert.deepEqual(await view.calls(), [['regenerate']]);
  await view.open({ messages: [answer(text('Half')), said('Next')], incomplete: ['a'] });
  assert.equal(await again('assistant').count(), 0);
});

test('an answer without a text says why, and what the user can do', async (view) => {
  const note = view.root.locator('[data-role=assistant] [part~=incomplete]');
  const cases = [
    ['content-filter', {}, 'A filter withheld the answer. Ask in another way.'],
    ['length', {}, 'The answer was too long. Ask for a shorter one.'],
    ['length', { locale: 'de' }, 'Die Antwort war zu lang. Bitten Sie um eine kürzere.'],
  ];
  for (const [finishReason, options, words] of cases) {
    const empty = { ...answer({ type: 'step-start' }, text(' ')), metadata: { finishReason } };
    await view.open({ messages: [said('Hi'), empty], ...options });
    assert.equal(await note.locator('span').innerText(), words);
    await note.getByRole('button').click();
    assert.deepEqual(await view.calls(), [['regenerate']]);
  }
  await view.open({ messages: [said('Hi'), { ...answer(text('Half')), metadata: { finishReason: 'length' } }] });
  assert.equal(await note.isVisible(), false, 'an answer with a text');
});

test('a question without an answer can be asked again', async (view) => {
  await view.open({ messages: [answer(text('Half')), said('Next')] });
  const note = view.root.locator('[data-role=user] [part~=incomplete]');
  assert.match(await note.innerText(), /The answer was stopped\./);
  await note.getByRole('button', { name: 'Try again' }).click();
  assert.deepEqual(await view.calls(), [['regenerate']]);
  await view.open({ messages: [answer(text('Half')), said('Next')], status: 'submitted' });
  assert.equal(await note.isVisible(), false);
});

test('hostile texts and addresses do nothing', async (view) => {
  const evil = '<img src=x onerror="window.hurt=1">';
  const bad = ['javascript:window.hurt=1', ' javascript:window.hurt=1', 'data:text/html,<script>window.hurt=1</script>', 'file:///etc/passwd', 'vbscript:x', '//elsewhere.example/x'];
  const parts = bad.flatMap((url) => [
    { type: 'source-url', sourceId: url, url, title: evil },
    { type: 'file', url, mediaType: 'text/html', filename: evil },
    { type: 'file', url, mediaType: 'image/png', filename: evil },
  ]);
  const call = { type: `tool-${evil}`, toolCallId: 't1', state: 'approval-requested', title: evil, input: { [evil]: evil, safe: 'abc\u202egpj', tags: 'pay\u{e0070}\u180e\u3164\u206a\ufff9' }, approval: { id: 'x', requestReason: `Pay 1\u202e000` } };
  const label = { omniassist: { tools: { t1: { title: evil, summary: evil } } } };
  await view.open({ messages: [said(evil), { ...answer(text(evil), ...parts, call), metadata: label }] });
  await view.root.locator('[part~=attachment]').last().waitFor();
  await view.root.locator('[part~=approval]').waitFor();
  const links = await view.root.locator('a').evaluateAll((nodes) => nodes.map((node) => [node.protocol, node.host, node.hasAttribute('download')]));
  for (const [protocol, host, isDownload] of links) {
    // A document in an address may be saved, and a foreign page opened by a click. Nothing else is a link.
    assert.ok(/^https?:$/.test(protocol) || isDownload, `${protocol} ${host}`);
  }
  assert.ok(!links.some(([protocol]) => /script|file/.test(protocol)));
  for (const link of await view.root.locator('a[download]').all()) assert.match(await link.getAttribute('href'), /^data:/);
  assert.equal(await view.root.locator('[part~=content] img[src="x"]').count(), 0);
  const card = await view.root.locator('[part~=approval]').innerText();
  assert.match(card, /Pay 1\\u202e000/, 'a mark of direction is written out');
  assert.match(card, /abc\\u202egpj/);
  assert.ok(card.includes('pay\\udb40\\udc70\\u180e\\u3164\\u206a\\ufff9'), card);
  assert.equal(await view.page.evaluate(() => window.hurt), undefined);
});

test('nodes stay the same over 200 updates of an answer', async (view) => {
  const call = { type: 'tool-look', toolCallId: 't1', state: 'output-available', input: { a: 1 }, output: 2 };
  const ask = { type: 'tool-pay', toolCallId: 't2', state: 'approval-requested', input: { a: 1 }, approval: { id: 'x' } };
  const thought = { type: 'reasoning', text: 'Hm', state: 'done' };
  await view.open({ messages: [said('Hi'), answer(thought, call, text('Done.'), ask, text('', 'streaming'))], status: 'streaming' });
  const { added, removed, others } = await view.page.evaluate(async () => {
    const last = window.chat.messages.at(-1).parts.at(-1);
    const records = [];
    const observer = new MutationObserver((list) => records.push(...list));
    observer.observe(window.root, { subtree: true, childList: true, characterData: true, attributes: true });
    for (let time = 0; time < 200; time += 1) window.change({ text: `${last.text}word ` });
    await null;
    const live = [...window.root.querySelectorAll('[data-part=text]')].at(-1);
    const isLive = ({ target }) => live === target || live.contains(target);
    const count = (list, member) => list.reduce((sum, one) => sum + one[member].length, 0);
    const within = records.filter(isLive);
    return { added: count(within, 'addedNodes'), removed: count(within, 'removedNodes'), others: records.filter((one) => !isLive(one)).length };
  });
  assert.ok(added > 0 && added < 20, `${added} nodes added`);
  assert.equal(removed, 0);
  assert.equal(others, 0, 'nothing else was touched');
});

test('another try of an answer takes its old parts away', async (view) => {
  await view.open({ messages: [answer({ type: 'tool-look', toolCallId: 't1', state: 'input-available' }, text('Half', 'streaming'))], status: 'streaming' });
  await view.page.evaluate(() => {
    const { parts } = window.chat.messages[0];
    parts.splice(0);
    parts.push({ type: 'text', text: 'Anew', state: 'streaming' });
    window.refresh();
  });
  assert.equal(await view.root.locator('[part~=content]').innerText(), 'Anew');
});

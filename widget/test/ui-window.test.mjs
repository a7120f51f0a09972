import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();
const open = (view) => view.page.evaluate(() => document.querySelector('omniassist-chat').open()).then(view.frame);
const focused = (page) =>
  page.evaluate(() => {
    let node = document.activeElement;
    while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return node.getAttribute('part') ?? node.id ?? node.localName;
  });
/** Names of what screen readers find. */
const tree = async (page) => {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes.filter(({ ignored }) => !ignored).map(({ role, name }) => `${role?.value} ${name?.value ?? ''}`);
};

test(
  'a closed popup is not in the accessibility tree, makes no chat, and takes no focus',
  {},
  async ({ page, part }) => {
    assert.equal(await page.evaluate(() => window.chat), undefined);
    assert.equal(await page.evaluate(() => document.activeElement.localName), 'body');
    const found = await tree(page);
    assert.ok(found.includes('button Open the chat'), found.join('\n'));
    assert.ok(!found.some((line) => /textbox|log|dialog|heading/.test(line)), found.join('\n'));
    await part('launcher').click();
    const opened = await tree(page);
    for (const line of ['dialog Assistant', 'textbox Message', 'log Conversation', 'button Close the chat'])
      assert.ok(opened.includes(line), `${line} in ${opened.join('\n')}`);
  },
);

test('Escape closes the popup, and the focus goes back', {}, async (view) => {
  const { page } = view;
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await view.frame();
  assert.equal(await focused(page), 'input');
  assert.equal(await page.locator('omniassist-chat').getAttribute('open'), '');
  await page.keyboard.press('Escape');
  assert.match(await focused(page), /launcher/);
  assert.equal(await page.locator('omniassist-chat').getAttribute('open'), null);
  assert.equal(await view.part('window').isVisible(), false);
});

test(
  'a button of the page that opens the popup gets the focus back',
  {
    body: '<button id="help">Help</button><omniassist-chat></omniassist-chat><script type="module" src="/assistant/widget.js"></script>',
  },
  async (view) => {
    await view.page.evaluate(() => (help.onclick = () => document.querySelector('omniassist-chat').open()));
    await view.page.click('#help');
    assert.equal(await focused(view.page), 'input');
    await view.part('close-button').click();
    assert.equal(await focused(view.page), 'help');
  },
);

test('the window is above everything of the page, without a z-index', {}, async (view) => {
  await view.page.evaluate(() => {
    const cover = document.createElement('div');
    cover.style.cssText = 'position:fixed;inset:0;z-index:2147483647;background:red';
    document.body.append(cover);
  });
  await view.part('launcher').click();
  await view.part('heading').click({ timeout: 2_000 });
});

test(
  'on a phone the open window covers the page, which is inert',
  {
    width: 390,
    height: 844,
    body: '<button id="other">Other</button><script type="module" src="/assistant/widget.js"></script><omniassist-chat></omniassist-chat>',
  },
  async (view) => {
    await view.part('launcher').click();
    const box = await view.part('window').boundingBox();
    assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 844 });
    assert.ok(!(await tree(view.page)).some((line) => /Other/.test(line)), 'the page is not in the tree');
    await view.page.keyboard.press('Escape');
    assert.ok((await tree(view.page)).some((line) => /Other/.test(line)));
    assert.match(await focused(view.page), /launcher/);
  },
);

test('an element that is open in the markup takes no focus', { attributes: 'open' }, async (view) => {
  await view.part('window').waitFor();
  assert.equal(await view.page.evaluate(() => document.activeElement.localName), 'body');
});

test('on a phone, the markup alone does not cover the page', { attributes: 'open', width: 390 }, async (view) => {
  await view.frame();
  assert.equal(await view.part('window').isVisible(), false);
});

test(
  'mode and attributes change in place, and the conversation stays',
  { attributes: 'mode="panel"' },
  async (view) => {
    const { page } = view;
    await view.change({ messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'kept' }] }] });
    for (const mode of ['page', 'sidebar', 'popup', 'panel']) {
      await page.evaluate((mode) => document.querySelector('omniassist-chat').setAttribute('mode', mode), mode);
      await page.waitForFunction(
        (mode) => document.querySelector('omniassist-chat').shadowRoot.querySelector(`[part~=${mode}]`),
        mode,
      );
      if (mode === 'sidebar') await open(view);
      await view.part('log').getByText('kept').waitFor();
    }
    await page.evaluate(() => document.querySelector('omniassist-chat').setAttribute('heading', 'Support'));
    await view.part('heading').getByText('Support').waitFor();
    assert.equal((await view.calls()).filter(([name]) => name === 'close').length, 0);
  },
);

test('events tell the page what happens', { attributes: 'mode="popup"' }, async (view) => {
  const { page } = view;
  await page.evaluate(() => {
    window.seen = [];
    for (const type of ['omni-open', 'omni-close', 'omni-message', 'omni-tool', 'omni-error'])
      document.addEventListener(type, ({ detail }) =>
        seen.push([type, detail.message?.id ?? (detail.part?.preliminary ? 'progress' : detail.part?.state) ?? detail.error?.message]),
      );
  });
  await open(view);
  const tool = { type: 'tool-x', toolCallId: 'c1', state: 'input-available' };
  const answer = (state, preliminary) => ({
    id: 'a1',
    role: 'assistant',
    parts: [
      { ...tool, state, preliminary },
      { type: 'text', text: 'Yes' },
    ],
  });
  const user = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
  await view.change({ status: 'streaming', messages: [user, answer('input-available')] });
  for (const preliminary of [true, true, undefined])
    await view.change({ status: 'streaming', messages: [user, answer('output-available', preliminary)] });
  await view.change({ status: 'ready' });
  await view.change({ status: 'error', error: { message: 'Broken', kind: 'failed', canRetry: true } });
  await page.evaluate(() => document.querySelector('omniassist-chat').close());
  assert.deepEqual(
    await page.evaluate(() => seen),
    [
      ['omni-open', null],
      ['omni-message', 'u1'],
      ['omni-tool', 'input-available'],
      ['omni-tool', 'progress'],
      ['omni-tool', 'output-available'],
      ['omni-message', 'a1'],
      ['omni-error', 'Broken'],
      ['omni-close', null],
    ]
      .map(([type, value]) => [type, value ?? undefined])
      .map(([type, value]) => [type, value]),
  );
});

test('the launcher counts the answers that come while the window is closed', {}, async (view) => {
  await open(view);
  await view.page.keyboard.press('Escape');
  await view.change({ messages: [{ id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Hello' }] }] });
  assert.equal(await view.part('launcher').getAttribute('aria-label'), 'Open the chat (1)');
  await open(view);
  await view.page.keyboard.press('Escape');
  assert.equal(await view.part('launcher').getAttribute('aria-label'), 'Open the chat');
});

test('the launcher counts an answer that ends, or waits for the user, after the window was closed', {}, async (view) => {
  await view.part('launcher').click();
  const answer = (id, ...parts) => ({ id, role: 'assistant', parts });
  const text = { type: 'text', text: 'Hello' };
  await view.change({ messages: [answer('a', text)], status: 'streaming' });
  await view.page.keyboard.press('Escape');
  const count = view.part('launcher').locator('[part~=count]');
  assert.equal(await count.isVisible(), false);
  await view.change({ status: 'ready' });
  assert.equal(await count.innerText(), '1');
});

test('the launcher counts a question of the page that waits while the window is closed', {}, async (view) => {
  await open(view);
  await view.page.keyboard.press('Escape');
  await view.page.evaluate(() => {
    window.answer = window.chat.onConfirm('Open another site?', new AbortController().signal);
  });
  await view.frame();
  assert.equal(await view.part('launcher').getAttribute('aria-label'), 'Open the chat (1)');
  await open(view);
  await view.part('allow').click();
  assert.equal(await view.page.evaluate(() => window.answer), true);
  assert.equal(await view.part('log').evaluate((log) => log.matches(':focus')), true);
  await view.page.keyboard.press('Escape');
  assert.equal(await view.part('launcher').getAttribute('aria-label'), 'Open the chat');
});

test('a tool that is registered with the element stays for the chats of other agents', {}, async (view) => {
  const tools = (change) =>
    view.page.locator('omniassist-chat').evaluate(async (chat, change) => {
      if (change) chat.setAttribute('agent', change);
      else chat.registerTool({ name: 'paint_wall', description: 'Paints' }, () => 'painted');
      await new Promise(requestAnimationFrame);
      return [chat.chat.agent, [...chat.chat.registry.tools.keys()]];
    }, change);
  assert.deepEqual(await tools(), [undefined, ['paint_wall']]);
  assert.deepEqual(await tools('painter'), ['painter', ['paint_wall']]);
});

test('the style of the page does not reach the widget, and the style of the widget not the page', {}, async (view) => {
  await view.page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      '* { text-transform: uppercase; letter-spacing: 4px } button { background: red; padding: 40px } body { font: 40px serif; line-height: 3; text-align: center }',
    );
    document.adoptedStyleSheets = [sheet];
  });
  await open(view);
  const style = await view.part('heading').evaluate((node) => {
    const { textTransform, letterSpacing, fontSize, textAlign } = getComputedStyle(node);
    return { textTransform, letterSpacing: parseFloat(letterSpacing) < 1 || letterSpacing, fontSize, textAlign };
  });
  assert.deepEqual(style, { textTransform: 'none', letterSpacing: true, fontSize: '16px', textAlign: 'left' });
  assert.equal((await view.part('close-button').boundingBox()).width, 36);
});

test('a custom property of the page colours the widget', {}, async (view) => {
  await view.page.evaluate(() => document.documentElement.style.setProperty('--omni-color-accent', 'rgb(1, 2, 3)'));
  assert.equal(await view.part('launcher').evaluate((node) => getComputedStyle(node).backgroundColor), 'rgb(1, 2, 3)');
});

test(
  'slots replace the launcher, the header and the empty state',
  {
    body: '<script type="module" src="/assistant/widget.js"></script><omniassist-chat><button slot="launcher">Talk to us</button><strong slot="header">Acme</strong><p slot="empty">Welcome</p><small slot="footer">Answers can be wrong.</small></omniassist-chat>',
  },
  async (view) => {
    await view.page.getByRole('button', { name: 'Talk to us' }).click();
    for (const text of ['Acme', 'Welcome', 'Answers can be wrong.'])
      assert.ok(await view.page.getByText(text).isVisible(), text);
    assert.equal(await view.part('greeting').isVisible(), false);
  },
);

test('the own names of the page for its colours stay its own, and may give the colours of the widget', {}, async ({ page, part }) => {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`:root { --accent: rgb(1, 2, 3); --text: rgb(4, 5, 6) }
      omniassist-chat { --omni-color-accent: var(--accent) }
      omniassist-chat [slot=footer] { color: var(--text) }`);
    document.adoptedStyleSheets.push(sheet);
    const footer = Object.assign(document.createElement('p'), { slot: 'footer', id: 'own', textContent: 'Own' });
    document.querySelector('omniassist-chat').append(footer);
  });
  assert.equal(await part('launcher').evaluate((node) => getComputedStyle(node).backgroundColor), 'rgb(1, 2, 3)');
  await part('launcher').click();
  assert.equal(await page.locator('#own').evaluate((node) => getComputedStyle(node).color), 'rgb(4, 5, 6)');
});

test('on a phone, the open window stays open when an attribute changes', { width: 390 }, async (view) => {
  await view.part('launcher').click();
  await view.page.evaluate(() => document.querySelector('omniassist-chat').setAttribute('suggestions', 'Where is it?'));
  await view.part('suggestion').waitFor();
  assert.equal(await focused(view.page), 'input');
});

test('a window that fills the page leaves no room for scrolling', { attributes: 'mode="page"' }, async (view) => {
  assert.deepEqual(await view.part('window').boundingBox(), { x: 0, y: 0, width: 1280, height: 800 });
  assert.equal(await view.page.evaluate(() => document.documentElement.scrollHeight), 800);
});

test('the window opens and closes with motion, unless the user wants less of it', {}, async (view) => {
  const moves = (act) =>
    view.page.evaluate(async (act) => {
      const chat = document.querySelector('omniassist-chat');
      const dialog = chat.shadowRoot.querySelector('dialog');
      chat[act]();
      const running = dialog.getAnimations();
      await Promise.allSettled(running.map(({ finished }) => finished));
      return running.map(({ transitionProperty }) => transitionProperty).sort();
    }, act);
  assert.deepEqual([await moves('open'), await moves('close')], [[], []]);
  await view.page.emulateMedia({ reducedMotion: 'no-preference' });
  assert.deepEqual(await moves('open'), ['opacity', 'transform']);
  const closing = await moves('close');
  for (const property of ['display', 'opacity', 'transform']) assert.ok(closing.includes(property), `${closing}`);
  assert.equal(await view.part('window').isVisible(), false);
});

test(
  'a window of a phone keeps its size when the page is enlarged, and stays above the keyboard',
  {
    width: 400,
    height: 700,
    prepare: (page) =>
      page.addInitScript(() => {
        const viewport = Object.assign(new EventTarget(), { height: 700, offsetTop: 0, scale: 1 });
        Object.defineProperty(window, 'visualViewport', { value: viewport });
        window.view = (change) => Object.assign(viewport, change).dispatchEvent(new Event('resize'));
      }),
  },
  async (view) => {
    const box = async (change) => {
      await view.page.evaluate((change) => window.view(change), change);
      const { y, height } = await view.part('window').boundingBox();
      return [y, height];
    };
    await view.part('launcher').click();
    assert.deepEqual(await box({ height: 400, offsetTop: 20 }), [20, 400]);
    assert.deepEqual(await box({ height: 300, offsetTop: 50, scale: 2 }), [0, 600]);
  },
);

test('no field has letters that make a phone enlarge the page', { attributes: 'mode="panel"' }, async (view) => {
  const session = await view.page.context().newCDPSession(view.page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  assert.equal(await view.page.evaluate(() => matchMedia('(pointer: coarse)').matches), true);
  const call = (name, id, input) => ({ type: `tool-${name}`, toolCallId: id, state: 'input-available', input });
  const parts = [
    call('request_input', 'f', { schema: { properties: { city: { type: 'string' }, kind: { enum: ['a', 'b'] } } } }),
    call('ui_form', 'c', { fields: [{ name: 'name', label: 'Name', kind: 'text' }] }),
    { ...call('pay', 'p', { amount: 5 }), state: 'approval-requested', approval: { id: 'x' } },
  ];
  const text = [{ type: 'text', text: 'Hi' }];
  await view.change({ messages: [{ id: 'u', role: 'user', parts: text }, { id: 'a', role: 'assistant', parts }] });
  await view.part('threads-button').click();
  await view.part('thread-rename').click();
  await view.part('edit').click();
  await view.page.getByLabel('Name').waitFor();
  const sizes = await view.page.locator('omniassist-chat').evaluate((chat) => {
    const fields = (root) =>
      [...root.querySelectorAll('*')].flatMap((node) => [
        ...(node.matches('input:not([type=checkbox], [type=file]), select, textarea') ? [parseFloat(getComputedStyle(node).fontSize)] : []),
        ...(node.shadowRoot ? fields(node.shadowRoot) : []),
      ]);
    return fields(chat.shadowRoot);
  });
  assert.equal(sizes.length, 8);
  assert.ok(Math.min(...sizes) >= 16, `${sizes}`);
});

import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();
const PANEL = { attributes: 'mode="panel"' };

/** Puts a conversation into the chat, and an answer that grows with each frame: `grow(words)`. */
const talk = (view, count, status = 'ready') =>
  view.page
    .evaluate(
      ([count, status]) => {
        const { chat } = window;
        window.say = (role, text) => ({ id: `m${chat.messages.length}`, role, parts: [{ type: 'text', text }] });
        for (let index = 0; index < count; index += 1)
          chat.messages.push(
            say(index % 2 ? 'assistant' : 'user', `Message ${index}. ${'Some words. '.repeat((index * 7) % 30)}`),
          );
        window.place = () => document.querySelector('omniassist-chat').shadowRoot.querySelector('[part~=log]').scrollTop;
        window.grow = () => {
          chat.messages.at(-1).parts[0].text += ' and some more words of the answer that arrive now';
          chat.change({});
          return new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
        };
        chat.change({ status });
      },
      [count, status],
    )
    .then(view.frame);
const place = (view) =>
  view
    .part('log')
    .evaluate((log) => ({
      top: log.scrollTop,
      rest: Math.round(log.scrollHeight - log.clientHeight - log.scrollTop),
      end: log.scrollHeight,
    }));

test('a log at its end follows the answer', PANEL, async (view) => {
  await talk(view, 30, 'streaming');
  for (let count = 0; count < 10; count += 1) {
    await view.page.evaluate(() => grow());
    assert.equal((await place(view)).rest, 0);
  }
  assert.equal(await view.part('to-end').isVisible(), false);
});

test('dots show that an answer goes on after a tool has ended', PANEL, async (view) => {
  const call = { type: 'tool-look', toolCallId: 't', state: 'input-available', input: {} };
  const show = async (...parts) => {
    await view.change({ messages: [{ id: 'a', role: 'assistant', parts }], status: 'streaming' });
    return view.part('waiting').isVisible();
  };
  assert.equal(await show({ type: 'step-start' }), true);
  assert.equal(await show({ type: 'step-start' }, call), false);
  const done = { ...call, state: 'output-available', output: 1 };
  assert.equal(await show({ type: 'step-start' }, done), true);
  assert.equal(await show({ type: 'step-start' }, done, { type: 'data-note', data: 1 }), true);
  assert.equal(await show({ type: 'step-start' }, done, { type: 'step-start' }, { type: 'text', text: 'It' }), false);
  await view.change({ status: 'ready' });
  assert.equal(await view.part('waiting').isVisible(), false);
});

test('the text of an answer does not move when its buttons appear', PANEL, async (view) => {
  await talk(view, 30, 'streaming');
  const text = view.part('messages').locator('article:last-of-type [part~=text]');
  const before = (await text.boundingBox()).y;
  await view.change({ status: 'ready' });
  assert.equal((await text.boundingBox()).y, before);
  assert.equal((await place(view)).rest, 0);
});

test('Home goes to the first message of a long conversation', PANEL, async (view) => {
  await talk(view, 600);
  await view.part('log').focus();
  await view.page.keyboard.press('Home');
  await view.part('log').getByText('Message 0.').waitFor();
  await view.frame();
  assert.equal((await place(view)).top, 0);
});

/** Lets the server have older messages: `older` pages of 100. */
const serveOlder = (view, older) =>
  view.page.evaluate((older) => {
    const { chat } = window;
    window.pages = 0;
    chat.loadOlder = async () => {
      if (window.pages === older || window.isLoading) return;
      window.isLoading = true;
      await new Promise((next) => setTimeout(next));
      window.isLoading = false;
      window.pages += 1;
      const first = (older - window.pages) * 100;
      chat.messages.unshift(...Array.from({ length: 100 }, (_, at) => ({ ...window.say(at % 2 ? 'assistant' : 'user', `Older ${first + at}.`), id: `o${first + at}` })));
      chat.change({});
    };
  }, older);

test('older messages are loaded once the user comes near the first one', PANEL, async (view) => {
  await talk(view, 100);
  await serveOlder(view, 4);
  await view.change({});
  await view.frame();
  assert.equal(await view.page.evaluate(() => window.pages), 0);
  const seen = await view.part('log').evaluate((log) => ((log.scrollTop = 300), log.scrollTop));
  await view.page.waitForFunction(() => window.pages === 1);
  await view.frame();
  assert.ok((await place(view)).top > seen, 'what is seen stays in place');
  assert.equal(await view.part('to-end').getAttribute('aria-label'), 'Go to the end', 'its answers are not new');
  assert.equal(await view.page.evaluate(() => window.pages), 1);
});

test('Home goes to the first message of the server, with all that are loaded on the way', PANEL, async (view) => {
  await talk(view, 100);
  await serveOlder(view, 4);
  await view.part('log').focus();
  await view.page.keyboard.press('Home');
  await view.part('log').getByText('Older 0.').waitFor();
  await view.frame();
  assert.deepEqual([(await place(view)).top, await view.page.evaluate(() => window.pages)], [0, 4]);
});

test('a wide table scrolls, and its words stay whole', { ...PANEL, width: 400 }, async (view) => {
  const words = ['Feature', 'Availability', 'Description', 'Notifications', 'Configuration', 'Documentation'];
  const row = (cells) => `| ${cells.join(' | ')} |\n`;
  const text = row(words) + row(words.map(() => '---')) + row(words);
  await view.change({ messages: [{ id: 'a', role: 'assistant', parts: [{ type: 'text', text }] }] });
  const { rows, wider } = await view.part('text').locator('.table').evaluate((table) => ({
    wider: table.scrollWidth - table.clientWidth,
    rows: [...table.querySelectorAll('th')].map((cell) => cell.getClientRects()[0].height),
  }));
  assert.ok(wider > 0, `${wider}`);
  assert.ok(Math.max(...rows) < 40, `${rows}`);
});

test('the box of a task is beside its text in both directions', PANEL, async (view) => {
  for (const [dir, text] of [['rtl', '- [ ] مهمة'], ['rtl', '- [ ] task'], ['ltr', '- [ ] task']]) {
    await view.page.evaluate((dir) => (document.documentElement.dir = dir), dir);
    await view.change({ messages: [{ id: `${dir}${text}`, role: 'assistant', parts: [{ type: 'text', text }] }] });
    const overlaps = await view.part('text').locator('.task').evaluate((item) => {
      const range = document.createRange();
      range.selectNodeContents(item.querySelector('p'));
      const [box, words] = [item.querySelector('input').getBoundingClientRect(), range.getBoundingClientRect()];
      return box.left < words.right && words.left < box.right;
    });
    assert.equal(overlaps, false, `${dir} ${text}`);
  }
});

test('a fast answer is drawn once in 45 ms, and its end in the next frame', PANEL, async (view) => {
  await talk(view, 2, 'streaming');
  const { drawn, elapsed, shown, text } = await view.page.evaluate(async () => {
    const { chat } = window;
    const article = document.querySelector('omniassist-chat').shadowRoot.querySelector('article:last-of-type');
    let drawn = 0;
    new MutationObserver(() => (drawn += 1)).observe(article, { subtree: true, childList: true, characterData: true });
    const begin = performance.now();
    // On a slow machine, 250 ms pass between two drawings.
    for (let token = 0; performance.now() - begin < 1_000; token += 1) {
      chat.messages.at(-1).parts[0].text += ` word${token}`;
      chat.change({});
      await new Promise((next) => setTimeout(next, 5));
    }
    const elapsed = performance.now() - begin;
    const before = drawn;
    chat.messages.at(-1).parts[0].text += ' the end';
    chat.change({ status: 'ready' });
    await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    const text = chat.messages.at(-1).parts[0].text;
    return { drawn: before, elapsed, shown: article.querySelector('[part~=text]').textContent.trim(), text };
  });
  assert.ok(drawn > 1 && drawn <= elapsed / 45 + 2, `${drawn} drawings in ${elapsed} ms`);
  assert.equal(shown, text.trim());
});

test('the blocks off screen are skipped while an answer arrives, and nothing moves', PANEL, async (view) => {
  await talk(view, 2, 'streaming');
  const blocks = () =>
    view.part('log').evaluate((log) =>
      [...log.querySelectorAll('article:last-of-type [part~=text] > *')].map((block) => ({
        height: block.offsetHeight,
        isSkipped: block.firstElementChild?.checkVisibility({ contentVisibilityAuto: true }) === false,
      })),
    );
  const skipped = (those) => those.filter(({ isSkipped }) => isSkipped).length;
  // A block that is drawn with many others, and is off screen at once, has an estimated height.
  for (let count = 0; count < 40; count += 1)
    await view.page.evaluate(async (count) => {
      const shown = () => document.querySelector('omniassist-chat').shadowRoot.querySelectorAll('[part~=text] > *');
      const before = shown().length;
      chat.messages.at(-1).parts[0].text += `\n\n- one\n- two\n\n${'words of a paragraph '.repeat(count % 20)}`;
      while (shown().length === before) await grow();
    }, count);
  const streamed = await blocks();
  assert.ok(skipped(streamed) > 20, `${skipped(streamed)} of ${streamed.length} blocks`);
  const seen = await place(view);
  assert.equal(seen.rest, 0);

  await view.part('log').hover();
  await view.page.mouse.wheel(0, -1_000);
  await view.page.waitForFunction((end) => window.place() === end - 1_000, seen.top);
  const block = view.part('log').locator('article:last-of-type [part~=text] > *').nth(60);
  const top = (await block.boundingBox()).y;
  await view.change({ status: 'ready' });
  const done = await blocks();
  assert.equal(skipped(done), 0);
  assert.deepEqual(done.map(({ height }) => height), streamed.map(({ height }) => height));
  assert.equal((await block.boundingBox()).y, top);
});

test('a wheel upward during an answer lets go at once, and nothing moves after it', PANEL, async (view) => {
  await talk(view, 30, 'streaming');
  await view.part('log').hover();
  await view.page.mouse.wheel(0, -40);
  await view.page.waitForFunction(() => {
    const log = document.querySelector('omniassist-chat').shadowRoot.querySelector('[part~=log]');
    return log.scrollHeight - log.clientHeight - log.scrollTop === 40;
  });
  const before = await place(view);
  for (let count = 0; count < 20; count += 1) await view.page.evaluate(() => grow());
  const after = await place(view);
  assert.ok(after.end > before.end + 100);
  assert.equal(after.top, before.top);
});

test('a wheel upward lets go before the browser has scrolled', PANEL, async (view) => {
  await talk(view, 30, 'streaming');
  const { top } = await place(view);
  await view.part('log').evaluate((log) => log.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 })));
  for (let count = 0; count < 5; count += 1) await view.page.evaluate(() => grow());
  assert.equal((await place(view)).top, top);
});

test('a key upward lets go, and the end is followed again when the user is there', PANEL, async (view) => {
  await talk(view, 30, 'streaming');
  await view.part('log').focus();
  // The end of an earlier movement is no end of this one, so the log must have moved and rest for some frames.
  const grow = () => view.page.evaluate(() => window.grow());
  const press = async (key, meanwhile) => {
    const { top } = await place(view);
    await view.page.keyboard.press(key);
    await meanwhile?.();
    await view.part('log').evaluate(
      (log, top) =>
        new Promise((done) => {
          let [last, still] = [top, 0];
          const look = () => {
            still = log.scrollTop === last && last !== top ? still + 1 : 0;
            last = log.scrollTop;
            if (still > 5) done();
            else requestAnimationFrame(look);
          };
          look();
        }),
      top,
    );
  };
  await press('PageUp');
  const before = await place(view);
  for (let count = 0; count < 5; count += 1) await grow();
  assert.equal((await place(view)).top, before.top);
  // The browser may scroll to where the end has been.
  await press('End', grow);
  await grow();
  assert.equal((await place(view)).rest, 0);
});

test('the button counts new answers, and goes to the end', PANEL, async (view) => {
  await talk(view, 30);
  await view.part('log').evaluate((log) => (log.scrollTop = 100));
  await view.frame();
  assert.equal(await view.part('to-end').getAttribute('aria-label'), 'Go to the end');
  await view.page.evaluate(() => {
    chat.messages.push(say('assistant', 'New'), say('assistant', 'Newer'));
    chat.change({});
  });
  await view.frame();
  assert.equal((await place(view)).top, 100);
  await view.page.getByRole('button', { name: 'New answers: 2. Go to the end' }).click();
  await view.frame();
  assert.equal((await place(view)).rest, 0);
  assert.equal(await view.part('to-end').isVisible(), false);
});

test('a question that is sent is shown, wherever the log was', PANEL, async (view) => {
  await talk(view, 60);
  await view.part('log').evaluate((log) => (log.scrollTop = 100));
  await view.frame();
  await view.input.fill('Now?');
  await view.page.keyboard.press('Enter');
  await view.frame();
  assert.equal((await place(view)).rest, 0);
  assert.ok(await view.part('waiting').isVisible());
});

test(
  'follow=question keeps the question at the top while the answer grows',
  { attributes: 'mode="panel" follow="question"' },
  async (view) => {
    await talk(view, 30);
    await view.input.fill('And this?');
    await view.page.keyboard.press('Enter');
    await view.frame();
    const question = view.part('log').getByText('And this?');
    const log = await view.part('log').boundingBox();
    const first = (await question.boundingBox()).y - log.y;
    assert.ok(first < 60, String(first));
    await view.page.evaluate(() => {
      chat.messages.push(say('assistant', 'Well'));
      chat.change({ status: 'streaming' });
    });
    for (let count = 0; count < 40; count += 1) await view.page.evaluate(() => grow());
    assert.equal((await question.boundingBox()).y - log.y, first);
  },
);

test(
  '10,000 messages are at most 3,000 nodes, and each of them can be reached',
  PANEL,
  async (view) => {
    await talk(view, 10_000, 'ready');
    const nodes = () =>
      view.part('log').evaluate((log) => [log.querySelectorAll('*').length, log.querySelectorAll('article').length]);
    assert.equal((await place(view)).rest, 0);
    assert.ok(await view.part('log').getByText('Message 9999.').isVisible());
    for (const part of [0.9, 0.5, 0.2, 0]) {
      await view.part('log').evaluate((log, part) => (log.scrollTop = log.scrollHeight * part), part);
      await view.frame();
      const [all, articles] = await nodes();
      assert.ok(articles <= 120 && all <= 3_000, `${articles} messages, ${all} nodes`);
      const seen = await view.part('log').evaluate((log) => {
        const { top, bottom } = log.getBoundingClientRect();
        return [...log.querySelectorAll('article')].filter((node) => {
          const box = node.getBoundingClientRect();
          return box.bottom > top && box.top < bottom;
        }).length;
      });
      assert.ok(seen > 0, `something is seen at ${part}`);
    }
    assert.ok(await view.part('log').getByText('Message 0.').isVisible());
  },
);

test('a component that comes back into the log shows what was shown of it last', PANEL, async (view) => {
  await view.page.evaluate(() => {
    const { chat } = window;
    const stat = (id, toolCallId, input) => ({
      id,
      role: 'assistant',
      parts: [{ type: 'tool-ui_stat', toolCallId, state: 'output-available', input: { label: 'Orders', ...input }, output: { instanceId: 'c1' } }],
    });
    for (let at = 0; at < 400; at += 1)
      chat.messages.push(
        at === 1 ? stat('first', 'c1', { value: '17' })
          : at === 390 ? stat('second', 'c2', { value: '18', instanceId: 'c1' })
            : { id: `m${at}`, role: at % 2 ? 'assistant' : 'user', parts: [{ type: 'text', text: `Message ${at}` }] },
      );
    chat.change({});
  });
  await view.part('log').getByText('18').waitFor();
  await view.part('log').evaluate((log) => (log.scrollTop = 0));
  await view.part('log').getByText('Message 0', { exact: true }).waitFor();
  await view.part('component').getByText('18').waitFor();
  assert.equal(await view.part('component').getByText('17').count(), 0);
});

test('feedback stays pressed when its message is drawn again, and when its chat is opened again', PANEL, async (view) => {
  await view.change({ isStored: true });
  await talk(view, 300);
  await view.page.evaluate(() => {
    window.fired = [];
    addEventListener('omni-feedback', ({ detail }) => window.fired.push(detail));
  });
  const good = view.page.locator('omniassist-chat [data-message-id=m299]').getByRole('button', { name: 'Good answer' });
  const scrollTo = (end) => view.part('log').evaluate((log, end) => (log.scrollTop = end ? log.scrollHeight : 0), end);
  await good.click();
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  await scrollTo(false);
  await good.waitFor({ state: 'detached' });
  await scrollTo(true);
  await good.waitFor();
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  const messages = await view.page.evaluate(() => structuredClone(window.chat.messages.slice(-2)));
  assert.equal(messages.at(-1).metadata, undefined, 'a message of a server stays what it is');
  await view.change({ chatId: 'other', messages: [] });
  await view.change({ chatId: 'chat-1', messages });
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  await good.click();
  assert.deepEqual(await view.page.evaluate(() => window.fired), ['up', null].map((value) => ({ messageId: 'm299', value })));
});

test('scrolling up page by page moves what is read by what the wheel moved', PANEL, async (view) => {
  await talk(view, 400);
  const moved = await view.part('log').evaluate(async (log) => {
    const frame = () => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    let worst = 0;
    for (let step = 0; step < 40; step += 1) {
      const { top } = log.getBoundingClientRect();
      const read = [...log.querySelectorAll('article')].find((node) => node.getBoundingClientRect().bottom > top + 150);
      const before = read.getBoundingClientRect().top;
      log.scrollBy(0, -150);
      await frame();
      if (read.isConnected) worst = Math.max(worst, Math.abs(read.getBoundingClientRect().top - before - 150));
    }
    return worst;
  });
  assert.ok(moved < 1, `${moved} px`);
});

/** Records in `window.said` each text that a live region gets, also within components. */
const listen = () => {
  window.said = [];
  const live = '[role=status], [role=alert], [role=log]:not([aria-live=off]), [aria-live=polite], [aria-live=assertive], output';
  const known = new Map();
  const hear = (node) => {
    const text = node.textContent.trim();
    if (text && known.get(node) !== text) said.push(text);
    known.set(node, text);
  };
  const watch = (root) =>
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        const regions = [target, ...addedNodes].map((node) => (node instanceof Element ? node : node.parentElement));
        for (const node of regions) for (const one of [node?.closest(live), ...(node?.querySelectorAll(live) ?? [])]) if (one) hear(one);
      }
    }).observe(root, { childList: true, characterData: true, subtree: true });
  watch(document.querySelector('omniassist-chat').shadowRoot);
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const root = attach.call(this, init);
    watch(root);
    return root;
  };
};

test('an answer with thoughts, a call and a component is announced twice', PANEL, async (view) => {
  await view.page.evaluate(listen);
  await view.input.fill('Why?');
  await view.page.keyboard.press('Enter');
  await view.page.evaluate(async () => {
    const parts = [];
    const frames = async (change, count = 3) => {
      for (let at = 0; at < count; at += 1) {
        change?.(at);
        chat.change({ status: 'streaming' });
        await new Promise((next) => requestAnimationFrame(next));
      }
    };
    chat.messages.push({ id: 'a', role: 'assistant', parts });
    parts.push({ type: 'reasoning', text: '', state: 'streaming' });
    await frames(() => (parts[0].text += 'I look it up. '));
    parts[0].state = 'done';
    parts.push({ type: 'tool-look_up', toolCallId: 'c1', state: 'input-available', input: { id: 1 } });
    await frames();
    await frames((done) => Object.assign(parts[1], { state: 'output-available', preliminary: true, output: { done, of: 3, text: `Row ${done}` } }));
    Object.assign(parts[1], { preliminary: false, output: { status: 'ok' } });
    parts.push({ type: 'tool-ui_table', toolCallId: 'c2', state: 'input-streaming', rawInput: '' });
    const table = JSON.stringify({ columns: [{ label: 'City' }], rows: [['Bonn'], ['Rome'], ['Oslo']], selectable: true });
    await frames((at) => (parts[2].rawInput = table.slice(0, 20 * (at + 1))), 5);
    Object.assign(parts[2], { state: 'output-available', input: JSON.parse(table), output: { instanceId: 'i1' } });
    parts.push({ type: 'text', text: '' });
    await frames(() => (parts[3].text += '**Because** of [this](https://example.com). '), 30);
  });
  await view.part('component').locator('tbody tr').nth(2).waitFor();
  await view.change({ status: 'ready' });
  const said = await view.page.evaluate(() => said);
  assert.equal(said.length, 2, said.join('\n'));
  assert.equal(said[0], 'Answering…');
  assert.match(said[1], /^Because of this\. Because/);
  assert.ok(said[1].length <= 301);
});

test('an error says what to do, and its button asks again', PANEL, async (view) => {
  await view.change({ status: 'error', error: { message: 'x', kind: 'offline', canRetry: true } });
  const text = 'The assistant cannot be reached. Check your connection, then try again.';
  assert.equal(await view.part('notice-text').innerText(), text);
  assert.equal(await view.page.getByRole('status').innerText(), text);
  await view.page.getByRole('button', { name: 'Try again' }).click();
  assert.deepEqual(await view.calls(), [['regenerate']]);
  await view.change({ status: 'error', error: { message: 'The plan ends here.', kind: 'failed', canRetry: false } });
  assert.equal(await view.part('notice-text').innerText(), 'The plan ends here.');
  assert.equal(await view.page.getByRole('button', { name: 'Try again' }).count(), 0);
});

test('without a network the chat says so, until there is one', PANEL, async (view) => {
  await view.page.context().setOffline(true);
  await view.part('notice').waitFor();
  assert.match(await view.part('notice-text').innerText(), /offline/);
  await view.page.context().setOffline(false);
  await view.part('notice').waitFor({ state: 'hidden' });
});

test('the list of chats opens over the conversation, and a chosen chat closes it', PANEL, async (view) => {
  await view.page.setViewportSize({ width: 400, height: 700 });
  await view.page.getByRole('button', { name: 'Chats' }).click();
  await view.page.getByRole('button', { name: 'The first chat', exact: true }).waitFor();
  await view.page.keyboard.press('Escape');
  assert.equal(await view.part('threads-pane').isVisible(), false);
  await view.page.getByRole('button', { name: 'Chats' }).click();
  await view.change({ chatId: 'other' });
  assert.equal(await view.part('threads-pane').isVisible(), false);
});

test(
  'an empty chat shows its beginning, also after a long conversation',
  { attributes: 'mode="page" suggestions="One?|Two?|Three?|Four?|Five?|Six?|Seven?|Eight?"', width: 320, height: 360 },
  async (view) => {
    const shown = async () => {
      await view.frame();
      const [log, greeting] = await Promise.all(['log', 'greeting'].map((name) => view.part(name).boundingBox()));
      return [greeting.y > log.y, await view.part('to-end').isVisible()];
    };
    assert.deepEqual(await shown(), [true, false]);
    await talk(view, 30);
    assert.equal((await place(view)).rest, 0);
    await view.change({ messages: [], chatId: 'c2' });
    assert.deepEqual(await shown(), [true, false]);
  },
);

test('keys in a field of a component act on the field', PANEL, async (view) => {
  await talk(view, 30);
  await view.page.evaluate(() => {
    const input = { fields: [{ name: 'name', label: 'Name', kind: 'text' }] };
    chat.messages.push({ id: 'f', role: 'assistant', parts: [{ type: 'tool-ui_form', toolCallId: 'f', state: 'input-available', input }] });
    chat.change({});
  });
  const field = view.page.getByLabel('Name');
  await field.pressSequentially('abc');
  const { top } = await place(view);
  for (const [key, position] of [['Home', 0], ['End', 3]]) {
    await field.press(key);
    assert.equal(await field.evaluate((input) => input.selectionStart), position);
    await view.frame();
    assert.equal((await place(view)).top, top);
  }
});

test('keys with Alt, Control or Meta are left to the browser', PANEL, async (view) => {
  await talk(view, 30);
  const isLeft = await view.part('log').evaluate((log) =>
    ['altKey', 'ctrlKey', 'metaKey'].map((name) =>
      log.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', [name]: true, bubbles: true, cancelable: true })),
    ),
  );
  assert.deepEqual(isLeft, [true, true, true]);
});

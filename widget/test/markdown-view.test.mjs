import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { hostile } from '../testing/markdown-hostile.mjs';
import { openMarkdown } from '../testing/markdown-page.mjs';

const ANSWER = `# Title

A first paragraph with **bold** words, a [link](/there) and \`code\`.

- one
- two **strong**
  1. nested

| a | b |
|---|---|
| 1 | *2* |
| 3 | 4 |

> A quote.

\`\`\`rust
fn main() {
    println!("Hello"); // greets
}
\`\`\`

The last paragraph is longer than the others, with [a label] in it.
`;
const CODE = {
  ts: ['const a: string = `b`; // c', 'keyword string comment'],
  python: ['def a(b):\n    return """c""" # d', 'keyword call string comment'],
  rust: ['fn a(c: &\'b str) -> u8 { b"d"; 0x1f }', 'keyword call string number'],
  go: ['func a() { return "b" /* c', 'keyword call string comment'],
  json: ['{"a": [1, "b", null]}', 'property number string keyword'],
  html: ['<a href="b">c</a><!-- d', 'keyword property string comment'],
  css: ['.a { color: #fff; /* b */ }', 'type property number comment'],
  bash: ['if ls -l "$a"; then echo $b # c', 'keyword string type comment'],
  sql: ["select count(*) from a where b = 'c''d' -- e", 'keyword call string comment'],
};

let view;
before(async () => {
  view = await openMarkdown();
});
after(() => view?.close());
beforeEach(() => view.page.evaluate(() => root.replaceChildren()));

test('finished blocks keep their nodes and the selection in them', async () => {
  const result = await view.page.evaluate(async (text) => {
    const node = root.appendChild(document.createElement('div'));
    const markdown = new MarkdownView(node);
    const changed = [];
    const finished = [];
    const observer = new MutationObserver(() => {});
    observer.observe(node, { subtree: true, childList: true, characterData: true, attributes: true });
    let selected = '';
    for (let end = 1; end <= text.length; end++) {
      markdown.set(text.slice(0, end), false);
      for (const { target, type } of observer.takeRecords()) {
        const block = finished.find((block) => block === target || block.contains(target));
        if (block && !block.querySelector('[class^=token-]')) changed.push(`${type} ${block.textContent}`);
      }
      // After an empty line, the blocks above it are finished, except for a list, which may go on.
      if (!text.slice(0, end).endsWith('\n\n')) continue;
      for (const block of node.children) if (!finished.includes(block) && !/^[uo]l$/.test(block.localName)) finished.push(block);
      if (selected || node.children.length < 2) continue;
      const paragraph = node.children[1];
      getSelection().setBaseAndExtent(paragraph.firstChild, 2, paragraph.querySelector('a').firstChild, 3);
      selected = getSelection().toString();
    }
    markdown.set(text, true);
    await new Promise(requestAnimationFrame);
    return {
      changed,
      count: finished.length,
      areThere: finished.every((block) => block.parentNode === node),
      selected: [selected, getSelection().toString()],
      isWhole: tree(node).replace(/<span class="token[^>]*>|<\/>/g, '') === treeOf(text).replace(/<span class="token[^>]*>|<\/>/g, '') || node.textContent.length,
    };
  }, ANSWER);
  assert.deepEqual(result.changed, []);
  assert.ok(result.count >= 5 && result.areThere);
  assert.equal(result.selected[0].length > 20 && result.selected[1], result.selected[0]);
});

test('an open paragraph grows in place, and its open marks are shown as closed', async () => {
  const result = await view.page.evaluate(() => {
    const node = root.appendChild(document.createElement('div'));
    const markdown = new MarkdownView(node);
    const looks = [];
    const nodes = new Set();
    for (const text of ['Some te', 'Some text **bo', 'Some text **bold** and `co', 'Some text **bold** and `code`.\n-', 'Some text **bold** and `code`.\n- item [link](/pa']) {
      markdown.set(text, false);
      nodes.add(node.firstChild).add(node.firstChild.firstChild);
      looks.push([...node.children].map(({ localName, textContent }) => `${localName} ${textContent}`).join('|'));
    }
    return [looks, nodes.size];
  });
  assert.deepEqual(result, [
    ['p Some te', 'p Some text bo', 'p Some text bold and co', 'p Some text bold and code.', 'p Some text bold and code.|ul item link'],
    2,
  ]);
});

test('the open marks in the last cell of a growing table are shown as closed', async () => {
  const looks = await view.page.evaluate(() => {
    const node = root.appendChild(document.createElement('div'));
    const markdown = new MarkdownView(node);
    return ['| **al', '| **all** | `co', '| **all** | `code` |\n| ~~x', '| **all** | `code` |\n| ~~x'].map((rows, at) => {
      markdown.set(`| a | b |\n|---|---|\n${rows}`, at === 3);
      return [...node.querySelectorAll('td')].map(({ innerHTML }) => innerHTML);
    });
  });
  assert.deepEqual(looks, [
    ['<strong>al</strong>', ''],
    ['<strong>all</strong>', '<code>co</code>'],
    ['<strong>all</strong>', '<code>code</code>', '<del>x</del>', ''],
    ['<strong>all</strong>', '<code>code</code>', '~~x', ''],
  ]);
});

test('a label that is defined later becomes a link at the end', async () => {
  const links = await view.page.evaluate(() => {
    const node = root.appendChild(document.createElement('div'));
    const markdown = new MarkdownView(node);
    markdown.set('See [the docs][1].\n\n', false);
    const before = node.querySelectorAll('a').length;
    markdown.set('See [the docs][1].\n\nMore.\n\n[1]: /docs', true);
    return [before, [...node.querySelectorAll('a')].map((link) => link.outerHTML), node.textContent];
  });
  assert.deepEqual(links, [0, ['<a href="/docs" rel="noopener noreferrer">the docs</a>'], 'See the docs.More.']);
});

test('closed code is coloured, with the same text', async () => {
  for (const [language, [code, kinds]] of Object.entries(CODE)) {
    const text = `\`\`\`${language}\n${code}\n`;
    await view.page.evaluate(([text]) => {
      root.replaceChildren();
      window.markdown = new MarkdownView(root.appendChild(document.createElement('div')));
      window.markdown.set(text, false);
    }, [text]);
    assert.equal(await view.page.locator('[class^=token-]').count(), 0, 'open code has no colours');
    await view.page.evaluate((text) => window.markdown.set(`${text}\`\`\`\n`, false), text);
    await view.page.locator('[class^=token-]').first().waitFor();
    const [shown, found, color] = await view.page.evaluate(() => [
      document.querySelector('code').textContent,
      [...document.querySelectorAll('[class^=token-]')].map(({ className }) => className.slice(6)),
      getComputedStyle(document.querySelector('[class^=token-]')).color,
    ]);
    assert.equal(shown, `${code}\n`);
    for (const kind of kinds.split(' ')) assert.ok(found.includes(kind), `${language}: no ${kind} in ${found}`);
    assert.notEqual(color, 'rgb(0, 0, 0)');
  }
});

test('the button of a code block copies the code', async () => {
  await view.page.evaluate(() => {
    const markdown = new MarkdownView(root.appendChild(document.createElement('div')), { texts: { copy: 'Kopieren', copied: 'Kopiert' } });
    markdown.set('```js\nlet a = 1;\nlet b = 2;\n```\n', true);
  });
  await view.page.getByRole('button', { name: 'Kopieren' }).click();
  await view.page.getByRole('button', { name: 'Kopiert' }).waitFor();
  assert.equal(await view.page.evaluate(() => navigator.clipboard.readText()), 'let a = 1;\nlet b = 2;');
  assert.equal(await view.page.locator('.code-head span').textContent(), 'js');
});

/** 1,000,000 in the long run. Below it is the size up to which all marks are read, so that the growth shows. */
const SIZE = Number(process.env.MARKDOWN_SIZE ?? 125_000);

test('hostile text takes linear time', async () => {
  const session = await view.page.context().newCDPSession(view.page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * metrics.find(({ name }) => name === 'TaskDuration').value;
  };
  const time = async (name, size) => {
    await view.page.evaluate(([name, size]) => (window.text = hostile(size)[name]), [name, size]);
    const start = await busy();
    await view.page.evaluate(() => new MarkdownView(document.createElement('div')).set(window.text, true));
    return (await busy()) - start;
  };
  const slow = [];
  let worst = ['', 0];
  const names = Object.keys(hostile(0));
  for (const name of names) {
    let full = await time(name, SIZE);
    // A short time says nothing on the growth.
    if (full > 50) {
      // Linear time would be 4 times as long, and quadratic time 16 times.
      let quarter = await time(name, SIZE / 4);
      // The machine may be busy: the lowest of several counts.
      for (let round = 0; round < 6 && full / quarter > 8; round++) {
        full = Math.min(full, await time(name, SIZE));
        quarter = Math.min(quarter, await time(name, SIZE / 4));
      }
      if (full / quarter > 8) slow.push([name, quarter, full]);
    }
    if (full > worst[1]) worst = [name, full];
  }
  console.log(`${names.length} hostile texts of ${SIZE} characters, the slowest: ${worst[0]}, ${worst[1].toFixed(0)} ms`);
  assert.deepEqual(slow, []);
});

test('a deep nest stays shallow', async () => {
  const depth = await view.page.evaluate(() => {
    const depthOf = (node) => 1 + Math.max(0, ...[...node.children].map(depthOf));
    return ['> '.repeat(5_000), '- '.repeat(5_000) + 'a', '*a '.repeat(5_000) + 'b* '.repeat(5_000)].map((text) => depthOf(show(text)));
  });
  for (const levels of depth) assert.ok(levels > 10 && levels < 60, `${levels}`);
});

test('the page had no problem', () => assert.deepEqual([view.problems(), view.requests], [[], []]));

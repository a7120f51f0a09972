import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import spec from 'commonmark-spec';
import { document, random, steps } from '../testing/markdown-fuzz.mjs';
import { openMarkdown } from '../testing/markdown-page.mjs';

/** 10,000 in the long run. */
const DOCUMENTS = Number(process.env.MARKDOWN_DOCUMENTS ?? 1_000);
const SEED = Number(process.env.MARKDOWN_SEED ?? 1);

let view;
before(async () => {
  view = await openMarkdown();
});
after(() => view?.close());

/** Returns the texts whose tree depends on how they arrive. */
const differing = (cases) =>
  view.page.evaluate(
    (cases) =>
      cases.flatMap(({ text, chunkings }) => {
        const whole = treeOf(text);
        return chunkings.some((ends) => treeOf(text, ends) !== whole) ? [text] : [];
      }),
    cases,
  );

const every = (text, width) => Array.from({ length: Math.floor((text.length - 1) / width) }, (_, index) => (index + 1) * width);

test('each example of CommonMark gives the same nodes in any chunking', async () => {
  const next = random(SEED);
  const cases = spec.tests.map(({ markdown }) => {
    const text = markdown.replaceAll('→', '\t');
    return { text, chunkings: [every(text, 1), every(text, 3), steps(text, next)] };
  });
  assert.equal(cases.length, 652);
  assert.deepEqual(await differing(cases), []);
});

test(`${DOCUMENTS} random documents give the same nodes in any chunking`, async () => {
  const next = random(SEED);
  for (let start = 0; start < DOCUMENTS; start += 500) {
    const cases = Array.from({ length: Math.min(500, DOCUMENTS - start) }, () => {
      const text = document(next);
      return { text, chunkings: [steps(text, next)] };
    });
    assert.deepEqual(await differing(cases), []);
  }
});

test('a text that is not a continuation is drawn anew', async () => {
  const [anew, same] = await view.page.evaluate(() => {
    const node = root.appendChild(window.document.createElement('div'));
    const markdown = new MarkdownView(node);
    markdown.set('# one\n\ntwo', true);
    markdown.set('three *four*\n', false);
    markdown.set('three *four*\n\n- five', true);
    return [tree(node), treeOf('three *four*\n\n- five')];
  });
  assert.equal(anew, same);
});

test('the page had no problem', () => {
  assert.deepEqual(view.problems(), []);
});

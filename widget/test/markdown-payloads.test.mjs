import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { payloads } from '../testing/markdown-payloads.mjs';
import { openMarkdown } from '../testing/markdown-page.mjs';

const ELEMENTS = new Set(
  'a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q s small span strong sub sup table tbody td th thead tr u ul'.split(' '),
);
const ATTRIBUTES = new Set(
  'align alt aria-label class decoding dir disabled hidden href loading referrerpolicy rel src start style tabindex target title type'.split(' '),
);

let view;
before(async () => {
  view = await openMarkdown();
});
after(() => view?.close());

test(`${payloads.length} payloads run nothing, request nothing and break no policy`, async () => {
  assert.ok(payloads.length >= 150);
  const found = await view.page.evaluate((payloads) => {
    window.alert = () => (window.isHit = true);
    const nodes = [];
    const links = [];
    payloads.forEach((payload, index) => {
      const node = root.appendChild(document.createElement('div'));
      const markdown = new MarkdownView(node, { imageOrigins: ['https://trusted.example'] });
      // Each beginning of a payload is shown once as well.
      for (let end = 1; end < payload.length; end++) markdown.set(payload.slice(0, end), false);
      markdown.set(payload, true);
      for (const element of node.querySelectorAll('*')) {
        nodes.push([element.localName, element.getAttributeNames()]);
        if (element.localName === 'a') links.push({ index, protocol: element.protocol, rel: element.rel, target: element.target, isOwn: element.origin === location.origin });
        element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        if (element.localName === 'img') links.push({ index, image: element.src });
      }
    });
    return { nodes, links };
  }, payloads);
  for (const [name, attributes] of found.nodes) {
    assert.ok(ELEMENTS.has(name), name);
    for (const attribute of attributes) assert.ok(ATTRIBUTES.has(attribute), `${name} ${attribute}`);
  }
  for (const { index, image, protocol, rel, target, isOwn } of found.links) {
    if (image) {
      assert.ok(image.startsWith(`${view.origin}/`), payloads[index]);
      continue;
    }
    assert.match(protocol, /^(https?|mailto|tel):$/, payloads[index]);
    assert.equal(rel, 'noopener noreferrer');
    assert.equal(target, isOwn || !protocol.startsWith('http') ? '' : '_blank', payloads[index]);
  }
  assert.ok(found.links.some(({ protocol }) => protocol === 'https:'), 'some payloads are harmless links');
  // A click on a link of the page's own origin would navigate; each other link must not run a script.
  await view.page.evaluate(() => {
    document.addEventListener('click', (event) => event.target.closest('a')?.protocol.startsWith('http') && event.preventDefault());
    for (const link of root.querySelectorAll('a')) if (link.protocol !== 'mailto:') link.click();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  await view.page.waitForLoadState('networkidle');
  assert.deepEqual(await view.page.evaluate(() => window.isHit), undefined);
  assert.deepEqual(view.problems(), []);
});

test('an image of an allowed origin is requested, and another one is a link', async () => {
  const seen = await view.page.evaluate(() => {
    const text = '![one](https://trusted.example/a.png) ![two](https://evil.example/a.png) ![](/own.png "three")';
    const node = show(text, [], { imageOrigins: ['https://trusted.example'] });
    return [...node.querySelectorAll('img, a')].map((element) => [element.localName, element.alt ?? element.textContent, element.title]);
  });
  assert.deepEqual(seen, [['img', 'one', ''], ['a', 'two (evil.example)', ''], ['img', '', 'three']]);
});

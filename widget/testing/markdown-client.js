import { MarkdownView } from '../src/markdown/index.ts';
import { hostile } from './markdown-hostile.mjs';

const root = document.querySelector('#root');

/** Shows a text in steps that end at the given positions. */
function show(text, ends = [], options = {}) {
  const node = document.createElement('div');
  root.replaceChildren(node);
  const view = new MarkdownView(node, options);
  for (const end of ends) view.set(text.slice(0, end), false);
  view.set(text, true);
  return node;
}

/** Returns the tree of a node, without what differs between pages of the same meaning. */
function tree(node) {
  if (node.nodeType === Node.COMMENT_NODE) return '';
  if (node.nodeType === Node.TEXT_NODE) return JSON.stringify(node.data);
  const attributes = [...node.attributes].map(({ name, value }) => ` ${name}=${JSON.stringify(value)}`).sort();
  const state = node.localName === 'input' ? ` checked=${node.checked}` : '';
  return `<${node.localName}${attributes.join('')}${state}>${[...node.childNodes].map(tree).join('')}</>`;
}

/** Returns the HTML of CommonMark for what is shown: tight items have no paragraphs, and code has no head. */
function plainHtml(node) {
  const copy = node.cloneNode(true);
  for (const code of copy.querySelectorAll('div.code')) code.replaceWith(code.querySelector('pre'));
  // HTML that is shown as it is written stands for what it would be.
  const written = [...copy.querySelectorAll('.html')];
  for (const table of copy.querySelectorAll('div.table')) table.replaceWith(table.querySelector('table'));
  for (const list of copy.querySelectorAll('ul:not(.loose), ol:not(.loose)'))
    for (const item of list.children)
      for (const paragraph of [...item.children].filter(({ localName }) => localName === 'p'))
        paragraph.replaceWith(...paragraph.childNodes, '\n');
  if (!written.length) return normal(copy);
  written.forEach((node, index) => node.replaceWith(`\u0002${index}\u0003`));
  copy.innerHTML = copy.innerHTML.replace(/\u0002(\d+)\u0003/g, (_, index) => written[index].textContent);
  return normal(copy);
}

const KEPT = { href: (node) => node.href.replaceAll('%5B', '[').replaceAll('%5D', ']'), src: (node) => node.src, title: (node) => node.title, alt: (node) => node.alt, start: (node) => node.start };
const BLOCKS = new Set('blockquote ul ol li p h1 h2 h3 h4 h5 h6 pre hr table thead tbody tr th td div'.split(' '));

function normal(node, isCode = false) {
  if (node.nodeType === Node.COMMENT_NODE) return '';
  if (node.nodeType === Node.TEXT_NODE) return isCode ? node.data : node.data.replace(/\s+/g, ' ');
  let attributes = '';
  for (const [name, read] of Object.entries(KEPT)) if (node.hasAttribute(name)) attributes += ` ${name}=${JSON.stringify(read(node))}`;
  if (/^language-/.test(node.className)) attributes += ` class=${node.className}`;
  if (node.localName === 'input') attributes = ` checked=${node.checked}`;
  if (/^t[hd]$/.test(node.localName)) attributes += ` align=${node.align || node.style.textAlign}`;
  node.normalize();
  let inner = [...node.childNodes].map((child) => normal(child, isCode || node.localName === 'pre')).join('');
  if (BLOCKS.has(node.localName)) inner = node.localName === 'pre' ? inner : inner.replace(/^ | $/g, '');
  const text = `<${node.localName}${attributes}>${inner}</${node.localName}>`;
  return BLOCKS.has(node.localName) ? `\u0001${text}\u0001` : text;
}

function commentsIn(node) {
  const comments = [];
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_COMMENT);
  while (walker.nextNode()) comments.push(walker.currentNode);
  return comments;
}

const withoutGaps = (text) => text.replace(/ ?\u0001 ?/g, '');

Object.assign(window, {
  hostile,
  MarkdownView,
  root,
  show,
  tree,
  treeOf: (text, ends, options) => tree(show(text, ends, options)),
  htmlOf: (text, ends) => withoutGaps(plainHtml(show(text, ends))),
  /** Returns the same for the HTML of a specification. The page has no policy then. */
  htmlFrom: (html) => {
    const node = document.createElement('div');
    // An element that is not closed goes on in the space between blocks, which is nothing here.
    node.innerHTML = html.trim();
    for (const comment of commentsIn(node)) comment.remove();
    return withoutGaps(normal(node));
  },
  ready: true,
});

// Colours for code. The text of the element stays the same.

import { adopt } from '../ui/adopt.js';
import { tokensOf } from './languages.js';

/** Longer code stays as it is. */
const LENGTH_LIMIT = 50_000;
const COLORS = {
  comment: ['#5b6370', '#9aa4b2'],
  string: ['#0a5c36', '#8fd6a5'],
  number: ['#8a3b00', '#f0b072'],
  keyword: ['#8b1a8f', '#d8a4f0'],
  type: ['#7a4a00', '#e6c87a'],
  call: ['#1249a8', '#8fc0ff'],
  property: ['#1249a8', '#8fc0ff'],
};

const RULES = Object.entries(COLORS).map(
  ([name, [light, dark]]) => `.token-${name}{color:var(--omni-code-${name},light-dark(${light},${dark}))}`,
);
const STYLE = `${RULES.join('')}@media(forced-colors:active){[class^=token-]{color:CanvasText}}`;

/** Colours the tokens of an element that contains nothing but code. Code of an unknown language stays as it is. */
export function highlight(code: HTMLElement, language: string): void {
  const expression = tokensOf(language);
  const text = code.textContent;
  if (!expression || text.length > LENGTH_LIMIT || isSelected(code)) return;
  const made = document.createDocumentFragment();
  let end = 0;
  for (const { 0: token, index, groups } of text.matchAll(expression)) {
    const kind = Object.keys(groups!).find((name) => groups![name] !== undefined);
    if (index > end) made.append(text.slice(end, index));
    const span = document.createElement('span');
    span.className = `token-${kind}`;
    span.textContent = token;
    made.append(span);
    end = index + token.length;
  }
  made.append(text.slice(end));
  code.replaceChildren(made);
  adopt(code, STYLE);
}

/** Returns `true` if the user has selected some of the code, since new nodes would lose the selection. */
function isSelected(code: HTMLElement): boolean {
  // Chromium has a selection for each shadow root.
  const root = code.getRootNode() as { getSelection?: () => Selection | null };
  const selection = root.getSelection?.() ?? getSelection();
  return !!selection && !selection.isCollapsed && selection.containsNode(code, true);
}

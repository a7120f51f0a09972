import { sheet } from '../ui/style/index.js';
import type { Styles, Theme } from '../mcp-app/index.js';

/**
 * The properties that the page can set and apps know. They have the names of the protocol after `--omni`. An app of the
 * official SDK refuses a theme with any other name.
 */
const KNOWN = /^var\(--omni(-(?!color-accent|offset)[\w-]+)/;

interface Shown {
  theme: Theme;
  styles: Styles;
}

/** Returns the theme at a node that shows no caret. */
function themeOf(node: HTMLElement): Shown {
  // Its colour is the one that is computed even if the user has colours of their own.
  node.style.caretColor = 'light-dark(#fff, #000)';
  const style = getComputedStyle(node);
  const variables: Styles['variables'] = {};
  const { style: ours } = sheet().cssRules[0] as CSSStyleRule;
  for (const property of ours) {
    const [, name] = KNOWN.exec(ours.getPropertyValue(property)) ?? [];
    if (name) variables[`-${name}`] = style.getPropertyValue(property);
  }
  return { theme: style.caretColor === 'rgb(0, 0, 0)' ? 'dark' : 'light', styles: { variables } };
}

/**
 * Returns the theme at a node, and calls `changed` after each change by an attribute of the chat or of what it is in, or by the
 * scheme of the device. A style sheet that is added to the page is not noticed.
 */
export function watchTheme(node: HTMLElement, changed: (shown: Shown) => void, signal: AbortSignal): Shown {
  let shown = themeOf(node);
  const look = () => {
    const now = themeOf(node);
    if (JSON.stringify(now) !== JSON.stringify(shown)) changed((shown = now));
  };
  const observer = new MutationObserver(look);
  let at: Node | null = (node.getRootNode() as ShadowRoot).host;
  for (; at; at = at.parentNode ?? (at as ShadowRoot).host) observer.observe(at, { attributes: true });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
  return shown;
}

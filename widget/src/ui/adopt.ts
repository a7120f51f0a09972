const made = new Map<string, CSSStyleSheet>();

/** Adds a style sheet to the tree of a node, once. */
export function adopt(node: Node, css: string): void {
  const root = node.getRootNode();
  if (!(root instanceof ShadowRoot || root instanceof Document)) return;
  const sheet = made.get(css) ?? new CSSStyleSheet();
  if (!made.has(css)) sheet.replaceSync(css);
  made.set(css, sheet);
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

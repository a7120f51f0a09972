type Child = Node | string | undefined | null | false;

/** Makes an element. A child is text or a node, never markup. `false` and `undefined` leave an attribute out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

/** Sets the text of a node. A text that is the same stays, with the user's selection in it. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute, or removes it with `undefined`. A value that is the same causes no change of the node. */
export function setAttribute(node: Element, name: string, value: string | undefined): void {
  if (value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Hides a node, or shows it. */
export const setHidden = (node: Element, isHidden: boolean): void => void node.toggleAttribute('hidden', isHidden);

/** Puts values into a text: `{name}`. */
export const filled = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all));

const NEXT = [
  '[part~="approval"]:not([hidden]) input',
  'form[part~="form"] fieldset:enabled :is(input, select, textarea)',
  '[part~="composer"] textarea, textarea[part~="input"]',
];

const rootOf = (node: Node): Document | ShadowRoot => node.getRootNode() as Document | ShadowRoot;

/** Returns `true` if the focus is inside of `node`. */
export const hasFocus = (node: Node): boolean => node.contains(rootOf(node).activeElement);

/** Moves the focus to the next question to the user, or to the field for messages. */
export function focusNext(node: Node): void {
  for (const selector of NEXT) {
    const found = rootOf(node).querySelector<HTMLElement>(selector);
    if (found) return found.focus();
  }
}

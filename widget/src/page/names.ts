// The accessible names and roles of elements, as far as a model needs them.

const NO_TEXT =
  'input, textarea, select, script, style, noscript, template, [contenteditable], [aria-hidden="true"], [data-assistant-ignore]';

/** Returns the text in one line, at most `limit` characters long. */
export const oneLine = (text: string | null | undefined, limit = 80): string => {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
};

/** Returns the text of an element without the contents of its fields. `isShown`: without what is not displayed. */
export function textOf(element: Element, isShown = false): string {
  let text = '';
  for (const node of element.childNodes) {
    if (node instanceof Text) text += node.data;
    else if (node instanceof HTMLImageElement) text += ` ${node.alt} `;
    else if (node instanceof Element && !node.matches(NO_TEXT) && (!isShown || node.checkVisibility({ visibilityProperty: true }))) {
      text += ` ${node.getAttribute('aria-label') ?? textOf(node, isShown)} `;
    }
  }
  return text;
}

/** Returns the text of a label that the page does not keep from the assistant. */
const sayable = (label: Element | null): string =>
  label && !label.matches(NO_TEXT) && !label.closest('[data-assistant-ignore], [contenteditable]') ? textOf(label) : '';

const isField = (element: Element): boolean => element.matches('input, textarea, select, [contenteditable]');

/** Returns the name that a screen reader says. The value of a field is never part of it. */
export function nameOf(element: Element): string {
  const attribute = (name: string): string => element.getAttribute(name) ?? '';
  const labelled = attribute('aria-labelledby')
    .split(/\s+/)
    .map((id) => document.getElementById(id));
  const { labels, type, value } = element as HTMLInputElement;
  const own = /^(?:button|submit|reset)$/.test(type)
    ? textOf(element, true) || value
    : isField(element)
      ? ''
      : textOf(element, true);
  const names = [
    labelled.map((label) => sayable(label)).join(' '),
    attribute('aria-label'),
    [...(labels ?? [])].map(sayable).join(' '),
    own,
    ...['alt', 'title', 'placeholder'].map(attribute),
  ];
  return names.map((name) => oneLine(name)).find(Boolean) ?? '';
}

export function roleOf(element: Element): string {
  const kind = element instanceof HTMLInputElement ? element.type : element.localName;
  return (
    oneLine(element.getAttribute('role'), 20) ||
    (/^(?:button|checkbox|radio)$/.test(kind) && kind) ||
    (/^(?:submit|reset|image|summary)$/.test(kind) && 'button') ||
    (/^h\d$/.test(kind) && 'heading') ||
    (kind === 'a' && 'link') ||
    (kind === 'select' && 'combobox') ||
    (isField(element) ? 'textbox' : 'generic')
  );
}

// Making elements. What goes in as a child is text or an element, never markup.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Unchanged text is left alone: it may be selected. */
export const setText = (node, text) => node.textContent !== text && (node.textContent = text);

let made = 0;
/** An id that nothing else on the page has. */
export const freshId = (prefix) => `${prefix}-${(made += 1)}`;

// Makes elements. A child is text or an element, never markup.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Sets the text of a node. Unchanged text stays as it is, with what is selected in it. */
export const setText = (node, text) => node.textContent !== text && (node.textContent = text);

let made = 0;
/** Returns an id that is unique on the page. */
export const freshId = (prefix) => `${prefix}-${(made += 1)}`;

/** A name in code as a title: `refund_order` becomes "Refund order". */
export function titled(name) {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// References to elements, which stay the same while the element is in the page.

const names = new WeakMap<Element, string>();
const elements = new Map<string, WeakRef<HTMLElement>>();

/** Returns the reference of an element, such as `e12`. */
export function referenceOf(element: HTMLElement): string {
  let name = names.get(element);
  if (!name) {
    name = `e${elements.size + 1}`;
    names.set(element, name);
    elements.set(name, new WeakRef(element));
  }
  return name;
}

export const isReference = (text: string): boolean => elements.has(text);

/** Returns the element of a reference, or throws if it has left the page. */
export function elementOf(name: string): HTMLElement {
  const element = elements.get(name)?.deref();
  if (!element?.isConnected) throw new Error(`${name} is no longer on the page. List the elements again.`);
  return element;
}

// Draws trees of plain descriptions and changes only what differs, so that focus and selection survive each update.

/** A value of an attribute. Functions are listeners; `false`, `null` and `undefined` remove the attribute. */
type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);

/** The attributes of an element. `key` keeps the element when its siblings change their order. */
export type Attributes = { readonly [name: string]: Attribute };

/** The description of an element. It is a class so that no object of the model can pass for one. */
export class Drawn {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly children: readonly Child[];

  constructor(tag: string, attributes: Attributes, children: readonly Child[]) {
    this.tag = tag;
    this.attributes = attributes;
    this.children = children;
  }
}

/** The content of an element. Text is never read as markup. */
export type Child = Drawn | string | number | boolean | null | undefined | readonly Child[];

/** The longest text that is shown in one place. */
const TEXT_LIMIT = 262_144;
const SVG = 'http://www.w3.org/2000/svg';
/** Attributes that are set as properties, since the user changes these properties. */
const LIVE = new Set(['value', 'checked', 'indeterminate']);

const keys = new WeakMap<Node, string>();
const drawn = new WeakMap<Node, Attributes>();
const last = new WeakMap<Node, Child>();

/** Describes an element. */
export function h(tag: string, attributes?: Attributes | null, ...children: Child[]): Drawn {
  return new Drawn(tag, attributes ?? {}, children);
}

/** Makes the children of `parent` match the description. Nodes that match are kept. The same description is not read twice. */
export function draw(parent: Node, children: readonly Child[]): void {
  const old = new Map<string, ChildNode>();
  for (const node of parent.childNodes) old.set(keys.get(node) ?? '', node);
  const nodes: ChildNode[] = [];
  collect(parent, children, '', old, nodes);
  for (const node of old.values()) node.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}

/** Finds or makes the nodes of `children`. An empty position still counts, so that later nodes keep their key. */
function collect(
  parent: Node,
  children: readonly Child[],
  prefix: string,
  old: Map<string, ChildNode>,
  nodes: ChildNode[],
): void {
  children.forEach((child, index) => {
    const place = `${prefix}${index}`;
    if (child === null || child === undefined || typeof child === 'boolean') return;
    if (isList(child)) return collect(parent, child, `${place}.`, old, nodes);
    const text = typeof child !== 'object';
    if (!text && !(child instanceof Drawn)) return;
    const key = text ? `# ${place}` : `${child.tag} ${prefix}${child.attributes.key ?? index}`;
    let node = old.get(key);
    old.delete(key);
    if (!node) {
      node = text ? new Text() : create(parent, child.tag);
      keys.set(node, key);
    }
    if (text) write(node as Text, String(child).slice(0, TEXT_LIMIT));
    else if (last.get(node) !== child) {
      last.set(node, child);
      // A selection needs its options before its value.
      draw(node, child.children);
      dress(node as Element, child.attributes);
    }
    nodes.push(node);
  });
}

/** Returns `true` if there is something to see in `child`. */
export function isFilled(child: Child): boolean {
  if (child === null || child === undefined || typeof child === 'boolean') return false;
  if (typeof child !== 'object') return String(child).trim() !== '';
  if (isList(child)) return child.some(isFilled);
  return ['img', 'svg', 'input', 'progress'].includes(child.tag) || child.children.some(isFilled);
}

/** `Array.isArray` for lists that cannot be changed. */
function isList(child: Child): child is readonly Child[] {
  return Array.isArray(child);
}

function create(parent: Node, tag: string): Element {
  const svg = tag === 'svg' || (parent as Element).namespaceURI === SVG;
  return svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
}

/** Appends the new part, since replacing all the data would drop the user's selection. */
function write(node: Text, text: string): void {
  if (text === node.data) return;
  if (text.startsWith(node.data)) node.appendData(text.slice(node.length));
  else node.data = text;
}

function dress(element: Element, next: Attributes): void {
  const before = drawn.get(element) ?? {};
  drawn.set(element, next);
  for (const name in before) if (!(name in next)) set(element, name, null);
  for (const name in next) if (LIVE.has(name) || next[name] !== before[name]) set(element, name, next[name]);
}

function set(element: Element, name: string, value: Attribute): void {
  if (name === 'key') return;
  if (name.startsWith('on')) return element.addEventListener(name.slice(2), listen);
  // The property of an indeterminate bar is 0.
  if (LIVE.has(name) && element.localName !== 'progress') {
    const live = element as unknown as Record<string, unknown>;
    if (live[name] !== value) live[name] = value ?? '';
    return;
  }
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

/** Calls the listener of the last description. One listener for each element and type serves all updates. */
function listen(this: Element, event: Event): void {
  const listener = drawn.get(this)?.[`on${event.type}`];
  if (typeof listener === 'function') listener(event);
}

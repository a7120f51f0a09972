// The frame that the built-in components share.

import { filled } from '../ui/dom.js';
import type { AnyContext, Component, ComponentContext } from './component.js';
import { type Child, draw, h, isFilled } from './node.js';
import schemas from './schemas.json';
import css from './style.css';

/** The data that one instance keeps on the page. Nothing of it leaves the page. */
export interface Local {
  root: HTMLElement | ShadowRoot;
  /** Draws the instance again. */
  repaint(): void;
  /** Descriptions that were made before, by place. */
  made?: Map<number, { from: readonly unknown[]; child: Child }>;
}

/** Returns the description that was made for a place from the same values, or makes it. */
export function unlessSame(local: Local, place: number, from: readonly unknown[], make: () => Child): Child {
  const made: NonNullable<Local['made']> = (local.made ??= new Map());
  const known = made.get(place);
  if (known && known.from.every((one, index) => one === from[index])) return known.child;
  const child = make();
  made.set(place, { from, child });
  return child;
}

/** Describes a component from its properties and state. The same input gives the same nodes, however it arrived. */
export type Paint<P, S, L> = (context: ComponentContext<P, S>, local: Local & Partial<L>) => Child;

/** A built-in component, which `stack` can also draw inside itself. */
export interface Builtin extends Component {
  readonly name: keyof typeof schemas;
  paint(context: ComponentContext, local: Local): Child;
}

let shared: CSSStyleSheet | undefined;

/** Returns the style sheet of all built-in components and of the fallback. */
export function sheet(): CSSStyleSheet {
  if (!shared) {
    shared = new CSSStyleSheet();
    shared.replaceSync(css);
  }
  return shared;
}

/** Makes a component from its description. */
export function builtin<P, S = unknown, L = unknown>(name: keyof typeof schemas, paint: Paint<P, S, L>): Builtin {
  const component: Builtin & { local?: Local; context?: ComponentContext } = {
    name,
    schema: schemas[name].schema,
    sheet,
    paint: paint as Builtin['paint'],
    render(root, context) {
      this.local = { root, repaint: () => this.context && this.update?.(this.context) };
      this.update?.(context);
    },
    update(context) {
      this.context = context;
      if (!this.local) return;
      const { root } = this.local;
      const focused = (root as ShadowRoot).activeElement;
      const figure = focused?.closest('figure');
      draw(root, [paint(context as ComponentContext<P, S>, this.local as Local & Partial<L>)]);
      // The answer gets the focus of the control that it replaces.
      if (!focused?.isConnected) figure?.querySelector<HTMLElement>('[tabindex]')?.focus();
    },
  };
  return component;
}

/** The most items of an array that are shown. */
export const SHOWN = 1_000;

/** Returns the items that are shown. */
export function shown<T>(items: readonly T[] | null | undefined): readonly T[] {
  return items?.slice(0, SHOWN) ?? [];
}

/** Describes a note on the items that are not shown, if there are any. */
export function more(count: number | undefined, context: AnyContext, limit = SHOWN): Child {
  if (!count || count <= limit) return null;
  return h('p', { part: 'note' }, filled(context.texts.more, { count: (count - limit).toLocaleString(context.locale) }));
}

/** Describes the frame of a component. A note stands for content that is not there yet, or never comes. */
export function frame(
  name: string,
  title: string | null | undefined,
  context: AnyContext,
  ...children: Child[]
): Child {
  const { texts, complete } = context;
  const content = [title ? h('figcaption', { part: 'title' }, title) : null, children];
  const note = () =>
    h('p', { part: complete ? 'note' : 'note loading' }, complete ? texts.empty : filled(texts.loading, { name }));
  return h('figure', { part: `figure ${name}` }, isFilled(content) ? content : [null, null, note()]);
}

import { element } from '../ui/dom.js';
import type { Texts } from '../ui/texts.js';
import { unloaded } from './unloaded.js';

interface Updated<A extends unknown[]> {
  readonly node: HTMLElement;
  update(...shown: A): void;
  remove?(): void;
}

/** Makes a view whose code is loaded by the first update that `needs` them. */
export function later<A extends unknown[]>(
  load: () => Promise<Updated<A>>,
  texts: Texts,
  needs: (...shown: A) => boolean = () => true,
): Updated<A> {
  const node = element('div', { part: 'later' });
  let view: Updated<A> | undefined;
  let loading: Promise<void> | undefined;
  let latest: A;
  let isRemoved = false;
  const open = async () => {
    try {
      const loaded = await load();
      if (isRemoved) return loaded.remove?.();
      view = loaded;
      node.replaceChildren(view.node);
      view.update(...latest);
    } catch {
      node.replaceChildren(unloaded(texts, () => void open()));
    }
  };
  return {
    node,
    update(...shown) {
      latest = shown;
      if (view) view.update(...shown);
      else if (needs(...shown)) loading ??= open();
    },
    remove() {
      isRemoved = true;
      view?.remove?.();
    },
  };
}

import { isComposing } from '../ui/composing.js';

/** Makes the items of a tree reachable by keyboard, as trees of operating systems are. */
export function treeKeys(
  tree: HTMLElement,
  actions: { expand(item: HTMLElement, isExpanded: boolean): void; open(item: HTMLElement): void },
): void {
  let typed = '';
  let since = 0;
  tree.addEventListener('focusin', ({ target }) => {
    if (!isItem(target)) return;
    for (const item of tree.querySelectorAll('[role=treeitem][tabindex="0"]')) item.setAttribute('tabindex', '-1');
    target.setAttribute('tabindex', '0');
  });
  tree.addEventListener('keydown', (event) => {
    const { target: item, key } = event;
    if (!isItem(item)) {
      // Escape leaves the fields of an item.
      if (key === 'Escape' && !isComposing(event)) (item as HTMLElement).closest<HTMLElement>('[role=treeitem]')?.focus();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const items = visible(tree);
    const at = items.indexOf(item);
    const isRtl = getComputedStyle(tree).direction === 'rtl';
    const [inward, outward] = isRtl ? ['ArrowLeft', 'ArrowRight'] : ['ArrowRight', 'ArrowLeft'];
    const expanded = item.getAttribute('aria-expanded');
    let next: HTMLElement | null | undefined;
    if (key === 'ArrowDown') next = items[at + 1];
    else if (key === 'ArrowUp') next = items[at - 1];
    else if (key === 'Home') next = items[0];
    else if (key === 'End') next = items.at(-1);
    else if (key === inward && expanded === 'true') next = items[at + 1];
    else if (key === inward && expanded === 'false') actions.expand(item, true);
    else if (key === outward && expanded === 'true') actions.expand(item, false);
    else if (key === outward) next = item.parentElement?.closest<HTMLElement>('[role=treeitem]');
    else if (key === 'Enter' || key === ' ') actions.open(item);
    else if (key.length === 1) {
      typed = event.timeStamp - since < 500 ? typed + key : key;
      since = event.timeStamp;
      // The same letter again goes to the next item, and a longer text may stay.
      const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      if (typed.length > 1) order.unshift(item);
      next = order.find((one) => titleOf(one).toLowerCase().startsWith(typed.toLowerCase()));
    } else return;
    event.preventDefault();
    next?.focus();
  });
}

const isItem = (target: EventTarget | null): target is HTMLElement => 
  (target as Element | null)?.getAttribute('role') === 'treeitem';

const visible = (tree: HTMLElement): HTMLElement[] =>
  [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')].filter(
    (item) => !item.parentElement?.closest('[aria-expanded=false]'),
  );

const titleOf = (item: HTMLElement): string => item.querySelector('[part=title]')?.textContent?.trim() ?? '';

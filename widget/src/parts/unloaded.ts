import { isOutdated } from '../chat/base.js';
import { button } from '../ui/button.js';
import { element } from '../ui/dom.js';
import type { Texts } from '../ui/texts.js';

/** Makes the node in the place of a view whose code cannot be loaded: the reason, and a button that helps. */
export function unloaded(texts: Texts, again: () => void): HTMLElement {
  const node = element('p', { part: 'error' }, texts.loadFailed);
  void isOutdated().then((isOld) => {
    if (isOld) node.textContent = texts.outdated;
    node.append(' ', isOld ? button(texts.reload, 'quiet', () => location.reload()) : button(texts.retry, 'quiet', again));
  });
  return node;
}

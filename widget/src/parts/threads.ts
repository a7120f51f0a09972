import { element } from '../ui/dom.js';
import type { View, ViewContext } from '../ui/view.js';
import { unloaded } from './unloaded.js';

type ThreadList = View & { load(): Promise<void> };

/**
 * The list of the stored chats. Its code is loaded by the first `load`; each `load` asks the server for the chats. The node
 * fires `thread-open` when the user opens a chat.
 */
export function threadList(context: ViewContext): ThreadList {
  const { texts } = context;
  const node = element('div', { part: 'threads', role: 'region', 'aria-label': texts.threads });
  let list: ThreadList | undefined;
  async function load(): Promise<void> {
    try {
      const { listIn } = await import('./rare.js');
      list ??= listIn(node, context);
    } catch {
      return node.replaceChildren(unloaded(texts, () => void load()));
    }
    await list.load();
  }
  return { node, load, update: () => list?.update(), remove: () => list?.remove?.() };
}

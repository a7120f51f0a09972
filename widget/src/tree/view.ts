import { element } from '../ui/dom.js';
import { treeKeys } from './keyboard.js';
import { NodeView, type TreeActions } from './node-view.js';
import type { AgentNode, AgentTree } from './state.js';
import type { TreeContext } from './texts.js';

/** The tree of agents. Only the nodes that have changed are updated. */
export class TreeView {
  readonly node: HTMLUListElement;
  readonly #tree: AgentTree;
  readonly #context: TreeContext;
  readonly #actions: TreeActions;
  readonly #views = new Map<string, NodeView>();

  constructor(tree: AgentTree, context: TreeContext, actions: TreeActions) {
    this.#tree = tree;
    this.#context = context;
    // The error of an action is shown until the next one.
    const forgetError = () => void (tree.error = '');
    this.#actions = {
      ...actions,
      answer: (...reply) => (forgetError(), actions.answer(...reply)),
      intervene: (...change) => (forgetError(), actions.intervene(...change)),
    };
    this.node = element('ul', { role: 'tree', part: 'tree', 'aria-label': context.texts.agents, hidden: true });
    const agentOf = (item: HTMLElement) => tree.get(item.dataset.id ?? '');
    this.node.addEventListener('focusin', ({ target }) => {
      const agent = agentOf(target as HTMLElement);
      if (agent && !agent.isSelected) actions.select(agent);
    });
    treeKeys(this.node, {
      expand(item, isExpanded) {
        const agent = agentOf(item);
        if (agent) actions.expand(agent, isExpanded);
      },
      open: (item) => {
        const agent = agentOf(item);
        if (!agent || this.#views.get(agent.id)?.focusQuestion()) return;
        if (agent.children) actions.expand(agent, !agent.isExpanded);
      },
    });
  }

  update(): void {
    for (const [id, { item }] of this.#views) {
      if (this.#tree.get(id)) continue;
      item.remove();
      this.#views.delete(id);
    }
    for (const agent of this.#tree.changed) {
      try {
        this.#view(agent).update();
      } catch (error) {
        reportError(error);
      }
    }
    this.#tree.changed.clear();
    this.node.hidden = this.#views.size === 0;
  }

  /** Lets the user answer the open questions again. */
  enable(): void {
    for (const view of this.#views.values()) view.enable();
  }

  #view(agent: AgentNode): NodeView {
    const known = this.#views.get(agent.id);
    if (known) return known;
    const view = new NodeView(agent, this.#context, this.#actions);
    const parent = agent.parentId === undefined ? undefined : this.#tree.get(agent.parentId);
    if (!this.#views.size) view.item.tabIndex = 0;
    this.#views.set(agent.id, view);
    (parent ? this.#view(parent).group : this.node).append(view.item);
    return view;
  }
}

import { type AgentState, type AgentStatus, isEnd, type Query, type ServerFrame } from './frames.js';

/** An agent of the tree. */
export interface AgentNode {
  /** The `agentId`. */
  id: string;
  title: string;
  status: AgentStatus;
  parentId?: string;
  content?: string;
  /** The oldest open question that is answered with a text. */
  userPrompt?: string;
  isFinalAnswer?: boolean;
  isSelected: boolean;
  isExpanded?: boolean;
  children?: AgentNode[];
  /** The open questions. */
  queries: Query[];
  /** The last remark of the user. */
  userComment?: string;
  /** The name of the agent, its depth and its step. */
  metadata: Record<string, unknown>;
}

/** The agents that a connection has reported. */
export class AgentTree {
  /** The root. */
  readonly nodes: AgentNode[] = [];
  /** The nodes that have changed since the view was updated. */
  readonly changed = new Set<AgentNode>();
  /** The last error, as a sentence for the user. */
  error = '';
  /** `true` if the agents ended because their connection did. */
  isInterrupted = false;
  readonly #byId = new Map<string, AgentNode>();
  /** The root of the last tree, whose late frames are not shown, while the next one has not begun. */
  #last: { id: string | undefined } | undefined;

  get(id: string): AgentNode | undefined {
    return this.#byId.get(id);
  }

  /** Removes all nodes. Frames of their agents are ignored. */
  clear(): void {
    const id = this.nodes[0]?.id;
    this.forget();
    this.#last = { id };
  }

  /** Removes all nodes, which another connection may report again. */
  forget(): void {
    this.#last = undefined;
    this.#remove();
    this.error = '';
  }

  receive(frame: ServerFrame): void {
    if (frame.type === 'error') {
      this.error = frame.error;
      return;
    }
    if (this.#last) {
      const begins =
        frame.type === 'agent-state' && frame.state.parentId === null && frame.agentId !== this.#last.id;
      if (!begins) return;
      this.#last = undefined;
    }
    switch (frame.type) {
      case 'agent-state':
        return this.updateAgentNode(frame.state);
      case 'text-delta':
        return this.appendTextToAgent(frame.agentId, frame.delta);
      case 'user-query':
        return this.#ask(frame.agentId, frame);
      case 'agent-completed':
        return this.#complete(frame.agentId, frame.result);
      case 'agent-tree':
        return this.#endOthers(new Set(frame.agentIds));
    }
  }

  /** Creates or updates the node of an agent. */
  updateAgentNode(state: AgentState): void {
    const { agentId: id, parentId, status, userContent: title, userComment, metadata, result } = state;
    let node = this.#byId.get(id);
    if (!node) {
      if (parentId === null) this.#remove();
      node = { id, title, status, isSelected: false, queries: [], metadata };
      if (parentId !== null) node.parentId = parentId;
      this.#add(node);
    }
    const asked = status === 'waiting-for-user' ? node.queries.filter(({ call }) => !call) : [];
    Object.assign(node, { title, status, metadata, queries: [...asked, ...(state.queries ?? [])] });
    node.userPrompt = asked[0]?.prompt;
    node.userComment = textOf(userComment);
    if (isEnd(status) && result !== null) node.content = result;
    else node.content ||= textOf(state.messages.filter(({ role }) => role === 'assistant').at(-1)?.content);
    if (parentId === null && status === 'completed') node.isFinalAnswer = true;
    this.changed.add(node);
  }

  appendTextToAgent(id: string, delta: string): void {
    const node = this.#byId.get(id);
    if (!node) return;
    node.content = (node.content ?? '') + delta;
    this.changed.add(node);
  }

  /** Selects a node. */
  select(id: string): void {
    for (const node of this.#byId.values()) {
      if (node.isSelected === (node.id === id)) continue;
      node.isSelected = !node.isSelected;
      this.changed.add(node);
    }
  }

  /** Shows or hides the agents below a node. */
  expand(node: AgentNode, isExpanded: boolean): void {
    node.isExpanded = isExpanded;
    this.changed.add(node);
  }

  #add(node: AgentNode): void {
    this.#byId.set(node.id, node);
    const parent = node.parentId === undefined ? undefined : this.#byId.get(node.parentId);
    if (!parent) {
      this.nodes.push(node);
      return;
    }
    parent.isExpanded ??= true;
    (parent.children ??= []).push(node);
    this.changed.add(parent);
  }

  #remove(): void {
    this.nodes.length = 0;
    this.#byId.clear();
    this.changed.clear();
    this.isInterrupted = false;
  }

  #ask(id: string, { queryId, prompt, call }: Query): void {
    const node = this.#byId.get(id);
    if (!node || (queryId && node.queries.some((query) => query.queryId === queryId))) return;
    node.queries = [...node.queries, { queryId, prompt, call }];
    if (!call) node.userPrompt ??= prompt;
    this.changed.add(node);
  }

  #complete(id: string | undefined, result: string | undefined): void {
    const root = id === undefined ? this.nodes[0] : this.#byId.get(id);
    if (!root) return;
    root.isFinalAnswer = true;
    if (result !== undefined) root.content = result;
    this.changed.add(root);
  }

  /** Ends the agents that the server does not know: they ended with an earlier connection. */
  #endOthers(ids: ReadonlySet<string>): void {
    for (const node of this.#byId.values()) {
      if (ids.has(node.id) || isEnd(node.status)) continue;
      Object.assign(node, { status: 'cancelled', queries: [], userPrompt: undefined });
      this.isInterrupted = true;
      this.changed.add(node);
    }
  }
}

/** Returns the text of a remark, or of the content of a message. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part) => textOf(part) ?? '').join('');
  const text = (content as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : undefined;
}

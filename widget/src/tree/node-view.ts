import { MarkdownView } from '../markdown/index.js';
import { freshId } from '../parts/kinds.js';
import { unloaded } from '../parts/unloaded.js';
import { element, filled, setAttribute, setText } from '../ui/dom.js';
import { controls } from './controls.js';
import { type CallAnswer, type Intervention, isEnd, type Query } from './frames.js';
import { type QuestionView, questionView } from './question.js';
import type { AgentNode } from './state.js';
import type { TreeContext } from './texts.js';

/** The effects of the user's actions. */
export interface TreeActions {
  select(node: AgentNode): void;
  expand(node: AgentNode, isExpanded: boolean): void;
  answer(node: AgentNode, query: Query, reply: string | CallAnswer): void;
  /** Returns `false` if the change was not sent. */
  intervene(node: AgentNode, change: Intervention): boolean;
}

/** The item of an agent. Its nodes stay the same ones while the agent changes. */
export class NodeView {
  readonly item: HTMLLIElement;
  /** The list of the agents below. */
  readonly group = element('ul', { role: 'group' });
  readonly #agent: AgentNode;
  readonly #context: TreeContext;
  readonly #actions: TreeActions;
  readonly #title: HTMLElement;
  readonly #status: HTMLElement;
  readonly #toggle = element('span', { class: 'toggle', 'aria-hidden': 'true' });
  readonly #badge = element('span', { part: 'final' });
  readonly #remark = element('p', { class: 'remark', dir: 'auto', hidden: true });
  readonly #content: HTMLElement;
  readonly #text: MarkdownView;
  readonly #card: HTMLElement;
  readonly #questions = new Map<string, QuestionView>();
  /** The questions whose form is there or is loaded. */
  readonly #asked = new Set<string>();
  #controls: HTMLElement | undefined;

  constructor(agent: AgentNode, context: TreeContext, actions: TreeActions) {
    this.#agent = agent;
    this.#context = context;
    this.#actions = actions;
    const [titleId, statusId] = [freshId(), freshId()];
    this.#title = element('span', { part: 'title', dir: 'auto', id: titleId });
    this.#status = element('span', { part: 'status', id: statusId });
    this.#content = element('div', { part: 'content text', dir: 'auto', hidden: true });
    this.#text = new MarkdownView(this.#content, { texts: context.shared });
    const head = element('div', { class: 'head' }, this.#toggle, this.#title, this.#status);
    setText(this.#badge, context.texts.finalAnswer);
    this.#card = element('div', { part: 'node' }, head, this.#remark, this.#content);
    this.item = element(
      'li',
      // Without it, an item is named by all its text, with that of the agents below.
      { role: 'treeitem', tabindex: '-1', 'data-id': agent.id, 'aria-labelledby': `${titleId} ${statusId}` },
      this.#card,
      this.group,
    );
    this.#toggle.addEventListener('click', () => actions.expand(agent, !agent.isExpanded));
    this.#card.addEventListener('click', () => actions.select(agent));
  }

  update(): void {
    const { title, status, children, isSelected, isExpanded, isFinalAnswer, userComment } = this.#agent;
    const { item } = this;
    setText(this.#title, title);
    setText(this.#status, this.#context.texts[status] ?? status);
    setAttribute(item, 'data-status', status);
    setAttribute(item, 'aria-selected', String(isSelected));
    item.toggleAttribute('data-final', !!isFinalAnswer);
    if (!isFinalAnswer) this.#badge.remove();
    else if (!this.#badge.isConnected) this.#status.after(this.#badge);
    if (children) setAttribute(item, 'aria-expanded', String(!!isExpanded));
    this.#remark.hidden = !userComment;
    if (userComment) setText(this.#remark, filled(this.#context.texts.yourRemark, { text: userComment }));
    this.#write();
    this.#ask();
    this.#control();
  }

  /** Lets the user answer again. */
  enable(): void {
    for (const question of this.#questions.values()) question.enable();
  }

  /** Moves the focus to the first field of a question. Returns `false` without a question. */
  focusQuestion(): boolean {
    const field = this.#card.querySelector<HTMLElement>(':is([part=approval], [part=form]) :is(input, textarea, select, button)');
    field?.focus();
    return !!field;
  }

  #write(): void {
    const { content = '', status } = this.#agent;
    this.#text.set(content, isEnd(status));
    this.#content.hidden = content === '';
  }

  #ask(): void {
    const { queries } = this.#agent;
    const open = new Set(queries.map(key));
    for (const [id, { node, isUnsent }] of this.#questions) {
      if (open.has(id)) continue;
      if (node.matches(':focus-within')) this.item.focus();
      if (isUnsent) node.before(this.#entries(node));
      node.remove();
      this.#questions.delete(id);
    }
    for (const id of this.#asked) if (!open.has(id)) this.#asked.delete(id);
    for (const query of queries) if (!this.#asked.has(key(query))) this.#open(query);
  }

  /** Makes a note of what the user has entered in a question that is over. It can be copied. */
  #entries(node: HTMLElement): HTMLElement {
    const fields = node.querySelectorAll<HTMLInputElement>('textarea, input:not([type=checkbox])');
    const texts = Array.from(fields, ({ value }) => value).filter(Boolean);
    return element('p', { class: 'remark', dir: 'auto' }, `${this.#context.shared.toolUnanswered}: ${texts.join('\n')}`);
  }

  /** Adds the form of a question, or a notice if its code cannot be loaded. */
  #open(query: Query): void {
    this.#asked.add(key(query));
    this.#load(query).catch(() => {
      const notice = unloaded(this.#context.shared, () => {
        notice.remove();
        this.#open(query);
      });
      this.#card.append(notice);
    });
  }

  async #load(query: Query): Promise<void> {
    const question = await questionView(query, this.#context, (reply) => {
      this.item.focus();
      question.isUnsent = false;
      this.#actions.answer(this.#agent, query, reply);
    });
    question.node.addEventListener('input', () => (question.isUnsent = true));
    const isOpen = this.#agent.queries.some((one) => key(one) === key(query));
    if (!isOpen || this.#questions.has(key(query))) return;
    this.#questions.set(key(query), question);
    this.#card.append(question.node);
  }

  /** Shows the controls of a selected agent that has not ended. */
  #control(): void {
    const { isSelected, status } = this.#agent;
    if (!isSelected || isEnd(status)) {
      if (this.#controls?.matches(':focus-within')) this.item.focus();
      this.#controls?.remove();
      this.#controls = undefined;
      return;
    }
    if (!this.#controls) {
      this.#controls = controls(this.#agent, this.#context, (change) => this.#actions.intervene(this.#agent, change));
      this.#card.append(this.#controls);
    }
    const pause = this.#controls.querySelector<HTMLButtonElement>('[part~=pause]');
    if (pause) setText(pause, status === 'paused' ? this.#context.texts.resume : this.#context.texts.pause);
  }
}

const key = ({ queryId, prompt }: Query): string => queryId ?? prompt;

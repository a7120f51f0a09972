import { ownBase } from '../chat/base.js';
import { directionOf, localeOf, textsFor, translationFor } from '../i18n/index.js';
import { named } from '../i18n/named.js';
import { adopt } from '../ui/adopt.js';
import { element, filled, setText } from '../ui/dom.js';
import { early } from '../ui/early.js';
import { sheet } from '../ui/style/index.js';
import { submitByEnter } from './controls.js';
import { type CallAnswer, type Intervention, isEnd, type ServerFrame } from './frames.js';
import { AgentSocket } from './socket.js';
import { type AgentNode, AgentTree } from './state.js';
import css from './style.css';
import { ENGLISH, type Texts, type TreeContext } from './texts.js';
import { TreeView } from './view.js';

/** The longest part of an answer that is read out. */
const SPOKEN = 300;

/**
 * `<omniassist-agents>`: a task for the agents, and the tree of the agents that work on it. The attributes are `api`, `agent`,
 * `chat`, `locale`, `theme` (`light`, `dark`) and `prompt`, the task that is there at the beginning.
 */
export class AgentsElement extends HTMLElement {
  static readonly observedAttributes = ['api', 'agent', 'chat'];

  /** Returns the token of the user. Default: none, as cookies are sent. Read when the element is defined and in the page. */
  token: (() => string | Promise<string>) | undefined = early(this, 'token');
  /** Replaces texts. Default: none. Read when the element is defined and in the page. */
  texts: Partial<Texts> = early(this, 'texts') ?? {};

  readonly #tree = new AgentTree();
  #socket: AgentSocket | undefined;
  #shown: Shown | undefined;
  #frame = 0;
  /** `true` if the last action of the user was not sent. */
  #isUnsent = false;
  /** The questions and the ends that were read out. */
  #spoken = new Set<string>();

  /** The agents: the root, with those below it in `children`. */
  get nodes(): readonly AgentNode[] {
    return this.#tree.nodes;
  }

  /** The connection. */
  get ws(): WebSocket | undefined {
    return this.#socket?.ws;
  }

  /** `true` while the server is connected. (`isConnected` of an element tells that it is in the page.) */
  get isOnline(): boolean {
    return !!this.#socket?.isConnected;
  }

  connectedCallback(): void {
    if (!this.#socket) this.#connect();
    void this.#show();
  }

  disconnectedCallback(): void {
    // An element that is only moved in the page is connected again by then.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#socket?.close();
      this.#socket = undefined;
    });
  }

  attributeChangedCallback(_name: string, before: string | null, value: string | null): void {
    if (!this.#socket || before === value) return;
    this.#tree.forget();
    this.#spoken.clear();
    this.#connect();
  }

  /** Starts agents for a task. The agents that are there are removed. Returns `false` if there is no connection. */
  handleMasterSubmit(prompt: string): boolean {
    if (!prompt.trim() || !this.#socket?.send({ type: 'start-agent', prompt })) return false;
    this.#tree.clear();
    this.#spoken.clear();
    this.#request();
    return true;
  }

  /** Answers the oldest question of an agent that is answered with a text. */
  handleUserResponse(agentId: string, response: string): boolean {
    return !!this.#socket?.send({ type: 'user-response', agentId, response });
  }

  /** Answers a question about a call. */
  handleCallResponse(agentId: string, queryId: string, answer: CallAnswer): boolean {
    return !!this.#socket?.send({ type: 'call-response', agentId, queryId, ...answer });
  }

  /** Changes the work of an agent. */
  intervene(agentId: string, change: Intervention): boolean {
    return !!this.#socket?.send({ type: 'user-intervention', agentId, ...change });
  }

  /** Takes a frame of the server. */
  receive(frame: ServerFrame): void {
    this.#tree.receive(frame);
    if (frame.type === 'error') {
      this.#shown?.view.enable();
      this.#fire('omni-error', { message: frame.error, code: frame.code });
    } else if (frame.type === 'agent-tree') {
      // Answers that were sent with an earlier connection may be lost.
      this.#shown?.view.enable();
    } else if (frame.type === 'agent-completed') {
      this.#fire('omni-agents-completed', { result: frame.result ?? this.nodes[0]?.content });
    }
    this.#request();
  }

  #connect(): void {
    this.#socket?.close();
    const attribute = (name: string) => this.getAttribute(name) ?? undefined;
    this.#socket = new AgentSocket({
      api: attribute('api') ?? ownBase(),
      agent: attribute('agent'),
      chat: attribute('chat'),
      token: this.token,
      onFrame: (frame) => this.receive(frame),
      onConnection: () => this.#request(),
    });
    this.#request();
  }

  /** Makes the view, once the texts of the language are loaded. */
  async #show(): Promise<void> {
    if (this.#shown) return this.#request();
    const locale = localeOf(this);
    const { agents } = await translationFor(locale);
    const context = { texts: { ...named(ENGLISH, agents), ...this.texts }, shared: await textsFor(locale), locale };
    if (this.hasAttribute('locale') && !this.hasAttribute('dir')) this.dir = directionOf(locale);
    this.#shown ??= this.#make(context);
    this.#request();
  }

  #make(context: TreeContext): Shown {
    const { texts } = context;
    /** Keeps the result of an action of the user, which is shown. */
    const note = (isSent: boolean): boolean => {
      this.#isUnsent = !isSent;
      this.#request();
      return isSent;
    };
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet()];
    adopt(root, css);
    // The next key of the user needs the tree of the last one, so these do not wait for a frame.
    const view = new TreeView(this.#tree, context, {
      select: (node) => {
        this.#tree.select(node.id);
        this.#update();
      },
      expand: (node, isExpanded) => {
        this.#tree.expand(node, isExpanded);
        this.#update();
      },
      answer: ({ id }, { queryId, call }, reply) => {
        const isSent =
          typeof reply === 'string'
            ? this.handleUserResponse(id, reply)
            : !!call && this.handleCallResponse(id, queryId ?? '', reply);
        if (!note(isSent)) view.enable();
      },
      intervene: ({ id }, change) => note(this.intervene(id, change)),
    });
    const connection = element('span', { part: 'connection', role: 'status' });
    const prompt = element('textarea', { part: 'input', id: 'prompt', rows: '2', required: true, dir: 'auto' });
    prompt.value = this.getAttribute('prompt') ?? '';
    const start = element('button', { part: 'button primary' }, texts.start);
    const problem = element('p', { part: 'error', role: 'alert' });
    const status = element('p', { part: 'hidden', role: 'status' });
    const label = element('label', { for: 'prompt' }, texts.prompt);
    const head = element('div', { class: 'head' }, label, connection);
    const master = element('form', { part: 'master' }, head, prompt, start);
    master.addEventListener('submit', (event) => {
      event.preventDefault();
      note(!prompt.value.trim() || this.handleMasterSubmit(prompt.value));
    });
    submitByEnter(prompt, master);
    root.append(master, problem, view.node, status);
    return { texts, offline: context.shared.errorOffline, view, connection, start, problem, status };
  }

  /** Updates the view in the next frame. */
  #request(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#update();
    });
  }

  #update(): void {
    if (!this.#shown) return;
    const { texts, offline, view, connection, start, problem } = this.#shown;
    const isOnline = this.isOnline;
    if (isOnline) this.#isUnsent = false;
    connection.toggleAttribute('data-connected', isOnline);
    setText(connection, isOnline ? texts.connected : texts.notConnected);
    start.disabled = !isOnline;
    const reason = this.#isUnsent ? offline : this.#tree.error;
    setText(problem, reason || (this.#tree.isInterrupted ? texts.interrupted : ''));
    this.#speak(this.#tree.changed, this.#shown);
    view.update();
  }

  /** Announces questions and the end of the root, each of them once. */
  #speak(changed: Iterable<AgentNode>, { texts, status: place }: Shown): void {
    const sentences: string[] = [];
    const say = (key: string, sentence: string) => {
      if (!this.#spoken.has(key)) sentences.push(sentence);
      this.#spoken.add(key);
    };
    for (const { id, parentId, status, title, queries, isFinalAnswer, content } of changed) {
      for (const { queryId, prompt } of queries) {
        say(`${id}/${queryId ?? prompt}`, filled(texts.asks, { title, prompt }));
      }
      if (isFinalAnswer) say(id, `${texts.finalAnswer}: ${(content ?? '').slice(0, SPOKEN)}`);
      else if (parentId === undefined && isEnd(status)) say(id, `${title}: ${texts[status]}`);
    }
    if (sentences.length) setText(place, sentences.join(' '));
  }

  #fire(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
  }
}

interface Shown {
  texts: Texts;
  /** The text for an action that was not sent. */
  offline: string;
  view: TreeView;
  connection: HTMLElement;
  start: HTMLButtonElement;
  problem: HTMLElement;
  status: HTMLElement;
}

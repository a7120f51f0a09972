// Shows an MCP app: a document of a server of tools, for one call. The document has no origin and reaches nothing of the page.
// Its requests pass this host. Questions to the user, messages and the context of the model are callbacks of the page.

import { isObject } from '../object.js';
import { AppFault, channel, type Receiver } from './channel.js';
import { appServer, documentUrl, type AppSource, type Approval } from './server.js';

/** The versions of the protocol, the latest one first. */
const VERSIONS = ['2026-01-26', '2025-11-21'];

/** The height of a frame until its document gives one, and the most that it gets, in CSS pixels. */
const HEIGHT = { first: 240, most: 800 };

/** The time in which an app ends its work. */
const TEARDOWN_MS = 1_000;

/** The longest context and message of an app, in characters. */
const MAX_TEXT = 16_384;

/** The questions to the user that wait. */
const MAX_QUESTIONS = 4;

const invalid = () => new AppFault(-32602, 'Invalid params');

/** A question to the user, whose answer decides. */
export type Question =
  | { kind: 'open-link'; url: string }
  | { kind: 'message'; text: string }
  | { kind: 'tool-call'; approval: Approval };

export interface Hooks {
  /** Asks the user. The page names the server of the app: the text is that of another party. */
  ask(question: Question): Promise<boolean>;
  /** Sends a message of the user in the chat, which the user has accepted. */
  sendMessage(text: string): Promise<void>;
  /** Keeps what the model should read with the next message of the user. It replaces what the same app gave before. */
  updateContext(context: { content?: unknown[]; structuredContent?: Record<string, unknown> }): void;
  /** Sends requests to the assistant. */
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export type Theme = 'light' | 'dark';

/** The properties of a theme by their names in the protocol, such as `--color-text-primary`. */
export interface Styles {
  variables: Record<string, string>;
}

export interface AppOptions extends AppSource {
  /** The name of the frame for people who do not see it. */
  title: string;
  chatId: string;
  theme: Theme;
  styles: Styles;
  locale: string;
  /** The name of the tool at its server, and of the call. */
  tool: { name: string; callId: string };
  hooks: Hooks;
}

/** An app on the page. */
export class McpApp {
  readonly #frame = document.createElement('iframe');
  readonly #options: AppOptions;
  readonly #channel: ReturnType<typeof channel>;
  readonly #server: ReturnType<typeof appServer>;
  readonly #ended = new AbortController();
  /** The notifications for an app that is not ready. */
  #waiting: Map<string, object> | undefined = new Map();
  #questions = 0;
  #asked: Promise<unknown> = Promise.resolve();

  /** Adds the frame to an element. Throws a `TypeError` for an address that is not that of a document. */
  constructor(root: Element, options: AppOptions) {
    const url = documentUrl(options);
    if (url === undefined) throw new TypeError('the address of an app begins with ui://');
    this.#options = options;
    const signal = this.#ended.signal;
    this.#server = appServer(options, options.chatId, options.hooks.fetch, signal);
    const frame = this.#frame;
    frame.title = options.title;
    frame.setAttribute('sandbox', 'allow-scripts allow-forms');
    frame.referrerPolicy = 'no-referrer';
    frame.style.cssText = `display: block; width: 100%; height: ${HEIGHT.first}px; border: 0`;
    const receiver: Receiver = {
      request: (method, params) => this.#answer(method, params),
      notification: (method, params) => this.#notified(method, params),
    };
    this.#channel = channel(frame, receiver, signal);
    let loads = 0;
    // A second document is not that of the server, and its messages would pass for those of the first one.
    frame.addEventListener('load', () => (loads += 1) > 1 && this.#remove(), { signal });
    frame.src = url;
    root.append(frame);
  }

  /** Sends a notification to the app. One that is not ready gets the last notification of each name. */
  notify(name: 'tool-input' | 'tool-result' | 'tool-cancelled' | 'host-context-changed', params: object): void {
    const method = `ui/notifications/${name}`;
    if (this.#ended.signal.aborted) return;
    if (this.#waiting) this.#waiting.set(method, params);
    else this.#channel.notify(method, params);
  }

  /** Sends another theme to the app. */
  setTheme(shown: { theme: Theme; styles: Styles }): void {
    Object.assign(this.#options, shown);
    this.notify('host-context-changed', shown);
  }

  /** Removes the app. An app that is ready has a second to end its work. */
  async close(): Promise<void> {
    if (this.#waiting === undefined && !this.#ended.signal.aborted) {
      await this.#channel.ask('ui/resource-teardown', {}, TEARDOWN_MS);
    }
    this.#remove();
  }

  #remove(): void {
    this.#ended.abort();
    this.#frame.remove();
  }

  #notified(method: string, params: Record<string, unknown>): void {
    if (method === 'ui/notifications/initialized') {
      this.#waiting?.forEach((params, method) => this.#channel.notify(method, params));
      this.#waiting = undefined;
    } else if (method === 'ui/notifications/size-changed') {
      const height = params['height'];
      if (typeof height === 'number' && Number.isFinite(height)) {
        this.#frame.style.height = `${Math.min(Math.max(Math.ceil(height), 0), HEIGHT.most)}px`;
      }
    } else if (method === 'ui/notifications/request-teardown') {
      void this.close();
    }
  }

  async #answer(method: string, params: Record<string, unknown>): Promise<unknown> {
    switch (method) {
      case 'ui/initialize':
        return this.#initialize(params);
      case 'ping':
        return {};
      case 'tools/call': {
        if (typeof params['name'] !== 'string') throw invalid();
        const args = isObject(params['arguments']) ? params['arguments'] : {};
        return this.#server.call(params['name'], args, (approval) => this.#ask({ kind: 'tool-call', approval }));
      }
      case 'resources/read':
        if (typeof params['uri'] !== 'string') throw invalid();
        return this.#server.read(params['uri']);
      case 'ui/open-link':
        return this.#openLink(params['url']);
      case 'ui/message':
        return this.#message(params['content']);
      case 'ui/update-model-context':
        return this.#updateContext(params);
      case 'ui/request-display-mode':
        return { mode: 'inline' };
      default:
        throw new AppFault(-32601, 'Method not found');
    }
  }

  #initialize(params: Record<string, unknown>) {
    const wanted = params['protocolVersion'];
    const { locale, theme, styles, tool } = this.#options;
    return {
      protocolVersion: VERSIONS.find((version) => version === wanted) ?? VERSIONS[0],
      hostInfo: { name: 'omniassist', version: '1' },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        message: { text: {} },
        updateModelContext: { text: {}, structuredContent: {} },
      },
      hostContext: {
        toolInfo: { id: tool.callId, tool: { name: tool.name, inputSchema: { type: 'object' } } },
        theme,
        styles,
        locale,
        displayMode: 'inline',
        availableDisplayModes: ['inline'],
        containerDimensions: { width: this.#frame.clientWidth, maxHeight: HEIGHT.most },
        platform: 'web',
      },
    };
  }

  async #openLink(given: unknown): Promise<unknown> {
    const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return { isError: true };
    if (!(await this.#ask({ kind: 'open-link', url: url.href }))) return { isError: true };
    window.open(url.href, '_blank', 'noopener,noreferrer');
    return {};
  }

  async #message(content: unknown): Promise<unknown> {
    const blocks = Array.isArray(content) ? content : [content];
    const texts = blocks.filter((block) => isObject(block) && block['type'] === 'text').map((block) => block['text']);
    const text = texts.filter((text) => typeof text === 'string').join('\n');
    if (text === '' || text.length > MAX_TEXT) return { isError: true };
    if (!(await this.#ask({ kind: 'message', text }))) return { isError: true };
    await this.#options.hooks.sendMessage(text);
    return {};
  }

  #updateContext(params: Record<string, unknown>): unknown {
    const { content, structuredContent } = params;
    const context = {
      ...(Array.isArray(content) && { content }),
      ...(isObject(structuredContent) && { structuredContent }),
    };
    if (JSON.stringify(context).length > MAX_TEXT) throw invalid();
    this.#options.hooks.updateContext(context);
    return {};
  }

  /** Asks the user, one question at a time. What an app asks beyond that counts as refused. */
  async #ask(question: Question): Promise<boolean> {
    if (this.#questions >= MAX_QUESTIONS) return false;
    this.#questions += 1;
    const answer = this.#asked.then(() => !this.#ended.signal.aborted && this.#options.hooks.ask(question));
    this.#asked = answer.catch(() => undefined);
    try {
      return (await answer) === true && !this.#ended.signal.aborted;
    } catch {
      return false;
    } finally {
      this.#questions -= 1;
    }
  }
}

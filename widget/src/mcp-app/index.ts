// Shows an MCP app: a document of a server of tools, for one call. The document has no origin and reaches nothing of the page.
// Its requests pass this host. Questions to the user, messages and the context of the model are callbacks of the page.

import { isObject } from '../object.js';
import { AppFault, channel, type Receiver } from './channel.js';
import { failedResult, resultOf } from './result.js';
import { appServer, documentUrl, type AppSource, type Approval } from './server.js';

export { failedResult, resultOf, type CallToolResult } from './result.js';
export { documentUrl, type AppSource, type Approval } from './server.js';

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
const unknown = () => new AppFault(-32601, 'Method not found');

/** A question to the user, whose answer decides. */
export type Question =
  | { kind: 'open-link'; url: string }
  | { kind: 'message'; text: string }
  | { kind: 'tool-call'; approval: Approval };

export interface Hooks {
  /** Asks the user. The page names the server of the app: the text is that of another party. */
  ask(question: Question): Promise<boolean>;
  /** Sends a message of the user in the chat, which the user has accepted. Without it, apps cannot send messages. */
  sendMessage?(text: string): void | Promise<void>;
  /** Keeps what the model should read with the next message of the user. It replaces what the same app gave before. */
  updateContext?(context: { content?: unknown[]; structuredContent?: Record<string, unknown> }): void;
  /** Opens a URL that the user has accepted. Default: a tab of its own, without a way back to the page. */
  openLink?(url: string): void;
  /** Is called when the app has ended by itself: it asked for it, or its frame shows another document. */
  closed?(): void;
  /** Sends requests to the assistant. Default: `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export type Theme = 'light' | 'dark';

/** The properties of a theme by their names in the protocol, such as `--color-text-primary`. */
export interface Styles {
  variables: Record<string, string>;
}

export interface AppOptions extends AppSource {
  /** The name of the frame for people who do not see it. */
  title: string;
  chatId?: string;
  theme?: Theme;
  styles?: Styles;
  locale?: string;
  /** The name of the tool at its server, and of the call. */
  tool?: { name: string; callId: string };
  hooks: Hooks;
}

/** An app on the page. `toolInput` and `toolResult` can come before its document is ready. */
export class McpApp {
  readonly #frame = document.createElement('iframe');
  readonly #options: AppOptions;
  readonly #channel: ReturnType<typeof channel>;
  readonly #server: ReturnType<typeof appServer>;
  readonly #ended = new AbortController();
  #waiting: [method: string, params: unknown][] | undefined = [];
  #questions = 0;
  #asked: Promise<unknown> = Promise.resolve();

  /** Adds the frame to an element. Throws a `TypeError` for an address that is not that of a document. */
  constructor(root: Element, options: AppOptions) {
    const url = documentUrl(options);
    if (url === undefined) throw new TypeError('the address of an app begins with ui://');
    this.#options = options;
    const signal = this.#ended.signal;
    this.#server = appServer(options, options.chatId, options.hooks.fetch ?? ((url, init) => fetch(url, init)), signal);
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
    frame.addEventListener('load', () => (loads += 1) > 1 && this.#end(), { signal });
    frame.src = url;
    root.append(frame);
  }

  /** Shows arguments that the model still writes. */
  toolInputPartial(args: unknown): void {
    this.#notify('ui/notifications/tool-input-partial', { arguments: isObject(args) ? args : {} });
  }

  /** Shows the arguments of the call. */
  toolInput(args: unknown): void {
    this.#notify('ui/notifications/tool-input', { arguments: isObject(args) ? args : {} });
  }

  /** Shows the result: `result` of the data `mcp-app`, or the output of the tool part. */
  toolResult(output: unknown): void {
    this.#notify('ui/notifications/tool-result', resultOf(output));
  }

  /** Shows that the call failed, with the text for the user. */
  toolError(text: string): void {
    this.#notify('ui/notifications/tool-result', failedResult(text));
  }

  /** Shows that the call was stopped. */
  toolCancelled(reason: string): void {
    this.#notify('ui/notifications/tool-cancelled', { reason });
  }

  /** Sends another theme to the app. */
  setTheme(theme: Theme, styles = this.#options.styles): void {
    Object.assign(this.#options, { theme, styles });
    this.#notify('ui/notifications/host-context-changed', { theme, styles });
  }

  /** Removes the app. An app that is ready has a second to end its work. */
  async close(): Promise<void> {
    if (this.#waiting === undefined && !this.#ended.signal.aborted) {
      await this.#channel.ask('ui/resource-teardown', {}, TEARDOWN_MS);
    }
    this.#ended.abort();
    this.#frame.remove();
  }

  #end(): void {
    this.#ended.abort();
    this.#frame.remove();
    this.#options.hooks.closed?.();
  }

  /** Sends a notification to the app. One that is not ready gets the last notification of each method. */
  #notify(method: string, params: unknown): void {
    if (this.#ended.signal.aborted) return;
    if (this.#waiting) this.#waiting = [...this.#waiting.filter(([waiting]) => waiting !== method), [method, params]];
    else this.#channel.notify(method, params);
  }

  #notified(method: string, params: Record<string, unknown>): void {
    if (method === 'ui/notifications/initialized') {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const [method, params] of waiting) this.#channel.notify(method, params);
    } else if (method === 'ui/notifications/size-changed') {
      const height = params['height'];
      if (typeof height === 'number' && Number.isFinite(height)) {
        this.#frame.style.height = `${Math.min(Math.max(Math.ceil(height), 0), HEIGHT.most)}px`;
      }
    } else if (method === 'ui/notifications/request-teardown') {
      void this.close().then(() => this.#options.hooks.closed?.());
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
        throw unknown();
    }
  }

  #initialize(params: Record<string, unknown>) {
    const wanted = params['protocolVersion'];
    const { hooks, locale, theme, styles, tool } = this.#options;
    const toolInfo = tool && { id: tool.callId, tool: { name: tool.name, inputSchema: { type: 'object' } } };
    return {
      protocolVersion: VERSIONS.find((version) => version === wanted) ?? VERSIONS[0],
      hostInfo: { name: 'omniassist', version: '1' },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        ...(hooks.sendMessage && { message: { text: {} } }),
        ...(hooks.updateContext && { updateModelContext: { text: {}, structuredContent: {} } }),
      },
      hostContext: {
        ...(toolInfo && { toolInfo }),
        theme: theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'),
        styles,
        locale: locale ?? navigator.language,
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
    const open = this.#options.hooks.openLink ?? ((href) => void window.open(href, '_blank', 'noopener,noreferrer'));
    open(url.href);
    return {};
  }

  async #message(content: unknown): Promise<unknown> {
    const { sendMessage } = this.#options.hooks;
    const blocks = Array.isArray(content) ? content : [content];
    const texts = blocks.map((block) => (isObject(block) && block['type'] === 'text' ? block['text'] : undefined));
    const text = texts.filter((text) => typeof text === 'string').join('\n');
    if (!sendMessage || text === '' || text.length > MAX_TEXT) return { isError: true };
    if (!(await this.#ask({ kind: 'message', text }))) return { isError: true };
    await sendMessage(text);
    return {};
  }

  #updateContext(params: Record<string, unknown>): unknown {
    const { updateContext } = this.#options.hooks;
    if (!updateContext) throw unknown();
    const { content, structuredContent } = params;
    const context = {
      ...(Array.isArray(content) && { content }),
      ...(isObject(structuredContent) && { structuredContent }),
    };
    if (JSON.stringify(context).length > MAX_TEXT) throw invalid();
    updateContext(context);
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

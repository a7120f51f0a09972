import type { ClientFrame, ServerFrame } from './frames.js';

/** The time before the first attempt to connect again, and the longest one, in milliseconds. */
const [FIRST_DELAY, LONGEST_DELAY] = [500, 8_000];

export interface SocketOptions {
  /** The URL of the assistant. */
  api: string;
  /** The agent that works. Default: the assistant itself. */
  agent?: string;
  /** The chat whose trees the server stores. Default: none, so that a tree ends with its connection. */
  chat?: string;
  /** Returns the token of the user. Default: none, as cookies are sent. */
  token?: () => string | Promise<string>;
  onFrame(frame: ServerFrame): void;
  /** Called when the connection begins or ends. */
  onConnection(): void;
}

/** A WebSocket to a tree of agents. It connects again, with growing delays, until it is closed. */
export class AgentSocket {
  ws: WebSocket | undefined;
  readonly #options: SocketOptions;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: SocketOptions) {
    this.#options = options;
    globalThis.addEventListener('online', this.#now);
    void this.#connect();
  }

  get isConnected(): boolean {
    return this.ws?.readyState === WebSocket.OPEN;
  }

  /** Returns `false` if there is no connection. */
  send(frame: ClientFrame): boolean {
    if (!this.isConnected) return false;
    this.ws?.send(JSON.stringify(frame));
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    globalThis.removeEventListener('online', this.#now);
    this.ws?.close(1000);
  }

  readonly #now = (): void => {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#connect();
  };

  async #connect(): Promise<void> {
    const { agent, chat, token, onConnection, onFrame } = this.#options;
    const url = new URL(`${this.#options.api.replace(/\/$/, '')}/ws`, document.baseURI);
    url.protocol = url.protocol.replace('http', 'ws');
    if (agent) url.searchParams.set('agent', agent);
    if (chat) url.searchParams.set('chat', chat);
    const protocols = ['omniassist.agents.v1'];
    try {
      // Browsers send no header of the page with a WebSocket, so the token is a subprotocol.
      if (token) protocols.push(`omniassist.bearer.${base64url(await token())}`);
    } catch {
      return this.#retry();
    }
    if (this.#isClosed) return;
    const ws = new WebSocket(url, protocols);
    this.ws = ws;
    ws.onopen = () => {
      // A stored tree is shown again, and one that ended with its connection is found to be gone.
      this.send({ type: 'get-agent-tree' });
      onConnection();
    };
    ws.onmessage = ({ data }: MessageEvent<string>) => {
      this.#failures = 0;
      onFrame(JSON.parse(data) as ServerFrame);
    };
    ws.onclose = () => {
      if (this.#isClosed) return;
      onConnection();
      this.#retry();
    };
  }

  #retry(): void {
    if (this.#isClosed) return;
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.#failures++);
    this.#timer = setTimeout(this.#now, delay * (0.5 + Math.random() / 2));
  }
}

function base64url(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

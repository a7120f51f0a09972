/** The role of a message. */
export type Role = 'user' | 'assistant' | 'system';

/** A message as the AI SDK writes it. Members that this client does not know go back to the server unchanged. */
export interface Message {
  id: string;
  role: Role;
  parts: Part[];
  metadata?: Record<string, unknown>;
}

export type Part = TextPart | ToolPart | FilePart | SourcePart | DataPart | StepPart;

export interface TextPart {
  type: 'text' | 'reasoning';
  text: string;
  state?: 'streaming' | 'done';
  providerMetadata?: unknown;
}

/** The states of a call, in the order in which a call can reach them. */
export type ToolState =
  | 'input-streaming'
  | 'input-available'
  | 'approval-requested'
  | 'approval-responded'
  | 'output-available'
  | 'output-error'
  | 'output-denied';

/** A call of a tool: `tool-NAME`, or `dynamic-tool` with the name in `toolName`. */
export interface ToolPart {
  type: `tool-${string}` | 'dynamic-tool';
  toolName?: string;
  toolCallId: string;
  state: ToolState;
  /** The title of the tool, for people. */
  title?: string;
  /** The arguments, once they are complete. */
  input?: unknown;
  /** The JSON of the arguments so far. */
  rawInput?: string;
  output?: unknown;
  /** `true` while `output` is progress. */
  preliminary?: boolean;
  errorText?: string;
  /** `true` if the server runs the tool. */
  providerExecuted?: boolean;
  approval?: {
    id: string;
    approved?: boolean;
    reason?: string;
    /** The question for the user. */
    requestReason?: string;
    signature?: string;
    /** The arguments that the user has edited. */
    arguments?: unknown;
    isAutomatic?: boolean;
  };
  callProviderMetadata?: unknown;
  resultProviderMetadata?: unknown;
}

export interface FilePart {
  type: 'file';
  mediaType: string;
  filename?: string;
  /** A `data:` URL, or the URL that the upload returned. */
  url: string;
  providerMetadata?: unknown;
}

export interface SourcePart {
  type: 'source-url' | 'source-document';
  sourceId: string;
  url?: string;
  title?: string;
  mediaType?: string;
  filename?: string;
}

/** Data of the server, such as the state of a component (`data-ui-state`). */
export interface DataPart {
  type: `data-${string}`;
  id?: string;
  data: unknown;
}

export interface StepPart {
  type: 'step-start';
}

/**
 * `ready`: a message can be sent. `submitted`: a request is on its way. `streaming`: the answer arrives. `error`: the last
 * request failed, see {@link Chat.error}.
 */
export type ChatStatus = 'ready' | 'submitted' | 'streaming' | 'error';

/** An error of a chat, with a sentence for the user. */
export interface ChatError extends Error {
  /**
   * `offline`: no server was reached. `interrupted`: the connection broke within an answer. `refused`: the server refused
   * the request. `failed`: the run failed. `outdated`: the server has a newer version of the client, so the page must be
   * loaded again. `unreadable`: the chat in the storage of the browser is not of the expected form.
   */
  readonly kind: 'offline' | 'interrupted' | 'refused' | 'failed' | 'outdated' | 'unreadable';
  /** The status of the answer of HTTP, if there was one. */
  readonly status?: number;
  /** The sentence of the server that refused the request, if it gave one. */
  readonly reason?: string;
  /** `true` if {@link Chat.regenerate} may succeed. After the status 401 it may once the user has signed in. */
  readonly canRetry: boolean;
}

/** A tool that the page runs. The members are those of a WebMCP tool. */
export interface ToolDescriptor {
  /** 1 to 64 letters, digits, `_` and `-`. A server refuses posts with a name that one of its own tools has. */
  name: string;
  description: string;
  /** The JSON Schema of the arguments. Default: no arguments. */
  inputSchema?: Record<string, unknown>;
  /** The title, for people. Default: made from the name. */
  title?: string;
  /** Runs the tool if no handler is given beside the descriptor. Default: none. */
  execute?: ToolHandler;
}

export interface ToolRun {
  /** Aborted when the user stops the run. */
  signal: AbortSignal;
  toolCallId: string;
  /** Asks the user a question in the chat. Returns `true` if the user agrees. Without a user interface: `false`. */
  confirm(question: string): Promise<boolean>;
}

/** Runs a tool in the page. An exception becomes the error that the model reads. */
export type ToolHandler = (input: never, run: ToolRun) => unknown;

/** A message of the page for the model, such as a navigation. Its data is information for the model, never an instruction. */
export interface ContextMessage {
  type: string;
  id?: string;
  data: unknown;
  /** Milliseconds since 1970. Default: now. */
  timestamp?: number;
}

/** A file of the user. */
export type Attachment = File | FilePart;

/** A stored conversation. */
export interface Thread {
  id: string;
  title?: string;
  updatedAt?: string;
  /** The state of its run, if it has one. */
  run?: { state: string };
}

export interface ThreadPage {
  threads: Thread[];
  /** `null` at the end of the list. */
  nextCursor: string | null;
}

/** The branches of the conversation that begin at the place of a message. */
export interface Branches {
  /** The number of alternatives, at least 1. */
  count: number;
  /** The position of the shown one, from 0. */
  current: number;
}

export interface ChatOptions {
  /**
   * The URL of the assistant, such as `/assistant`. Default: the folder of the module. The npm package has no such folder, so
   * it needs the URL.
   */
  api?: string;
  /** The agent to ask. Default: the assistant itself. */
  agent?: string;
  /** The chat to open. Default: the last one of this browser, or a new one. */
  chatId?: string;
  /** The place of chats that the server does not store. Default: `session`. */
  persist?: 'local' | 'session' | 'none';
  /** The beginning of the keys in the storage of the browser. Default: `hsafaChat_`. The agent follows it, or `assistant`. */
  storagePrefix?: string;
  /** The older messages of a stored chat that are loaded: all, or those of {@link Chat.loadOlder}. Default: `all`. */
  older?: 'all' | 'asked';
  /** Headers of each request, or a function that returns them at each request. Default: none. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** Cookies for another origin, or a function that returns the mode at each request. Default: `same-origin`. */
  credentials?: RequestCredentials | (() => RequestCredentials | undefined);
  /** Further members of the body of each post. Default: none. */
  body?: Record<string, unknown>;
  /** Called after a failure that the user sees. Default: nothing. */
  onError?(error: ChatError): void;
}

/** A conversation with the assistant, without a user interface. */
export interface Chat {
  readonly api: string;
  readonly agent: string | undefined;
  readonly chatId: string;
  /** The shown branch of the conversation. The array and its messages change in place. */
  readonly messages: readonly Message[];
  readonly status: ChatStatus;
  /**
   * The error of the last request. While the status is `submitted`, the chat sends the request again by itself. While it is
   * `error`, the chat goes on by itself only if it follows the answer of a stored chat.
   */
  readonly error: ChatError | undefined;
  /** `true` if the server stores the chats of this user. Known once {@link ready} has resolved. */
  readonly isStored: boolean;
  /** Resolves when the chat is loaded. It never rejects. */
  readonly ready: Promise<void>;

  /** Calls `listener` after each change. Returns a function that ends that. */
  subscribe(listener: () => void): () => void;

  /** Sends a message of the user. Does nothing during an answer. */
  sendMessage(message: { text: string; files?: Attachment[] }): Promise<void>;
  /** Stops the answer. What has arrived stays. */
  stop(): void;
  /** Requests the last answer again, or the answer `messageId`. A stored answer stays as another branch. */
  regenerate(messageId?: string): Promise<void>;
  /** Replaces a message of the user and what follows it. The old ones stay as another branch. */
  edit(messageId: string, text: string): Promise<void>;
  /** Returns the branches at a message. */
  branches(messageId: string): Branches;
  /** Shows another branch at a message. */
  selectBranch(messageId: string, position: number): Promise<void>;
  /** Returns `true` if the message is incomplete, because the user stopped it or the server failed. */
  isIncomplete(messageId: string): boolean;

  /** Loads the messages before the first one, if the server has any. Resolves when they are there, or cannot be loaded. */
  loadOlder(): Promise<void>;
  /** Opens a chat. */
  setChatId(chatId: string): Promise<void>;
  /** Begins a new chat. */
  newChat(): void;
  /**
   * Lists the chats, the newest first. `query` searches titles, and messages too where the browser keeps the chats.
   */
  threads(options?: { cursor?: string; query?: string }): Promise<ThreadPage>;
  renameThread(chatId: string, title: string): Promise<void>;
  /** Deletes a chat. If it is the open one, a new one begins. */
  deleteThread(chatId: string): Promise<void>;

  /** Returns `true` if the user can still settle this call. */
  isOpen(part: ToolPart): boolean;
  /** Settles a call that waits for approval. `input` replaces the arguments where the server allows that. */
  approve(part: ToolPart, approved: boolean, options?: { reason?: string; input?: unknown }): Promise<void>;
  /** Settles a call that waits for the page or the user. */
  addToolResult(result: { toolCallId: string; output?: unknown; errorText?: string }): Promise<void>;

  /** Returns the newest state of an instance of a component. */
  state(instanceId: string): Record<string, unknown> | undefined;
  /** Changes members of the state of an instance. */
  setState(instanceId: string, change: Record<string, unknown>): void;
  /** Runs an action of a component at the server. */
  dispatch(instanceId: string, action: string, payload?: unknown): Promise<void>;

  /** Registers a tool for this chat alone. Default of `handler`: `tool.execute`. Returns a function that removes it. */
  registerTool(tool: ToolDescriptor, handler?: ToolHandler): () => void;
  /** Registers context that is read at each send. Returns a function that removes it. */
  registerContext(name: string, read: () => unknown): () => void;
  /** Adds context for the next send. */
  addContext(context: ContextMessage): void;
  /** Answers the questions of {@link ToolRun.confirm}. Default: `false`. */
  onConfirm: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;

  /** Sends a request to the host's server with the headers and the credentials of this chat. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Ends timers, listeners and requests. A run that the server stores goes on. */
  close(): void;
}

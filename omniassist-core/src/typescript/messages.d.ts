/** A message of the plain form: who said what. */
export type ChatMessage = {
  /** Unique within the conversation. */
  id: string;
  role: "user" | "assistant";
  content: string;
};

/** One part of a {@link PartsMessage}. Kinds that the server does not know are kept as they come. */
export type MessagePart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; url: string; filename?: string }
  | { type: string; [key: string]: unknown };

/** A message with parts: the form of the AI SDK's `UIMessage`. */
export type PartsMessage = {
  /** Unique within the conversation. */
  id: string;
  role: "user" | "assistant" | "system";
  parts: MessagePart[];
  metadata?: unknown;
};

/** A tool call of the plain form. It belongs to the assistant message before it. */
export type FunctionCall = {
  type: "function_call";
  /** Unique within the conversation. */
  id: string;
  /** The tool. */
  name: string;
  /** The arguments: an object, or a string that holds its JSON. */
  arguments: object | string;
};

/** The result of a {@link FunctionCall}. */
export type FunctionCallOutput = {
  type: "function_call_output";
  /** The call it answers. */
  call_id: string;
  /** Any JSON value. */
  output: unknown;
  /** `incomplete` says that the tool failed. Default: `completed`. */
  status?: "completed" | "incomplete";
};

/** Something that happened in the application and that the model should know. */
export type ContextMessage = {
  /** Unique within the conversation. */
  id: string;
  /** `navigation`, `form`, or any other kind. */
  type: string;
  /** Any JSON value; its shape depends on the kind. */
  data: unknown;
};

/** A front-end tool that the client declares for one run. */
export type DeclaredTool = {
  /** 1 to 64 letters, digits, `_` or `-`; not the name of a server tool. */
  name: string;
  description?: string;
  /** JSON Schema of the arguments, of type `object`. Default: an object without known properties. */
  inputSchema?: object;
};

/** The body of a run request. */
export type RunRequestBody = {
  /** The chat. An address, not a credential. */
  id?: string;
  /** Another name of `id`, which counts where both are given. */
  chatId?: string;
  /** The whole conversation, oldest first; at least one message. */
  messages: (ChatMessage | PartsMessage | FunctionCall | FunctionCallOutput)[];
  /** The action of the user. Default: `submit-message`. */
  trigger?: "submit-message" | "regenerate-message";
  /** The message that the trigger is about. */
  messageId?: string;
  /** The events in the application, oldest first. */
  context?: ContextMessage[];
  /** Front-end tools beside those that the server knows. */
  tools?: DeclaredTool[];
  /** The components that the page can show. Default: all. */
  components?: ComponentName[];
};

/** The body of an answer whose status is 400 or above. */
export type ErrorBody = {
  error: {
    /** A stable code, such as `invalid_request`. */
    code: string;
    /** A sentence that is safe to show. */
    message: string;
    /** Where in the request the wrong value stands, such as `messages[2].parts[0].text`. */
    path?: string;
    /** The expected kind of value. */
    expected?: string;
    /** The kind of value that stands there. */
    found?: string;
    /** The limit that was passed. */
    limit?: { name: string; value: number };
  };
};

/** An agent that the assistant asked: the data of `data-agent` parts, of which a message has the last one of each agent. */
export type AgentState = {
  agentId: string;
  /** The agent that asked. `null`: the one that answers. */
  parentId: string | null;
  name: string;
  /** The call whose tool asked. */
  toolCallId: string;
  /** 1 for an agent that the one that answers has asked. */
  depth: number;
  /** `running` is sent again when another server resumes the agent. Discard its text then: that of its complete turns follows. */
  status: "running" | "waiting" | "completed" | "incomplete" | "failed" | "cancelled";
  task: string;
  /** The limit or the failure that ended the work. */
  reason?: string;
  /** The answer, at the end. */
  text?: string;
  /** The tokens, at the end. */
  usage?: object;
};

/** A part of the work of an agent: the data of transient `data-agent-delta` parts. */
export type AgentDelta =
  | { agentId: string; type: "text"; delta: string }
  | { agentId: string; type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
  | { agentId: string; type: "tool-end"; toolCallId: string; failed: boolean };

/** The handoff of the conversation to another agent. `from` is `null` for the assistant itself. */
export type AgentHandoff = { from: string | null; to: string };

/** The data parts as the AI SDK's `UIDataTypes`: `UIMessage<unknown, AssistantData, AssistantTools>`. */
export type AssistantData = {
  agent: AgentState;
  "agent-delta": AgentDelta;
  "agent-handoff": AgentHandoff;
  ui: UiShown;
  "ui-state": UiState;
  "ui-event": UiEvent;
};

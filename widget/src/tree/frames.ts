/** The status of an agent. */
export type AgentStatus =
  | 'pending'
  | 'running'
  | 'waiting-for-user'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'cancelled';

/** A call that waits for its user: `input` of a call to approve, or the `schema` of a form. */
export interface CallQuery {
  toolCallId: string;
  toolName: string;
  input?: unknown;
  schema?: Record<string, unknown>;
  /** `true` if the user may edit `input`. */
  editable?: boolean;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** An open question of an agent. */
export interface Query {
  /** Missing without the extended protocol. */
  queryId?: string;
  prompt: string;
  call?: CallQuery;
}

/** The state of an agent, as the server writes it. */
export interface AgentState {
  agentId: string;
  parentId: string | null;
  status: AgentStatus;
  userContent: string;
  userComment?: unknown;
  subagents: string[];
  messages: { role: string; content: unknown }[];
  result: string | null;
  /** The open questions about calls. */
  queries?: Query[];
  metadata: Record<string, unknown>;
  createdAt: number;
}

export type ServerFrame =
  | { type: 'agent-state'; agentId: string; state: AgentState }
  | { type: 'text-delta'; agentId: string; delta: string }
  | ({ type: 'user-query'; agentId: string } & Query)
  | { type: 'agent-completed'; agentId?: string; result?: string }
  | { type: 'error'; error: string; code?: string; agentId?: string }
  | { type: 'agent-tree'; agentIds: string[] };

/** The answer to a question about a call. */
export interface CallAnswer {
  approved: boolean;
  /** The values of a form. */
  output?: Record<string, unknown>;
  /** The arguments that the user has edited. */
  arguments?: unknown;
  reason?: string;
}

/** A change of the work of an agent. */
export interface Intervention {
  userContent?: string;
  userComment?: string;
  status?: 'running' | 'paused' | 'completed' | 'cancelled';
}

export type ClientFrame =
  | { type: 'start-agent'; prompt: string }
  | { type: 'user-response'; agentId: string; response: string }
  | ({ type: 'call-response'; agentId: string; queryId: string } & CallAnswer)
  | ({ type: 'user-intervention'; agentId: string } & Intervention)
  | { type: 'get-agent-tree' };

/** Returns `true` for a status in which the agent does nothing any more. */
export const isEnd = (status: AgentStatus): boolean => /^(completed|failed|cancelled)$/.test(status);

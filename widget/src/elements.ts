// The types of the elements and of their events, for TypeScript.

import type { ChatError, Message, ToolPart } from './chat/types.js';
import type { AgentsElement } from './tree/element.js';
import type { OmniAssistChat } from './ui/element.js';

/** The error of a component. */
export interface ComponentFailure {
  componentName: string;
  instanceId: string;
  error: unknown;
}

/** The error of an agent. */
export interface AgentFailure {
  message: string;
  code?: string;
}

/** The events of the elements, with their `detail`. They bubble up to the document. */
export interface OmniEvents {
  'omni-open': CustomEvent<Record<string, never>>;
  'omni-close': CustomEvent<Record<string, never>>;
  'omni-message': CustomEvent<{ message: Message }>;
  'omni-tool': CustomEvent<{ messageId: string; part: ToolPart }>;
  'omni-error': CustomEvent<{ error: ChatError } | ComponentFailure | AgentFailure>;
  /** An action of a component. It is not sent to the server after `preventDefault()`. */
  'omni-component': CustomEvent<{ component: string; instanceId: string; action: string; payload: unknown }>;
  /** The mark of an answer. `null` takes it back. It is not shown after `preventDefault()`. */
  'omni-feedback': CustomEvent<{ messageId: string; value: 'up' | 'down' | null }>;
  'omni-agents-completed': CustomEvent<{ result?: string }>;
}

declare global {
  interface HTMLElementTagNameMap {
    'omniassist-chat': OmniAssistChat;
    'omniassist-agents': AgentsElement;
  }
  interface GlobalEventHandlersEventMap extends OmniEvents {}
}

import { AgentsElement } from './element.js';

export { AgentsElement };
export type { AgentState, AgentStatus, CallAnswer, ClientFrame, Intervention, Query, ServerFrame } from './frames.js';
export type { AgentNode } from './state.js';
export type { Texts } from './texts.js';

/** Defines `<omniassist-agents>`. A later call does nothing. */
export function defineAgents(): void {
  if (!customElements.get('omniassist-agents')) customElements.define('omniassist-agents', AgentsElement);
}

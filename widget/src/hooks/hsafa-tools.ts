import { Component, type ComponentType, createElement, type ReactNode } from 'react';

import type { Chat, ToolDescriptor, ToolHandler } from '../chat/types.js';

/** A function of the page that the agent can call. With a description, the agent knows more than its name. */
export type HsafaTool = ToolHandler | (Omit<ToolDescriptor, 'name'> & { execute: ToolHandler });
export type HsafaTools = Record<string, HsafaTool>;
/** Components that the agent can show: by their own name, or by the tool `ui` with `{component, props}`. */
export type HsafaUI = Record<string, ComponentType<never>>;

/** A component that the agent wants to show. */
export interface RequestedUI {
  toolCallId: string;
  name: string;
  props: Record<string, unknown>;
  /** Called when the component is shown, or when it fails. */
  settle(error?: Error): void;
}

const ANYTHING = { type: 'object', additionalProperties: true };
const UI = {
  description: 'Shows a component to the user',
  inputSchema: {
    type: 'object',
    required: ['component'],
    properties: { component: { type: 'string' }, props: ANYTHING },
  },
};

/** Registers the tools and the components. `show` gets each component that is requested; its result is that of the call. */
export function registerHsafa(
  chat: Pick<Chat, 'registerTool'>,
  tools: HsafaTools,
  ui: HsafaUI,
  show: (requested: RequestedUI) => void,
): () => void {
  const shown =
    (nameOf: (input: Record<string, unknown>) => string, propsOf: (input: Record<string, unknown>) => unknown): ToolHandler =>
    (input: Record<string, unknown>, { toolCallId }) =>
      new Promise((resolve, reject) => {
        const name = nameOf(input);
        if (!Object.hasOwn(ui, name)) return reject(new Error(`There is no component ${name}.`));
        const settle = (error?: Error) => (error ? reject(error) : resolve({ rendered: name }));
        show({ toolCallId, name, props: Object(propsOf(input)) as Record<string, unknown>, settle });
      });
  const removals = Object.entries(tools).map(([name, tool]) => {
    const { execute, ...rest } = typeof tool === 'function' ? { execute: tool, description: name, inputSchema: ANYTHING } : tool;
    return chat.registerTool({ ...rest, name }, execute);
  });
  for (const name of Object.keys(ui)) {
    const tool = { name, description: `Shows the component ${name} to the user`, inputSchema: ANYTHING };
    removals.push(chat.registerTool(tool, shown(() => name, (input) => input)));
  }
  if (Object.keys(ui).length) {
    removals.push(chat.registerTool({ name: 'ui', ...UI }, shown(({ component }) => String(component), ({ props }) => props)));
  }
  return () => removals.forEach((remove) => remove());
}

/** Shows a requested component, and settles its call: with success when it is drawn, or with its error. */
export class RequestedView extends Component<{ requested: RequestedUI; ui: HsafaUI }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  /** Called with the error, too: React draws the boundary again, without its child. */
  override componentDidMount(): void {
    this.props.requested.settle(this.state.error);
  }

  override render(): ReactNode {
    const { requested, ui } = this.props;
    const Shown = ui[requested.name] as ComponentType<Record<string, unknown>> | undefined;
    return Shown && !this.state.error ? createElement(Shown, requested.props) : null;
  }
}

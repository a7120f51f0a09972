import { createElement, type ReactNode, useEffect, useMemo, useState } from 'react';

import { isTool, toolName } from '../chat/part.js';
import type { ChatOptions, ToolPart } from '../chat/types.js';
import { useHsafa, useHsafaChatState } from './hsafa-provider.js';
import { type HsafaTools, type HsafaUI, type RequestedUI, RequestedView, registerHsafa } from './hsafa-tools.js';
import { type UseOmniAssist, useOmniAssist } from './react-chat.js';

/** The names of the tool that asks the user with a form. */
const FORMS = ['requestInput', 'request_input'];
const NO_TOOLS: HsafaTools = {};
const NO_UI: HsafaUI = {};

export interface HsafaAgentOptions extends Omit<ChatOptions, 'agent' | 'api'> {
  /** The agent. Default: the assistant itself. */
  agentId?: string;
  /** Default: that of the provider. */
  baseUrl?: string;
  tools?: HsafaTools;
  components?: HsafaUI;
}

/** A form that waits for the user. */
export interface HsafaForm {
  readonly part: ToolPart;
  readonly message: string | undefined;
  readonly schema: Record<string, unknown>;
  submit(values: Record<string, unknown>): Promise<void>;
  cancel(): Promise<void>;
}

export interface HsafaAgent extends UseOmniAssist {
  /** The forms that wait for the user. */
  readonly forms: readonly HsafaForm[];
  /** The components that the agent shows, for the page to place. */
  readonly ui: ReactNode;
}

/** Returns a chat with an agent, without a user interface. Chats are kept in the local storage. */
export function useHsafaAgent(options: HsafaAgentOptions = {}): HsafaAgent {
  const { agentId, baseUrl, tools = NO_TOOLS, components = NO_UI, ...rest } = options;
  const provider = useHsafa();
  const key = agentId ?? 'assistant';
  const assist = useOmniAssist({ persist: 'local', ...rest, agent: agentId, api: baseUrl ?? provider.baseUrl });
  useHsafaChatState(key, { streaming: assist.status === 'submitted' || assist.status === 'streaming' });

  const [requested, setRequested] = useState<RequestedUI[]>([]);
  const { getChat, messages, addToolResult } = assist;
  useEffect(
    () => registerHsafa(getChat(), tools, components, (one) => setRequested((all) => [...all, one])),
    [getChat, tools, components],
  );

  const forms = useMemo(() => formsOf(messages.at(-1)?.parts.filter(isTool) ?? [], addToolResult), [messages, addToolResult]);
  const calls = messages.flatMap(({ parts }) => parts.filter(isTool).map(({ toolCallId }) => toolCallId));
  const ui = requested
    .filter(({ toolCallId }) => calls.includes(toolCallId))
    .map((one) => createElement(RequestedView, { key: one.toolCallId, requested: one, ui: components }));
  return { ...assist, forms, ui };
}

function formsOf(parts: ToolPart[], addToolResult: UseOmniAssist['addToolResult']): HsafaForm[] {
  const waiting = parts.filter((part) => FORMS.includes(toolName(part)) && part.state === 'input-available');
  return waiting.map((part) => {
    const { toolCallId, input } = part;
    const { message, schema } = Object(input) as { message?: string; schema?: Record<string, unknown> };
    return {
      part,
      message,
      schema: schema ?? {},
      submit: (output) => addToolResult({ toolCallId, output }),
      cancel: () => addToolResult({ toolCallId, errorText: 'The user declined to fill in this form.' }),
    };
  });
}

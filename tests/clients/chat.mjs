// The AI SDK's own chat in each version, with a state that records every change.

import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';

export { until } from '../lib/quickstart.mjs';

export const versions = { v5: ai5, v6: ai6, v7: ai7 };

/**
 * Opens a chat of one version with one assistant.
 *
 * `messages` are the initial messages, and `headers` are sent with each request. `pageTools` maps the names of
 * front-end tools to functions from the input to an output (an exception is the tool's error). Without it, calls of
 * front-end tools are not answered. `prepareSendMessagesRequest` makes the body of each post, as in the transport.
 */
export function openChat(ai, api, { pageTools, headers, messages = [], prepareSendMessagesRequest, ...init } = {}) {
  const posted = [];
  const seen = [];
  const errors = [];
  const finishes = [];
  const calls = [];
  const statuses = [];
  const remember = (message) => seen.push(structuredClone(message));
  const state = {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage(message) {
      this.messages = [...this.messages, message];
      remember(message);
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      this.messages = this.messages.with?.(index, message) ?? this.messages.map((old, at) => (at === index ? message : old));
      remember(message);
    },
    snapshot: (value) => structuredClone(value),
  };
  class Chat extends ai.AbstractChat {}
  const chat = new Chat({
    state,
    transport: new ai.DefaultChatTransport({
      api,
      headers,
      prepareSendMessagesRequest,
      fetch: async (url, options) => {
        if (options.body) posted.push(JSON.parse(options.body));
        const response = await fetch(url, options);
        statuses.push(response.status);
        return response;
      },
    }),
    onError: (error) => errors.push(error),
    onFinish: (finish) => finishes.push(finish),
    onToolCall({ toolCall }) {
      calls.push(toolCall);
      const run = pageTools?.[toolCall.toolName];
      if (!run) return;
      const answer = { tool: toolCall.toolName, toolCallId: toolCall.toolCallId };
      Promise.resolve()
        .then(() => run(toolCall.input))
        .then(
          (output) => chat.addToolOutput({ ...answer, output }),
          (error) => chat.addToolOutput({ ...answer, state: 'output-error', errorText: error.message }),
        );
    },
    sendAutomaticallyWhen: pageTools ? ai.lastAssistantMessageIsCompleteWithToolCalls : undefined,
    ...init,
  });
  return Object.assign(chat, { posted, seen, errors, finishes, calls, statuses });
}

export const last = (chat) => chat.messages.at(-1);

export const textOf = (message) =>
  message.parts.filter((part) => part.type === 'text').map((part) => part.text).join('');

/** Returns the tool parts of a message, including dynamic ones. */
export const toolParts = (message) =>
  message.parts.filter((part) => part.type === 'dynamic-tool' || part.type.startsWith('tool-'));

/** Returns the types of a message's parts in order. */
export const shape = (message) => message.parts.map((part) => part.type);

/**
 * Returns a part without the provider's state and the title of a call, which have no place in a replay: it leaves out the
 * end of the arguments, so that no tool is called.
 */
export function plain({ callProviderMetadata, resultProviderMetadata, title, rawInput, ...part }) {
  // Versions 5 and 6 store the arguments of a call that cannot run in a separate field.
  if (part.input === undefined && typeof rawInput !== 'string') part.input = rawInput;
  return JSON.parse(JSON.stringify(part));
}

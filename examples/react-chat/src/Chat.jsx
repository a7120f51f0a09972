import { useState } from 'react';
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';

import { Message } from './Message.jsx';

const isBusy = (status) => status === 'submitted' || status === 'streaming';

/** The sentence in the body of an HTTP error, or the error's own. */
function sentence(error) {
  try {
    return JSON.parse(error.message).error.message;
  } catch {
    return error.message;
  }
}

export function Chat({ tools, context, onFinish }) {
  const chat = useChat({
    // The query tells the version of `ai`: from 6 on there are approvals, from 7 on they come with their question.
    transport: new DefaultChatTransport({ api: '/assistant?ai-sdk=7', body: () => ({ context: context() }) }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall({ toolCall: { toolName: tool, toolCallId, input } }) {
      // Every call comes here. The server answers those of its own tools, and the user the form.
      if (!tools[tool]) return;
      // Not awaited: the stream would wait for it, and it for the stream.
      try {
        chat.addToolOutput({ tool, toolCallId, output: tools[tool](input) });
      } catch (error) {
        chat.addToolOutput({ tool, toolCallId, state: 'output-error', errorText: error.message });
      }
    },
    onFinish,
  });
  const { messages, status, error, stop, regenerate } = chat;
  const [text, setText] = useState('');
  const busy = isBusy(status);
  const last = messages.at(-1);

  function submit(event) {
    event.preventDefault();
    if (text.trim() === '' || busy) return;
    chat.sendMessage({ text: text.trim() });
    setText('');
  }
  function onKeyDown(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
  }

  return (
    <section id="chat" aria-label="Assistant" data-status={status}>
      <div id="chat-log" role="log" aria-label="Conversation" tabIndex={0} aria-busy={busy}>
        {messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            chat={chat}
            busy={busy}
            isLast={message === last}
            onEdit={(edited) => chat.sendMessage({ text: edited, messageId: message.id })}
          />
        ))}
      </div>
      {error && (
        <div id="chat-error" role="alert">
          <span id="chat-error-text">{sentence(error)}</span>
          <button id="chat-retry" type="button" onClick={() => regenerate()}>Try again</button>
        </div>
      )}
      <form id="chat-form" onSubmit={submit}>
        <label htmlFor="chat-input">Ask, or say what to do</label>
        <textarea
          id="chat-input"
          rows={2}
          placeholder="Refund order 1002"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="buttons">
          <button id="chat-send" type="submit" disabled={busy}>Send</button>
          <button id="chat-stop" type="button" disabled={!busy} onClick={() => stop()}>Stop</button>
          <button id="chat-again" type="button" disabled={busy || last?.role !== 'assistant'} onClick={() => regenerate()}>
            Answer again
          </button>
        </div>
      </form>
    </section>
  );
}

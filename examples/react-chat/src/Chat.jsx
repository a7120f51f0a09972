import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  generateId,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';

import { Message } from './Message.jsx';

const isBusy = (status) => status === 'submitted' || status === 'streaming';

const NO_SERVER = 'The server does not answer. Check that it runs, then try again.';

/** The text of an error. `useChat` puts the body of an HTTP error, which is JSON here, into `error.message`. */
function sentence(error) {
  try {
    return JSON.parse(error.message).error.message;
  } catch {
    // `fetch` throws a TypeError if it reaches no server; a proxy before a dead server sends no body.
    return error instanceof TypeError || /^(failed to fetch.*)?$/i.test(error.message) ? NO_SERVER : error.message;
  }
}

/** The tab keeps the chat when the page is reloaded. A server that stores chats has the messages itself. */
const SAVED = 'chat';
export async function restore() {
  const saved = kept();
  if (!saved.stored) return saved;
  const response = await fetch(`/assistant/threads/${saved.id}/messages`).catch(() => null);
  return response?.ok ? { ...saved, messages: (await response.json()).messages, cut: [] } : saved;
}
function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(SAVED)) ?? { id: generateId() };
  } catch {
    return { id: generateId() };
  }
}
function save(chat) {
  try {
    sessionStorage.setItem(SAVED, JSON.stringify(chat));
  } catch {
    // The chat is larger than the storage of a tab. A reload then starts a new chat.
    sessionStorage.removeItem(SAVED);
  }
}

/** `saved` is the chat that `restore` returned. */
export function Chat({ saved, tools, context, onFinish }) {
  /** The server stores the chat: its answers go on without the page. Their responses name the run. */
  const stored = useRef(saved.stored ?? false);
  const chat = useChat({
    id: saved.id,
    messages: saved.messages,
    // The answer that the server is still writing is followed, after a reload and when the page is visible again.
    resume: true,
    // The version of `ai`: with 6 or newer the server asks for approvals, with 7 it also sends their questions.
    transport: new DefaultChatTransport({
      api: '/assistant?ai-sdk=7',
      body: () => ({ context: context() }),
      async fetch(url, options) {
        const response = await fetch(url, options);
        stored.current ||= response.headers.has('x-omniassist-run');
        return response;
      },
    }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall({ toolCall: { toolName: tool, toolCallId, input } }) {
      // All calls arrive here. The server runs its own tools, and the user answers forms.
      if (!tools[tool]) return;
      // Do not await this: the stream would wait for the output, and the output for the stream.
      try {
        chat.addToolOutput({ tool, toolCallId, output: tools[tool](input) });
      } catch (error) {
        chat.addToolOutput({ tool, toolCallId, state: 'output-error', errorText: error.message });
      }
    },
    onFinish({ message, isAbort, isError }) {
      setCut((before) => [...before.filter((id) => id !== message.id), ...(isAbort || isError ? [message.id] : [])]);
      onFinish();
    },
  });
  const { id, messages, status, error, stop, regenerate } = chat;
  /** The ids of answers that are incomplete, because the user stopped them or the server failed. */
  const [cut, setCut] = useState(saved.cut ?? []);
  const log = useRef(null);
  const input = useRef(null);
  const atEnd = useRef(true);
  const [text, setText] = useState('');
  const busy = isBusy(status);
  const last = messages.at(-1);

  // The log stays at its end, unless the user has scrolled up.
  useLayoutEffect(() => {
    if (atEnd.current) log.current.scrollTop = log.current.scrollHeight;
  }, [messages, error]);
  useEffect(() => {
    const onHide = () => {
      const open = busy && last?.role === 'assistant' ? [last.id] : [];
      save({ id, messages, cut: [...cut, ...open], stored: stored.current });
    };
    if (!busy) onHide();
    addEventListener('pagehide', onHide);
    return () => removeEventListener('pagehide', onHide);
  });

  /** Asks again. The new answer replaces the old one. */
  function again() {
    regenerate();
    input.current.focus();
  }
  /** Follows the answer of a stored chat, whose connection is lost. Any other answer is asked for again. */
  function retry() {
    if (stored.current && last?.role === 'assistant') chat.resumeStream();
    else again();
  }
  function onStop() {
    // The run of a stored chat goes on without its page.
    if (stored.current) fetch(`/assistant/${id}/stop`, { method: 'POST' }).catch(() => {});
    stop();
    input.current.focus();
  }
  function onClear() {
    chat.setMessages([]);
    chat.clearError();
    setCut([]);
    input.current.focus();
  }

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
      <div
        id="chat-log"
        role="log"
        aria-label="Conversation"
        tabIndex={0}
        aria-busy={busy}
        ref={log}
        onScroll={({ target }) => (atEnd.current = target.scrollHeight - target.scrollTop - target.clientHeight < 40)}
      >
        {messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            chat={chat}
            busy={busy}
            isLast={message === last}
            isCut={cut.includes(message.id) && !(busy && message === last)}
            onEdit={(edited) => chat.sendMessage({ text: edited, messageId: message.id })}
          />
        ))}
      </div>
      {error && (
        <div id="chat-error" role="alert">
          <span id="chat-error-text">{sentence(error)}</span>
          <button id="chat-retry" type="button" onClick={retry}>Try again</button>
        </div>
      )}
      <form id="chat-form" onSubmit={submit}>
        <label htmlFor="chat-input">Ask a question or give a task</label>
        <textarea
          id="chat-input"
          ref={input}
          rows={2}
          placeholder="Refund order 1002"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="buttons">
          <button id="chat-send" type="submit" disabled={busy}>Send</button>
          <button id="chat-stop" type="button" disabled={!busy} onClick={onStop}>Stop</button>
          <button id="chat-again" type="button" disabled={busy || last?.role !== 'assistant'} onClick={again}>
            Answer again
          </button>
          <button id="chat-clear" type="button" disabled={busy} onClick={onClear}>New chat</button>
        </div>
      </form>
    </section>
  );
}

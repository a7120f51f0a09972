import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  generateId,
  getToolName,
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
  if (!saved.run) return saved;
  // The run first, so that the messages have the calls for which it waits.
  const run = await read(`runs/${saved.run}`);
  const thread = await read(`threads/${saved.id}/messages`);
  return thread ? { ...saved, messages: thread.messages, cut: [], waits: run?.state === 'waiting' } : saved;
}
async function read(path) {
  const response = await fetch(`/assistant/${path}`).catch(() => null);
  return response?.ok ? response.json() : null;
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
  /** The run of the last answer, if the server stores the chat: it goes on without the page. */
  const run = useRef(saved.run);
  const waits = useRef(saved.waits);
  const chat = useChat({
    id: saved.id,
    messages: saved.messages,
    // The answer that the server is still writing is followed, after a reload and when the page is visible again.
    resume: true,
    // The version of `ai`: with 6 or newer the server asks for approvals, with 7 it also sends their questions.
    transport: new DefaultChatTransport({
      api: '/assistant?ai-sdk=7',
      // `components.jsx` is the page that shows components.
      body: () => ({ context: context(), components: [] }),
      async fetch(url, options) {
        const response = await fetch(url, options);
        run.current = response.headers.get('x-omniassist-run') ?? run.current;
        // Nothing is being written. An output that was posted earlier would begin an answer that this request gets too.
        if (options?.method === 'GET' && response.status === 204) setTimeout(runOpenCalls);
        return response;
      },
    }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => runTool(toolName, toolCallId, input),
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
      save({ id, messages, cut: [...cut, ...open], run: run.current });
    };
    if (!busy) onHide();
    addEventListener('pagehide', onHide);
    return () => removeEventListener('pagehide', onHide);
  });

  /** Runs a tool of the page. The server runs its own tools, and the user answers forms. */
  function runTool(tool, toolCallId, input) {
    if (!tools[tool]) return;
    // Do not await this: the stream would wait for the output, and the output for the stream.
    try {
      chat.addToolOutput({ tool, toolCallId, output: tools[tool](input) });
    } catch (error) {
      chat.addToolOutput({ tool, toolCallId, state: 'output-error', errorText: error.message });
    }
  }
  /** Runs the calls that the model made while no page was open. `onToolCall` gets only those of a stream. */
  function runOpenCalls() {
    if (!waits.current) return;
    waits.current = false;
    for (const part of saved.messages.at(-1).parts) {
      if (part.state === 'input-available') runTool(getToolName(part), part.toolCallId, part.input);
    }
  }
  /** Asks again. The new answer replaces the old one. */
  function again() {
    regenerate();
    input.current.focus();
  }
  /** Follows the answer of a stored chat, whose connection is lost. Any other answer is asked for again. */
  function retry() {
    if (run.current && last?.role === 'assistant') chat.resumeStream();
    else again();
  }
  function onStop() {
    // The run of a stored chat goes on without its page.
    if (run.current) fetch(`/assistant/${id}/stop`, { method: 'POST' }).catch(() => {});
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

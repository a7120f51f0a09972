import { useEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { fromToolPart, mount, withState } from '../../../omniassist-server/assets/components.js';

function Component({ shown, hooks }) {
  const [root, view] = [useRef(null), useRef(null)];
  useEffect(() => { view.current = mount(root.current, shown, hooks); return () => view.current.unmount(); }, []);
  useEffect(() => view.current.update(shown));
  return <div ref={root} />;
}

function Chat() {
  const { messages, setMessages, sendMessage, addToolOutput } = useChat({
    transport: new DefaultChatTransport({ api: '/assistant' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  });
  const show = (part, index) => {
    if (part.type === 'text') return <p key={index}>{part.text}</p>;
    const shown = fromToolPart(part, messages);
    const setState = (change, id) => setMessages((all) => withState(all, id, change));
    const respond = (output) => addToolOutput({ tool: part.type.slice(5), toolCallId: part.toolCallId, output });
    return shown && <Component key={part.toolCallId} shown={shown} hooks={{ setState, respond }} />;
  };
  const send = (form) => sendMessage({ text: form.get('question') });
  return <main>{messages.flatMap(({ parts }) => parts).map(show)}<form action={send}><input name="question" aria-label="Question" /></form></main>;
}

createRoot(document.getElementById('root')).render(<Chat />);

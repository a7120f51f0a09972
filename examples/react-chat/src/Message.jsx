import { useState } from 'react';
import { isToolUIPart } from 'ai';

import { Markdown } from './Markdown.jsx';
import { Tool } from './Tool.jsx';

/** One message. A message of the user can be edited; a message of the assistant shows its parts. */
export function Message({ message, chat, busy, isLast, isCut, onEdit }) {
  const [draft, setDraft] = useState(null);
  const { role, parts } = message;
  const text = parts.filter((part) => part.type === 'text').map((part) => part.text).join('');

  if (draft !== null) {
    const save = (event) => {
      event.preventDefault();
      setDraft(null);
      onEdit(draft.trim());
    };
    return (
      <form className="edit" onSubmit={save}>
        <label>
          Your message
          <textarea rows={2} required autoFocus value={draft} onChange={(event) => setDraft(event.target.value)} />
        </label>
        <div className="buttons">
          <button type="submit" disabled={busy}>Send</button>
          <button type="button" onClick={() => setDraft(null)}>Cancel</button>
        </div>
      </form>
    );
  }
  // Only calls of the last step can still be answered.
  const step = parts.findLastIndex((part) => part.type === 'step-start');
  return (
    <article data-role={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => (
        <Part
          key={index}
          part={part}
          role={role}
          label={message.metadata?.omniassist?.tools?.[part.toolCallId] ?? {}}
          chat={chat}
          busy={busy && isLast}
          isOpen={isLast && index > step}
        />
      ))}
      {isCut && <p className="mark">Stopped: this answer is incomplete.</p>}
      {role === 'user' && (
        <button className="edit-button" type="button" disabled={busy} onClick={() => setDraft(text)}>Edit</button>
      )}
    </article>
  );
}

function Part({ part, role, label, chat, busy, isOpen }) {
  if (isToolUIPart(part)) return <Tool part={part} label={label} chat={chat} busy={busy} isOpen={isOpen} />;
  if (part.type === 'text' && role === 'user') return <p className="said">{part.text}</p>;
  if (part.type === 'text') return <Markdown text={part.text} />;
  if (part.type === 'reasoning' && part.text !== '') {
    return (
      <details className="reasoning" data-part="reasoning">
        <summary>Reasoning</summary>
        <p className="said">{part.text}</p>
      </details>
    );
  }
  if (part.type === 'source-url') return <p><a href={part.url} target="_blank" rel="noopener noreferrer">{part.title ?? part.url}</a></p>;
  return null;
}

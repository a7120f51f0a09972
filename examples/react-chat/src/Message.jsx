import { useState } from 'react';
import { isToolUIPart } from 'ai';

import { Tool } from './Tool.jsx';

/** One message: what the user said can be edited, what the assistant did is shown part by part. */
export function Message({ message, chat, busy, isLast, onEdit }) {
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
  // Only the last step still waits for anybody; one before it was answered, or left behind.
  const step = parts.findLastIndex((part) => part.type === 'step-start');
  return (
    <article data-role={role} aria-label={role}>
      {parts.map((part, index) => (
        <Part key={index} part={part} chat={chat} busy={busy && isLast} isOpen={isLast && index > step} />
      ))}
      {role === 'user' && (
        <button className="edit-button" type="button" disabled={busy} onClick={() => setDraft(text)}>Edit</button>
      )}
    </article>
  );
}

function Part({ part, chat, busy, isOpen }) {
  if (isToolUIPart(part)) return <Tool part={part} chat={chat} busy={busy} isOpen={isOpen} />;
  if (part.type === 'text') return <div className="text" data-part="text">{part.text}</div>;
  if (part.type === 'reasoning' && part.text !== '') {
    return (
      <details className="reasoning" data-part="reasoning">
        <summary>Reasoning</summary>
        <div className="text">{part.text}</div>
      </details>
    );
  }
  if (part.type === 'source-url') return <p><a href={part.url} rel="noreferrer">{part.title ?? part.url}</a></p>;
  return null;
}

import { useState } from 'react';

export const EMPTY = { subject: '', details: '', priority: 'normal' };

/** The form of a new ticket. The assistant may fill it in; the user sends it. */
export function Ticket({ draft, onChange }) {
  const [result, setResult] = useState('');
  const control = (name) => ({
    value: draft[name],
    onChange: (event) => onChange({ ...draft, [name]: event.target.value }),
  });

  async function submit(event) {
    event.preventDefault();
    const headers = { 'content-type': 'application/json' };
    const response = await fetch('/api/tickets', { method: 'POST', headers, body: JSON.stringify(draft) });
    const ticket = await response.json();
    setResult(response.ok ? `Ticket ${ticket.id} is open.` : ticket.error);
    if (response.ok) onChange(EMPTY);
  }
  return (
    <form id="ticket" className="ask" onSubmit={submit}>
      <label>Subject<input required maxLength={200} {...control('subject')} /></label>
      <label>Details<textarea rows={4} {...control('details')} /></label>
      <label>
        Priority
        <select {...control('priority')}>
          {['low', 'normal', 'high'].map((word) => <option key={word}>{word}</option>)}
        </select>
      </label>
      <div className="buttons"><button type="submit">Open the ticket</button></div>
      <p role="status">{result}</p>
    </form>
  );
}

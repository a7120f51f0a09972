import { useRef, useState } from 'react';

import { Chat } from './Chat.jsx';
import { Page, PAGES } from './Page.jsx';
import { EMPTY, Ticket } from './Ticket.jsx';

/** A page of the back office, and beside it the chat, whose assistant can turn the page. */
export function App() {
  const [page, setPage] = useState('orders');
  const [turn, setTurn] = useState(0);
  const [draft, setDraft] = useState(EMPTY);
  // The output of a tool is posted before React has rendered what the tool changed.
  const current = useRef(page);
  const open = (wanted) => {
    current.current = wanted;
    setPage(wanted);
  };

  /** The tools of this page, by name: from the input to the output; a throw is the tool's error. */
  const tools = {
    navigate({ page: wanted }) {
      if (!PAGES[wanted]) throw new Error(`There is no page ${wanted}.`);
      open(wanted);
      return { opened: PAGES[wanted] };
    },
    fill_form(input) {
      setDraft((before) => ({ ...before, ...input }));
      open('new-ticket');
      return { filled: input, sent: false };
    },
  };
  /** What the assistant is told of this page, with every request. */
  const context = () => {
    const name = current.current;
    return [{ id: 'page', type: 'navigation', data: { path: `/${name}`, title: PAGES[name] } }];
  };

  return (
    <>
      <main id="view" data-page={page}>
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([name, title]) => (
            <button key={name} type="button" aria-pressed={name === page} onClick={() => open(name)}>
              {title}
            </button>
          ))}
        </nav>
        {page === 'new-ticket' ? <Ticket draft={draft} onChange={setDraft} /> : <Page name={page} turn={turn} />}
      </main>
      <Chat tools={tools} context={context} onFinish={() => setTurn((before) => before + 1)} />
    </>
  );
}

import { useRef, useState } from 'react';

import { Chat } from './Chat.jsx';
import { Page, PAGES } from '../../react-parts/Page.jsx';
import { EMPTY, Ticket } from '../../react-parts/Ticket.jsx';

/** A page of the back office and, beside it, the chat. On a narrow screen a button switches between the two. */
export function App({ chat }) {
  const [page, setPage] = useState('orders');
  const [turn, setTurn] = useState(0);
  const [shows, setShows] = useState('chat');
  const [draft, setDraft] = useState(EMPTY);
  // The output of a tool is posted before React has rendered the new page.
  const current = useRef(page);
  const open = (wanted) => {
    current.current = wanted;
    setPage(wanted);
  };

  /** The tools of this page: functions from the input to the output. An exception is the error of the tool. */
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
  /** The context of each request: the page that is open. */
  const context = () => {
    const name = current.current;
    return [{ id: 'page', type: 'navigation', data: { path: `/${name}`, title: PAGES[name] } }];
  };

  return (
    <div id="office" data-shows={shows}>
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
      <Chat saved={chat} tools={tools} context={context} onFinish={() => setTurn((before) => before + 1)} />
      <button id="chat-toggle" type="button" onClick={() => setShows(shows === 'chat' ? 'page' : 'chat')}>
        {shows === 'chat' ? 'Show the page' : 'Show the assistant'}
      </button>
    </div>
  );
}

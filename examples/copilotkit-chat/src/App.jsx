import { useEffect, useState } from 'react';
import {
  CopilotChat,
  CopilotKitProvider,
  useAgent,
  useAgentContext,
  useFrontendTool,
} from '@copilotkit/react-core/v2';
import '@copilotkit/react-core/v2/styles.css';
import { z } from 'zod';

import { useAsking } from './Asking.jsx';
import { MESSAGES } from './Markdown.jsx';
import { Page, PAGES } from '../../react-parts/Page.jsx';
import { EMPTY, Ticket } from '../../react-parts/Ticket.jsx';
import { useShownTools } from './Tool.jsx';

/** The thread from the address: `?thread=…`. CopilotKit asks the server for its messages first, also after a reload. */
const THREAD = threadOfAddress();

function threadOfAddress() {
  const address = new URL(location);
  const thread = address.searchParams.get('thread') ?? crypto.randomUUID();
  address.searchParams.set('thread', thread);
  history.replaceState(null, '', address);
  return thread;
}

export function App() {
  const [failure, setFailure] = useState(null);
  return (
    <CopilotKitProvider
      runtimeUrl="/assistant/copilotkit"
      enableInspector={false}
      onError={({ error }) => setFailure(error)}
    >
      <BackOffice failure={failure} onRun={() => setFailure(null)} />
    </CopilotKitProvider>
  );
}

const LABELS = {
  welcomeMessageText: 'Try: Refund order 1002',
  chatDisclaimerText: 'A reload of this page keeps the chat, if the server stores it.',
};

/** CopilotKit sends nothing while a run waits for an answer. It keeps the text of the user for the next request. */
const ANSWER_FIRST = 'Answer the question first. What you wrote goes along with the answer.';

const NO_SERVER = 'The server does not answer. Check that it runs, then try again.';

/** The text of an error: of the body of an HTTP error, or of the exception. */
const sentence = (error) =>
  error.payload?.message ?? (/failed to fetch|network error|HTTP 5\d\d/i.test(error.message) ? NO_SERVER : error.message);

/** A page of the back office and, beside it, the chat. On a narrow screen a button switches between the two. */
function BackOffice({ failure, onRun }) {
  const [page, setPage] = useState('orders');
  const [draft, setDraft] = useState(EMPTY);
  const [shows, setShows] = useState('chat');
  const { agent, isReady } = useAgent();
  const isAsking = agent.pendingInterrupts.length > 0;
  useEffect(() => {
    const onRunInitialized = () => {
      // CopilotKit keeps them open until a run finishes. After a run that fails it would send nothing more.
      agent.pendingInterrupts = [];
      onRun();
    };
    return agent.subscribe({ onRunInitialized }).unsubscribe;
  }, [agent]);

  useAgentContext({ description: 'current page', value: { path: `/${page}`, title: PAGES[page] } });
  useFrontendTool({
    name: 'navigate',
    description: 'Open a page of the back office for the user',
    parameters: z.object({ page: z.enum(Object.keys(PAGES)) }),
    handler: async ({ page: wanted }) => {
      if (!PAGES[wanted]) throw new Error(`There is no page ${wanted}.`);
      setPage(wanted);
      return { opened: PAGES[wanted] };
    },
  });
  useFrontendTool({
    name: 'fill_form',
    description: 'Fill in the ticket form on the page; the user checks and sends it',
    parameters: z.object({ subject: z.string(), details: z.string().optional(), priority: z.string().optional() }),
    handler: async (input) => {
      setDraft((before) => ({ ...before, ...input }));
      setPage('new-ticket');
      return { filled: input, sent: false };
    },
  });
  useShownTools();
  useAsking();

  return (
    <div id="office" data-shows={shows}>
      <main id="view" data-page={page}>
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([name, title]) => (
            <button key={name} type="button" aria-pressed={name === page} onClick={() => setPage(name)}>
              {title}
            </button>
          ))}
        </nav>
        {page === 'new-ticket' ? <Ticket draft={draft} onChange={setDraft} /> : <Page name={page} turn={agent.isRunning} />}
      </main>
      <section id="chat" aria-label="Assistant" aria-busy={!isReady}>
        {failure && <p id="chat-error" role="alert">{isAsking ? ANSWER_FIRST : sentence(failure)}</p>}
        <CopilotChat threadId={THREAD} labels={LABELS} messageView={MESSAGES} />
      </section>
      <button id="chat-toggle" type="button" onClick={() => setShows(shows === 'chat' ? 'page' : 'chat')}>
        {shows === 'chat' ? 'Show the page' : 'Show the assistant'}
      </button>
    </div>
  );
}

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
import { Page, PAGES } from './Page.jsx';
import { EMPTY, Ticket } from './Ticket.jsx';
import { useShownTools } from './Tool.jsx';

/** A thread may be named: `?thread=…`. CopilotKit then asks the server for it first. */
const THREAD = new URLSearchParams(location.search).get('thread') ?? undefined;

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

/** While a run waits for an answer, CopilotKit sends nothing else; it keeps what is said for the next request. */
const ANSWER_FIRST = 'Answer the question first. What you wrote goes along with the answer.';

/** The sentence in the body of an HTTP error, or the error's own. */
const sentence = (error) => error.payload?.message ?? error.message;

/** A page of the back office, and beside it the chat, whose assistant can turn the page. */
function BackOffice({ failure, onRun }) {
  const [page, setPage] = useState('orders');
  const [draft, setDraft] = useState(EMPTY);
  const { agent, isReady } = useAgent();
  const isAsking = agent.pendingInterrupts.length > 0;
  useEffect(() => {
    const onRunInitialized = () => {
      // CopilotKit takes them for open until a run finishes; after one that fails it would send nothing more.
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
    <>
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
        <CopilotChat threadId={THREAD} labels={{ welcomeMessageText: 'Try: Refund order 1002' }} />
      </section>
    </>
  );
}

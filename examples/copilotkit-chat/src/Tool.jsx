import { useAgent, useRenderTool } from '@copilotkit/react-core/v2';
import { z } from 'zod';

import { Table } from './Table.jsx';

/** The server checks the props. */
const ANY = z.any();

const LABELS = {
  running: 'running',
  asked: 'waiting for you',
  answered: 'answered',
  output: 'done',
  error: 'failed',
  denied: 'denied',
  interrupted: 'stopped',
  cut: 'stopped',
};

/** Shows the calls of all tools. */
export function useShownTools() {
  const { agent } = useAgent();
  const { isRunning } = agent;
  // CopilotKit draws a call again only if one of these values changes.
  const asked = agent.pendingInterrupts.map((interrupt) => interrupt.toolCallId);
  const render = ({ toolCallId, name, parameters, result }) => (
    <ShownCall isRunning={isRunning} isAsked={asked.includes(toolCallId)} {...{ toolCallId, name, parameters, result }} />
  );
  useRenderTool({ name: '*', render }, [isRunning, ...asked]);
  useRenderTool({ name: 'ui_table', parameters: ANY, render: Table });
}

function ShownCall({ isRunning, isAsked, toolCallId, name, parameters, result }) {
  const { agent } = useAgent();
  // The question of an approval shows the call.
  if (isAsked && !isRunning) return null;
  // CopilotKit knows only that there is a result. The metadata of the server tells what kind of result it is.
  const message = agent.messages.find((each) => each.role === 'tool' && each.toolCallId === toolCallId);
  const state = message ? (message.metadata?.omniassist?.result ?? 'output') : isRunning ? 'running' : 'interrupted';
  return (
    <Call name={name} state={state} input={parameters} output={result}>
      {['error', 'denied'].includes(state) && <p className="soft">{result}</p>}
    </Call>
  );
}

/** A name in code as a title: `refund_order` becomes "Refund order". */
function titled(name) {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A call: its title, its state, `children`, and its input and output. */
export function Call({ name, state, input, output, isOpen, children }) {
  const title = titled(name);
  return (
    <div className="tool" role="group" aria-label={title} data-tool-name={name} data-tool-state={state}>
      <p><strong>{title}</strong> <span className="soft">{LABELS[state]}</span></p>
      {children}
      {(name !== 'request_input' || output !== undefined) && (
        <details className="tool-data" open={isOpen}>
          <summary>Details</summary>
          {name !== 'request_input' && <pre className="tool-input">{pretty(input)}</pre>}
          {output !== undefined && <pre className="tool-output">{pretty(output)}</pre>}
        </details>
      )}
    </div>
  );
}

/** JSON on one line if it fits, and on several otherwise; any other text as it is. */
function pretty(value) {
  try {
    const parsed = typeof value === 'string' ? JSON.parse(value) : value;
    const line = JSON.stringify(parsed);
    return line.length <= 44 ? line : JSON.stringify(parsed, null, 2);
  } catch {
    return value;
  }
}

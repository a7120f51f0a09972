import { useAgent, useRenderTool } from '@copilotkit/react-core/v2';

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

/** Shows every call that has no view of its own: its name, its input and its output. */
export function useShownTools() {
  const { agent } = useAgent();
  const { isRunning } = agent;
  // A call is not drawn anew for what is known only when its run ends.
  const asked = agent.pendingInterrupts.map((interrupt) => interrupt.toolCallId);
  const render = ({ toolCallId, name, parameters, result }) => (
    <ShownCall isRunning={isRunning} isAsked={asked.includes(toolCallId)} {...{ toolCallId, name, parameters, result }} />
  );
  useRenderTool({ name: '*', render }, [isRunning, ...asked]);
}

function ShownCall({ isRunning, isAsked, toolCallId, name, parameters, result }) {
  const { agent } = useAgent();
  // What the user is asked about is shown with the question.
  if (isAsked && !isRunning) return null;
  // CopilotKit knows that a call is complete. Of its own results, the server says in the metadata what they are.
  const message = agent.messages.find((each) => each.role === 'tool' && each.toolCallId === toolCallId);
  const state = message ? (message.metadata?.omniassist?.result ?? 'output') : isRunning ? 'running' : 'interrupted';
  return (
    <Call name={name} state={state} input={parameters}>
      {result !== undefined && <pre className="tool-output">{pretty(result)}</pre>}
    </Call>
  );
}

/** A call: its name, how it stands, its input, and what is to be shown below. */
export function Call({ name, state, input, children }) {
  return (
    <div className="tool" role="group" aria-label={name} data-tool-name={name} data-tool-state={state}>
      <p><code>{name}</code> <span className="soft">{LABELS[state]}</span></p>
      {name !== 'request_input' && <pre className="tool-input">{pretty(input)}</pre>}
      {children}
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

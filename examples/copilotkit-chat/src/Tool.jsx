import { useAgent, useRenderTool } from '@copilotkit/react-core/v2';

const LABELS = { inProgress: 'under way', executing: 'running', complete: 'done' };

/** Shows every call that has no view of its own: its name, its input and its output. */
export function useShownTools() {
  useRenderTool({ name: '*', render: (props) => <Tool {...props} /> });
}

function Tool({ name, toolCallId, parameters, status }) {
  const { agent } = useAgent();
  // Of an approved call there are two results: CopilotKit notes the decision as one, and behind it comes the server's.
  const results = agent.messages.filter((message) => message.role === 'tool' && message.toolCallId === toolCallId);
  const output = results.at(-1)?.content;
  return (
    <div className="tool" role="group" aria-label={name} data-tool-name={name} data-tool-state={status}>
      <p><code>{name}</code> <span className="soft">{LABELS[status]}</span></p>
      {parameters !== undefined && name !== 'request_input' && <pre className="tool-input">{JSON.stringify(parameters)}</pre>}
      {output !== undefined && <pre className="tool-output">{output}</pre>}
    </div>
  );
}

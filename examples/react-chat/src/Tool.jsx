import { useState } from 'react';
import { getToolName } from 'ai';

import { Form } from './Form.jsx';

const LABELS = {
  'input-streaming': 'writing the input',
  'input-available': 'running',
  'approval-requested': 'waiting for your approval',
  'approval-responded': 'running',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

function pretty(value) {
  if (typeof value === 'string') return value;
  const line = JSON.stringify(value);
  return line.length <= 48 ? line : JSON.stringify(value, null, 2);
}

/** A call: what it is doing, its input and output, and what it asks of the user. */
export function Tool({ part, chat, busy, isOpen }) {
  const tool = getToolName(part);
  const { toolCallId, state, input, output, errorText, approval } = part;
  const isForm = tool === 'request_input';
  const isAsked = isOpen && (state === 'approval-requested' || (isForm && state === 'input-available'));
  const isOver = state.startsWith('output-') && !part.preliminary;
  const label = isAsked ? 'waiting for you' : isOver || busy ? LABELS[state] : 'stopped';

  return (
    <div className="tool" role="group" aria-label={tool} data-tool-name={tool} data-tool-state={state}>
      <p><code>{tool}</code> <span className="soft">{label}</span></p>
      {input !== undefined && !isForm && <pre className="tool-input">{pretty(input)}</pre>}
      {approval?.reason && <p className="soft">Reason: {approval.reason}</p>}
      {output !== undefined && <pre className="tool-output">{pretty(output)}</pre>}
      {errorText && <p className="failure">{errorText}</p>}
      {isAsked && !isForm && (
        <Approval
          question={approval.requestReason ?? `May ${tool} run with this input?`}
          onDecide={(approved, reason) => chat.addToolApprovalResponse({ id: approval.id, approved, reason })}
        />
      )}
      {isAsked && isForm && (
        <Form
          message={input.message}
          schema={input.schema}
          onSend={(entered) => chat.addToolOutput({ tool, toolCallId, output: entered })}
          onDecline={() =>
            chat.addToolOutput({
              tool,
              toolCallId,
              state: 'output-error',
              errorText: 'The user would rather not fill in this form.',
            })
          }
        />
      )}
    </div>
  );
}

function Approval({ question, onDecide }) {
  const [reason, setReason] = useState('');
  const decide = (approved) => onDecide(approved, reason.trim() || undefined);
  return (
    <div className="ask">
      <p className="question">{question}</p>
      <label>
        Reason (optional)
        <input value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
      <div className="buttons">
        <button type="button" className="approve" onClick={() => decide(true)}>Approve</button>
        <button type="button" className="deny" onClick={() => decide(false)}>Deny</button>
      </div>
    </div>
  );
}

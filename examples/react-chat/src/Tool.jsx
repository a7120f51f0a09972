import { useEffect, useRef, useState } from 'react';
import { getToolName } from 'ai';

import { Form } from '../../react-parts/Form.jsx';

const LABELS = {
  'input-streaming': 'preparing',
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

/** A name in code as a title: `refund_order` becomes "Refund order". */
function titled(name) {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A call: its title, state and summary, its question for the user, and its input and output. */
export function Tool({ part, label, chat, busy, isOpen }) {
  const tool = getToolName(part);
  const { toolCallId, state, input, output, errorText, approval } = part;
  const isForm = tool === 'request_input';
  const isAsked = isOpen && (state === 'approval-requested' || (isForm && state === 'input-available'));
  const isOver = state.startsWith('output-') && !part.preliminary;
  const isLeft = !isOpen && state === 'approval-requested';
  const stateLabel = isAsked ? 'waiting for you' : isOver || busy ? LABELS[state] : isLeft ? 'not answered' : 'stopped';
  const title = label.title ?? part.title ?? titled(tool);
  const node = useRef(null);
  // The user must see what waits for an answer.
  useEffect(() => {
    if (isAsked) node.current.scrollIntoView({ block: 'nearest' });
  }, [isAsked]);

  return (
    <div ref={node} className="tool" role="group" aria-label={title} data-tool-name={tool} data-tool-state={state}>
      <p><strong>{title}</strong> <span className="soft">{stateLabel}</span></p>
      {label.summary && !isAsked && <p>{label.summary}</p>}
      {approval?.reason && <p className="soft">Reason: {approval.reason}</p>}
      {errorText && <p className="failure">{errorText}</p>}
      {isAsked && !isForm && (
        <Approval
          question={approval.requestReason ?? `May "${title}" run with this input?`}
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
              errorText: 'The user declined to fill in this form.',
            })
          }
        />
      )}
      {!isForm && input !== undefined && (
        // Without a summary, the user must see the arguments to decide.
        <details className="tool-data" open={isAsked && !label.summary}>
          <summary>Details</summary>
          <pre className="tool-input">{pretty(input)}</pre>
          {output !== undefined && <pre className="tool-output">{pretty(output)}</pre>}
        </details>
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

import { useState } from 'react';
import { useAgent, useInterrupt } from '@copilotkit/react-core/v2';

import { Form } from '../../react-parts/Form.jsx';
import { Call } from './Tool.jsx';

/** Shows the questions of a run in the chat: approvals and forms. The run continues after the last answer. */
export function useAsking() {
  useInterrupt({
    render: ({ interrupts, resolve, cancel }) => (
      <>
        {interrupts.map((asked) => (
          <Asked
            key={asked.id}
            asked={asked}
            onAnswer={(answer) => resolve(answer, asked.id)}
            onDecline={() => cancel(asked.id)}
          />
        ))}
      </>
    ),
  });
}

function Asked({ asked, onAnswer, onDecline }) {
  const { agent } = useAgent();
  const [isDone, setDone] = useState(false);
  const answered = (answer) => (value) => {
    setDone(true);
    answer(value);
  };
  const { reason, message, responseSchema, toolCallId } = asked;
  const calls = agent.messages.flatMap((each) => each.toolCalls ?? []);
  const { name, arguments: input } = calls.find((call) => call.id === toolCallId).function;
  if (isDone) return <Call name={name} state="answered" input={input} />;
  return (
    <Call name={name} state="asked" input={input} isOpen={!message}>
      {reason === 'input_required' ? (
        <Form message={message} schema={responseSchema} onSend={answered(onAnswer)} onDecline={answered(onDecline)} />
      ) : (
        <Approval question={message ?? 'May this tool run with this input?'} onDecide={answered(onAnswer)} />
      )}
    </Call>
  );
}

function Approval({ question, onDecide }) {
  const [reason, setReason] = useState('');
  const decide = (approved) => onDecide({ approved, reason: reason.trim() || undefined });
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

import { questionOf, type Run } from './recorder.js';
import { rawJson, rustJson, rustString } from './rust.js';
import { callsOf, textOf, type Turn, turnsOf } from './turns.js';

/** Members of a body that a test does not need. */
const LEFT_OUT = ['id', 'playground', 'trigger', 'messageId'];

/**
 * Returns a test in Rust: a scripted model repeats what the model wrote in the run, and the test asserts what the client
 * got. `assistant` of the parent module builds the assistant on a model.
 */
export function rustTest(run: Run): string {
  const turns = turnsOf([run]);
  const prompt = promptOf(run.body);
  const agent = run.agent === undefined ? '' : `.agent(${rustString(run.agent)}).unwrap()`;
  const calls = callsOf(turns);
  const usesJson = /\bjson!/.test(calls.map(({ input, output }) => rustJson(input) + rustJson(output)).join());
  const lines = [
    '//! A run of the playground. `assistant` of the parent module builds the assistant on a model.',
    '',
    prompt === undefined ? 'use omniassist_server::core::dialect::ai_sdk;' : 'use omniassist_server::core::RunRequest;',
    'use omniassist_server::testing::{ScriptedProvider, Turn};',
    ...(usesJson ? ['use serde_json::json;'] : []),
    '',
    'use super::assistant;',
    '',
    '#[tokio::test]',
    `async fn ${nameOf(questionOf(run.body))}() {`,
    `    let model = ScriptedProvider::new()${turns.map(scripted).join('')};`,
    `    let assistant = assistant(model.clone())${agent};`,
    ...(prompt === undefined
      ? [
          `    let body = ${rawJson(kept(run.body), 2)};`,
          '    let request = ai_sdk::read_request(body.into(), assistant.limits()).unwrap();',
        ]
      : [`    let request = RunRequest::prompt(${rustString(prompt)});`]),
    '    let message = assistant.run(request).message().await.unwrap();',
    '',
    `    assert_eq!(message.text(), ${rustString(earlier(run) + textOf(turns))});`,
    ...(calls.length
      ? [
          '    let message = serde_json::to_value(&message).unwrap();',
          '    let parts = message["parts"].as_array().unwrap();',
          '    let call = |id: &str| parts.iter().find(|part| part["toolCallId"] == id).unwrap();',
        ]
      : []),
    ...calls.map(({ id, state, output, errorText }) => {
      const seen = `call(${rustString(id)})`;
      if (output !== undefined) return `    assert_eq!(${seen}["output"], ${rustJson(output)});`;
      if (errorText !== undefined) return `    assert_eq!(${seen}["errorText"], ${rustString(errorText)});`;
      return `    assert_eq!(${seen}["state"], ${rustString(state)});`;
    }),
    '    assert_eq!(model.turns_left(), 0);',
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

function scripted({ pieces }: Turn): string {
  const written = pieces.map((piece) =>
    piece.type === 'call'
      ? `Turn::call_with_id(${rustString(piece.call.id)}, ${rustString(piece.call.name)}, ${rustJson(piece.call.input)})`
      : `Turn::${piece.type}(${rustString(piece.text)})`,
  );
  return written.length === 1
    ? `\n        .turn(${written[0]})`
    : `\n        .turn([${written.map((piece) => `\n            ${piece},`).join('')}\n        ])`;
}

/** Returns the text of the only message, if the body has nothing else. */
function promptOf(body: Record<string, any>): string | undefined {
  const rest = Object.keys(body).filter((name) => name !== 'messages' && !LEFT_OUT.includes(name));
  const [message, ...more] = body.messages ?? [];
  const isPlain = message?.role === 'user' && message.parts?.length === 1 && message.parts[0].type === 'text';
  return isPlain && !rest.length && !more.length ? message.parts[0].text : undefined;
}

/** Returns the text of the message that the run goes on with. */
function earlier({ body: { messages, message }, continues }: Run): string {
  const parts: any[] = continues ? ((message ?? messages?.at(-1))?.parts ?? []) : [];
  return parts.map(({ type, text }) => (type === 'text' ? text : '')).join('');
}

/** Returns the members of a body that matter, with short ids of the messages. */
function kept(body: Record<string, any>): Record<string, any> {
  const members = Object.entries(body).filter(([name]) => !LEFT_OUT.includes(name));
  const numbered = (messages: object[]): object[] =>
    messages.map((message, index) => ({ ...message, id: `message-${index + 1}` }));
  return Object.fromEntries(members.map(([name, value]) => [name, name === 'messages' ? numbered(value) : value]));
}

/** Returns the name of a function for a question. */
function nameOf(question: string): string {
  const words = question.toLowerCase().match(/[a-z0-9]+/g) ?? ['a_question'];
  return `answers_${words.join('_').slice(0, 60).replace(/_$/, '')}`;
}

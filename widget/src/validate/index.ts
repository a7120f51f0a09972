import type { Message } from '../chat/types.js';
import { isObject } from '../object.js';

export { isObject };

/** The error of a value that is not of the expected form. */
export interface ValidationError extends Error {
  /** The place of the value, such as `messages[2].parts[0].text`. */
  readonly path: string;
}

type Members = Record<string, unknown>;

/** The texts of each kind of part. Those with a question mark may be missing. */
const TEXTS: Readonly<Record<string, string>> = {
  text: 'text',
  reasoning: 'text',
  file: 'mediaType url filename?',
  'source-url': 'sourceId url title?',
  'source-document': 'sourceId mediaType title filename?',
};
const STATES =
  /^(?:input-(?:streaming|available)|approval-(?:requested|responded)|output-(?:available|error|denied))$/;

/**
 * Checks messages by the rules of a server that reads a post. Members that no rule knows stay. A message without an id gets
 * one from its position, and the text of one without parts becomes a part. Repeated messages, and those of an unknown role,
 * are left out. Throws a {@link ValidationError}, such as `messages[2].parts[0].text: expected a string`.
 */
export function validateMessages(value: unknown): { messages: Message[] } {
  const known = new Map<string, string>();
  const calls = new Map<string, Members>();
  expect(Array.isArray(value), 'messages', 'an array of messages');
  const messages = value.flatMap((each: unknown, index): Members[] => {
    const path = `messages[${index}]`;
    const { content, ...message } = object(each, path);
    const role = text(message, 'role', path);
    if (!/^(?:user|assistant|system)$/.test(role)) return [];
    const id = text(message, 'id', path, true);
    if (id) checkId(id, `${path}.id`);
    let { parts } = message;
    const words = JSON.stringify([role, content, parts, message.metadata]);
    if (id && known.has(id)) {
      expect(known.get(id) === words, `${path}.id`, 'a unique id');
      return [];
    }
    if (id) known.set(id, words);
    checkTexts(message.metadata, `${path}.metadata`);
    const isPlain = parts === undefined && content !== undefined;
    if (isPlain) parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const place = `${path}.${isPlain ? 'content' : 'parts'}`;
    expect(Array.isArray(parts), place, 'an array of parts');
    parts.forEach((part: unknown, at) => checkPart(object(part, `${place}[${at}]`), `${place}[${at}]`));
    parts.forEach((part: Members, at) => {
      if (isCall(part)) checkRepeated(part, calls, parts, `${path}.parts[${at}].toolCallId`);
    });
    return [{ ...message, id: id || `msg-${index}`, role, parts }];
  });
  return { messages: messages as unknown as Message[] };
}

function checkPart(part: Members, path: string): void {
  const type = text(part, 'type', path);
  if (Object.hasOwn(TEXTS, type)) {
    for (const key of TEXTS[type]!.split(' ')) text(part, key.replace('?', ''), path, key.endsWith('?'));
    optionalObject(part, 'providerMetadata', path);
  } else if (isCall(part)) checkCall(part, path);
  else if (type.startsWith('data-')) text(part, 'id', path, true);
}

function checkCall(part: Members, path: string): void {
  if (part.type === 'dynamic-tool') text(part, 'toolName', path);
  checkId(text(part, 'toolCallId', path), `${path}.toolCallId`);
  const state = text(part, 'state', path);
  expect(STATES.test(state), `${path}.state`, 'a state of a tool call ("input-available", "output-available", ...)');
  if (/^approval|denied$/.test(state)) {
    checkTexts(part.approval, `${path}.approval`);
    const approval = object(part.approval, `${path}.approval`);
    text(approval, 'id', `${path}.approval`);
    // A client that resumed the stream knows only the request, and that the call was denied.
    const isOptional = state === 'approval-requested' || (state === 'output-denied' && !('approved' in approval));
    expect(isOptional || isBoolean(approval.approved), `${path}.approval.approved`, 'a boolean');
  }
  if (state === 'output-available') optionalBoolean(part, 'preliminary', path);
  if (state === 'output-error') text(part, 'errorText', path);
  optionalObject(part, 'callProviderMetadata', path);
  if (state === 'output-error' && part.callProviderMetadata == null) {
    optionalObject(part, 'resultProviderMetadata', path);
  }
  optionalBoolean(part, 'providerExecuted', path);
}

/**
 * A call may be repeated unchanged, and in another state in the same message. Of an unfinished and a finished version, the
 * finished one counts.
 */
function checkRepeated(part: Members, calls: Map<string, Members>, parts: unknown[], path: string): void {
  const id = part.toolCallId as string;
  const earlier = calls.get(id);
  const isStreaming = (call: Members): boolean => call.state === 'input-streaming' && nameOf(call) === nameOf(part);
  const isCopy = (call: Members): boolean =>
    parts.includes(call) && nameOf(call) === nameOf(part) && JSON.stringify(call.input) === JSON.stringify(part.input);
  if (!earlier || isStreaming(earlier)) calls.set(id, part);
  else if (part.input === undefined || !isCopy(earlier))
    expect(isStreaming(part) || JSON.stringify(part) === JSON.stringify(earlier), path, 'a unique id');
}

const isCall = ({ type }: Members): boolean => type === 'dynamic-tool' || /^tool-/.test(type as string);
const nameOf = ({ type, toolName }: Members): unknown => (type === 'dynamic-tool' ? toolName : (type as string).slice(5));
const isString = (value: unknown): value is string => typeof value === 'string';
const isWhole = (value: string): boolean => !/\p{Cs}/u.test(value);
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

function object(value: unknown, path: string): Members {
  expect(isObject(value), path, 'an object');
  return value;
}

/** Returns a text, which is well-formed Unicode. An optional one that is missing is empty. */
function text(from: Members, key: string, path: string, isOptional = false): string {
  const value = from[key];
  if (isOptional && value == null) return '';
  expect(isString(value) && isWhole(value), `${path}.${key}`, 'a string');
  return value as string;
}

const checkId = (id: string, path: string): void => expect(id && !/\p{Cc}/u.test(id), path, 'an id without control characters');

function optionalObject(from: Members, key: string, path: string): void {
  if (from[key] == null) return;
  checkTexts(from[key], `${path}.${key}`);
  object(from[key], `${path}.${key}`);
}

const optionalBoolean = (from: Members, key: string, path: string): void =>
  expect(from[key] == null || isBoolean(from[key]), `${path}.${key}`, 'a boolean');

/** Checks that the texts of a value have no half of a surrogate pair. */
function checkTexts(value: unknown, path: string): void {
  if (Array.isArray(value)) value.forEach((item, at) => checkTexts(item, `${path}[${at}]`));
  else if (isObject(value)) for (const key in value) checkTexts(value[key], `${path}.${key}`);
  else expect(!isString(value) || isWhole(value), path, 'whole characters');
}

function expect(isMet: unknown, path: string, expected: string): asserts isMet {
  if (!isMet) throw Object.assign(new Error(`${path}: expected ${expected}`), { path }) satisfies ValidationError;
}

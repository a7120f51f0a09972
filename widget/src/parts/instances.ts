import type { Chat, Message, Part, ToolPart } from '../chat/types.js';
import { isComponent, isTool, toolName } from './kinds.js';

/** The calls that show components, and the messages from which they were read. */
interface Read {
  count: number;
  last: Message | undefined;
  parts: Part[] | undefined;
  length: number | undefined;
  calls: ToolPart[];
}

const known = new WeakMap<Chat, Read>();

/** Returns the calls of a chat that show components. A long chat is read again only if it has other parts. */
function callsOf(chat: Chat): ToolPart[] {
  const { messages } = chat;
  const { length: count } = messages;
  const last = messages.at(-1);
  const { parts } = last ?? {};
  const read = known.get(chat);
  if (read?.count === count && read.last === last && read.parts === parts && read.length === parts?.length) return read.calls;
  const calls = messages.flatMap((message) => message.parts.filter(isTool).filter(isComponent));
  known.set(chat, { count, last, parts, length: parts?.length, calls });
  return calls;
}

/** Returns the instance that a call shows: the one that the server names, or its own. */
export function instanceOf({ output, toolCallId }: ToolPart): string {
  const { instanceId } = Object(output) as { instanceId?: unknown };
  return typeof instanceId === 'string' ? instanceId : toolCallId;
}

/** Returns the last call that shows the same instance. Its message may not be in the document. */
export function newestOf(chat: Chat, part: ToolPart): ToolPart {
  if (part.state !== 'output-available') return part;
  const [id, name] = [instanceOf(part), toolName(part)];
  const newest = callsOf(chat).findLast(
    (one) => one.state === 'output-available' && toolName(one) === name && instanceOf(one) === id,
  );
  return newest && newest.toolCallId !== part.toolCallId ? newest : part;
}

import { isAnswering, toolName } from '../chat/part.js';
import { page } from '../chat/registry.js';
import type { Chat, Message, Part, ToolPart } from '../chat/types.js';
import type { ViewContext } from '../ui/view.js';

export { isAnswering, isTool, textOf, toolName } from '../chat/part.js';

/** The prefix of the tools that show components. */
export const COMPONENT = 'ui_';

/** The state of a message that the view of a part reads. */
export interface PartStatus {
  /** The message of the part. */
  readonly message: Message;
  /** `true` while the server writes the message. */
  readonly busy: boolean;
}

/** The view of a part. It is made once; the part can be another object with each update. */
export interface PartView<P = Part> {
  readonly node: HTMLElement;
  update(part: P, status: PartStatus): void;
  /** Ends timers and listeners. Default: nothing to end. */
  remove?(): void;
}

/** What a question to the user needs of the chat. */
export interface QuestionContext extends Pick<ViewContext, 'locale' | 'texts'> {
  readonly chat: Pick<Chat, 'addToolResult' | 'approve' | 'isOpen'>;
}

/** A question to the user within the view of a call. */
export interface QuestionView {
  readonly node: HTMLElement;
  /** `now`: the state of the call as it is shown. */
  update(part: ToolPart, status: PartStatus, now: string): void;
}

/** Returns `true` for a call that shows a component. */
export const isComponent = (part: ToolPart): boolean => toolName(part).startsWith(COMPONENT);

/** Returns `true` while the server writes the message. */
export const isGrowing = (chat: Chat, message: Message): boolean => isAnswering(chat) && message === chat.messages.at(-1);

/** Makes a title of a name in code: `refund_order` becomes "Refund order". */
export function titled(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ').trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface CallLabel {
  title?: string;
  /** The arguments in a sentence. */
  summary?: string;
}

interface CallQuestion {
  message?: string;
  /** `true` if the user may edit the arguments. */
  editable?: boolean;
}

interface CallMetadata {
  tools?: Record<string, CallLabel>;
  approvals?: Record<string, CallQuestion>;
}

/** Returns what the server says about a call, for people. `named`: the title of a call without one. */
export function labelOf(part: ToolPart, message: Message, named?: string): CallLabel & CallQuestion & { title: string } {
  const { tools, approvals } = (message.metadata?.['omniassist'] ?? {}) as CallMetadata;
  const label = tools?.[part.toolCallId];
  const name = toolName(part);
  // A call has no title before its arguments are complete.
  const title = label?.title ?? part.title ?? named ?? page.tools.get(name)?.tool.title ?? titled(name);
  return { ...approvals?.[part.toolCallId], ...label, title };
}

let made = 0;
/** Returns an id that no other node has. */
export const freshId = (): string => `omni-${(made += 1)}`;

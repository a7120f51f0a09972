import type { DataPart, Message, Part, SourcePart, TextPart } from '../chat/types.js';
import { element, setAttribute, setHidden } from '../ui/dom.js';
import type { View, ViewContext } from '../ui/view.js';
import { actionsView } from './actions.js';
import { begin, editor } from './edit.js';
import { incompleteView } from './incomplete.js';
import { isGrowing, isComponent, isTool, type PartView } from './kinds.js';
import { later } from './later.js';
import { reasoningView } from './reasoning.js';
import { saidView, textView } from './text.js';
import { toolView } from './tool.js';

/** The kind of the data that shows an app of a server of tools. */
const APP = 'data-mcp-app';

/** An entry of a message that is shown: a key that stays the same, and the part or the parts. */
interface Entry {
  key: string;
  shown: Part | SourcePart[];
}

function entriesOf({ parts }: Message): Entry[] {
  const entries: Entry[] = [];
  const sources: SourcePart[] = [];
  parts.forEach((part, index) => {
    if (part.type.startsWith('source-')) sources.push(part as SourcePart);
    else if (isTool(part)) entries.push({ key: `call ${part.toolCallId}`, shown: part });
    else if (part.type === APP) entries.push({ key: `app ${(part as DataPart).id}`, shown: part });
    else if (/^(text|reasoning|file)$/.test(part.type)) entries.push({ key: `${index} ${part.type}`, shown: part });
  });
  return sources.length ? [...entries, { key: 'sources', shown: sources }] : entries;
}

function viewOf(shown: Entry['shown'], isUser: boolean, context: ViewContext): PartView<never> {
  const { texts } = context;
  if (Array.isArray(shown))
    return later(async () => (await import('./rare.js')).sourcesView(context), texts);
  if (isTool(shown)) {
    if (!isComponent(shown)) return toolView(shown, context);
    return later(async () => (await import('./component.js')).componentView(shown, context), texts);
  }
  if (shown.type === 'reasoning') return reasoningView(context);
  if (shown.type === 'file') return later(async () => (await import('./rare.js')).fileView(context), texts);
  if (shown.type === APP) return later(async () => (await import('./rare.js')).appView(shown as DataPart, context), texts);
  return (isUser ? saidView() : textView(context)) satisfies PartView<TextPart>;
}

/** A message of the user or of the assistant. */
export function messageView(message: Message, context: ViewContext): View {
  const { chat, texts } = context;
  const isUser = message.role === 'user';
  const content = element('div', { part: 'content' });
  const views = new Map<string, PartView<Entry['shown']>>();
  const incomplete = incompleteView(message, context);
  let editing: HTMLElement | undefined;
  const edit = (): void => {
    if (editing) return;
    editing = editor(message, context, () => {
      editing?.remove();
      editing = undefined;
      content.hidden = false;
      update();
      actions.node.querySelector<HTMLElement>('[part~="edit"]')?.focus();
    });
    content.hidden = actions.node.hidden = true;
    content.after(editing);
  };
  const actions = actionsView(message, context, () => {
    edit();
    if (editing) begin(editing, true);
  });

  const node = element(
    'article',
    { part: `message ${message.role}`, 'data-role': message.role, 'aria-label': isUser ? texts.you : texts.assistant },
    content,
    incomplete.node,
    actions.node,
  );

  // The user has begun to edit it, and has opened another chat meanwhile.
  if (isUser && context.drafts.read(message.id)) {
    edit();
    if (editing) begin(editing, false);
  }

  function update(): void {
    const busy = isGrowing(chat, message);
    setAttribute(node, 'data-message-id', message.id);
    node.toggleAttribute('data-busy', busy);
    const entries = entriesOf(message);
    const keys = new Set(entries.map(({ key }) => key));
    for (const [key, view] of views) {
      if (keys.has(key)) continue;
      view.remove?.();
      view.node.remove();
      views.delete(key);
    }
    let place = content.firstChild;
    for (const { key, shown } of entries) {
      const view = views.get(key) ?? (viewOf(shown, isUser, context) as PartView<Entry['shown']>);
      views.set(key, view);
      if (view.node === place) place = place.nextSibling;
      else content.insertBefore(view.node, place);
      view.update(shown, { message, busy });
    }
    // An answer of which nothing is there yet.
    setHidden(node, busy && ![...views.values()].some((view) => !view.node.hidden));
    incomplete.update();
    actions.update();
    if (editing) actions.node.hidden = true;
  }
  return {
    node,
    update,
    remove() {
      actions.remove?.();
      for (const view of views.values()) view.remove?.();
    },
  };
}

// A button that copies text, with a note on the result.

import type { Local } from './builtin.js';
import type { AnyContext } from './component.js';
import { type Child, h } from './node.js';

/** The result of the last copy of an instance. */
export interface Copied {
  copied: 'copied' | 'notCopied';
}

/** Describes a button that copies the text, and a note on the result. */
export function copyButton(
  label: string,
  text: () => string,
  context: AnyContext,
  local: Local & Partial<Copied>,
): Child {
  const copy = async () => {
    local.copied = (await write(text(), local.root)) ? 'copied' : 'notCopied';
    local.repaint();
    setTimeout(() => {
      delete local.copied;
      if (!context.signal.aborted) local.repaint();
    }, 2_000);
  };
  return [
    h('span', { part: 'note', role: 'status' }, local.copied ? context.texts[local.copied] : null),
    h('button', { part: 'button quiet', type: 'button', onclick: () => void copy() }, label),
  ];
}

export async function write(text: string, root: HTMLElement | ShadowRoot): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard is refused on plain http and in frames; the older command needs a selected field.
    const field = document.createElement('textarea');
    field.value = text;
    field.setAttribute('part', 'hidden');
    const focused = (root.getRootNode() as Document | ShadowRoot).activeElement;
    root.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    (focused as HTMLElement | null)?.focus();
    return done;
  }
}

/**
 * Keeps the focus when messages are taken out of the document. The returned function gives it to the same part of the message
 * in that place, such as the button of the next version, or else to the field for messages.
 */
export function keptFocus(log: HTMLElement, before: readonly HTMLElement[]): (after: readonly HTMLElement[]) => void {
  const root = log.getRootNode() as ShadowRoot;
  const active = root.activeElement;
  const place = active ? before.findIndex((node) => node.contains(active)) : -1;
  return (after) => {
    if (!active || place < 0 || active.isConnected) return;
    after[place]?.querySelector<HTMLElement>(`[part="${CSS.escape(active.getAttribute('part') ?? '')}"]`)?.focus();
    if (!log.contains(root.activeElement))
      root.querySelector<HTMLElement>('[part~=composer] textarea')?.focus({ preventScroll: true });
  };
}

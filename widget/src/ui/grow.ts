const isNative = (): boolean => CSS.supports('field-sizing', 'content');

/** Grows a field with its text, where the browser does not do that itself. */
export function grow(field: HTMLTextAreaElement): void {
  if (isNative()) return;
  field.style.blockSize = '';
  field.style.blockSize = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

/** Grows a field when it is shown, and when its width changes. A change of its size waits for the next frame. */
export function watchWidth(field: HTMLTextAreaElement): void {
  if (!isNative()) new ResizeObserver(() => requestAnimationFrame(() => grow(field))).observe(field);
}

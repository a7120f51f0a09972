import { write } from '../components/clipboard.js';

/** The time for which a button says that the code was copied, in milliseconds. */
const SHOWN = 2_000;

/** Copies the code of the block whose button was clicked. */
export async function copyCode(event: Event, texts: { copy: string; copied: string }): Promise<void> {
  const button = (event.target as Element).closest<HTMLButtonElement>('.code-copy');
  const code = button?.closest('.code')?.querySelector('code');
  if (!button || !code || !(await write(code.textContent.replace(/\n$/, ''), button.parentElement!))) return;
  button.textContent = texts.copied;
  setTimeout(() => (button.textContent = texts.copy), SHOWN);
}

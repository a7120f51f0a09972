import type { Local } from './builtin.js';

/** The state of an answer that the user gives. */
export interface Sending {
  sending: boolean;
  failed: boolean;
}

/** Draws the instance before and after an answer is sent. */
export async function send(draft: Sending, local: Local, answer: () => Promise<void>): Promise<void> {
  draft.sending = true;
  draft.failed = false;
  local.repaint();
  try {
    await answer();
  } catch {
    draft.failed = true;
  }
  draft.sending = false;
  local.repaint();
}

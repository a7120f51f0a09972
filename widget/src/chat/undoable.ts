/** A call that has changed the page. */
export interface UndoableCall {
  readonly toolCallId: string;
  /** The label of the button that undoes it. */
  readonly title: string;
  /** Restores what the call has changed, and removes it from {@link undoable}. Returns the names of the fields. */
  undo(): Promise<Undone>;
  /** Is called when the call is undone. */
  onUndone?: () => void;
}

export interface Undone {
  restored: string[];
  /** Fields that the user or a later call has changed since then. */
  kept: string[];
}

/** The calls whose changes to the page can be undone, the oldest first. They last as long as the page. */
export const undoable = new Set<UndoableCall>();

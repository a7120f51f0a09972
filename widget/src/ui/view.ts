import type { Chat } from '../chat/types.js';
import type { Drafts } from './drafts.js';
import type { Texts } from './texts.js';

/** A part of the page that is made once and updated. */
export interface View {
  readonly node: HTMLElement;
  /** Shows the current data. Nodes that are still right stay the same nodes. */
  update(): void;
  /** Ends timers and listeners. Default: nothing to end. */
  remove?(): void;
}

/** The settings and functions that views share. */
export interface ViewContext {
  readonly chat: Chat;
  readonly drafts: Drafts;
  readonly texts: Texts;
  /** The language of numbers and dates, such as `de`. */
  readonly locale: string;
  /** The origins of images besides the page's own. */
  readonly imageOrigins: readonly string[];
  /** Says a sentence to screen readers. */
  announce(sentence: string): void;
  /** Fires an event of the element, such as `omni-feedback`. Returns `false` if a listener prevented the default. */
  fire(type: string, detail: unknown): boolean;
  /** Returns `true` if the page has an element for a slot, such as `tool-refund_order`. */
  slotted(name: string): boolean;
}

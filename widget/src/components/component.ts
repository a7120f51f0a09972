import type { Path, Status } from './growing.js';
import type { Schema } from './settle.js';
import type { Texts } from './texts.js';

/** A render of a component, as the stream of the assistant has it so far. */
export interface Part {
  /** The name of the component, without `ui_`. */
  component: string;
  instanceId: string;
  /** The properties: the JSON text so far, or the object of a client that repairs the text itself. */
  props: unknown;
  /** The state of the instance. A state that differs from the last one given replaces the state on the page. */
  state?: unknown;
  status: 'streaming' | 'complete' | 'error';
  /** The reason of the status `error`. */
  error?: string;
  /** The answer of the user, if the component waits for one and has it. */
  output?: unknown;
  /** The reason that the user can no longer answer. */
  closed?: string;
}

/** Returns a status by path, or by the name of a property. */
export type StatusOf = (path: string | Path) => Status;

/** The data and the functions that a component can use. */
export interface ComponentContext<P = unknown, S = Record<string, unknown>> {
  /** The properties so far. Half an enum, number, URL or date is never among them, nor an invalid member. */
  readonly props: P;
  /** Returns the status of a property. */
  readonly status: StatusOf;
  /** `true` once all properties have arrived. */
  readonly complete: boolean;
  /** The state of the instance. Properties never change it. */
  readonly state: S;
  /** The answer of the user, or `undefined`. */
  readonly output: unknown;
  /** The reason that the user can no longer answer. */
  readonly closed: string | undefined;
  readonly instanceId: string;
  /** Aborted when the component is unmounted. */
  readonly signal: AbortSignal;
  /** The language of numbers and dates. */
  readonly locale: string;
  readonly theme: 'light' | 'dark';
  /** The words that components show. */
  readonly texts: Texts;
  /** The origins of images besides the page's own. */
  readonly imageOrigins: readonly string[];
  /** Changes some members of the state. */
  setState(patch: Partial<S>): void;
  /** Runs an action of the component at the server. */
  dispatch(action: string, payload?: unknown): Promise<void>;
  /** Answers a component that waits for the user. */
  respond(output: unknown): Promise<void>;
}

/**
 * A component. Each mount calls the hooks on an object of its own that inherits from the component, so `this` can hold
 * what one instance needs.
 */
export interface Component {
  /** The schema of the properties. */
  readonly schema: Schema;
  /** A style sheet. The component is then drawn in a shadow root that adopts it. Default: none, in the page's tree. */
  readonly sheet?: () => CSSStyleSheet;
  /** Draws the component into an empty element. */
  render(root: HTMLElement | ShadowRoot, context: ComponentContext): void;
  /** Shows changed properties or state. Default: the element is emptied and `render` is called again. */
  update?(context: ComponentContext): void;
  /** Ends the instance. Default: nothing. */
  unmount?(): void;
}

/** The functions and settings that a page gives its components. */
export interface Hooks {
  /**
   * The thread of the part. A later part of the thread that shows an instance again is drawn at the place of the first one.
   * Default: none; each part is drawn at its own place.
   */
  thread?: object;
  /** Keeps a change of the state. Default: the change lasts as long as the mount. */
  setState?(patch: Record<string, unknown>, instanceId: string): void;
  /** Runs an action at the server. Default: an action is refused. */
  dispatch?(action: string, payload?: unknown): Promise<void> | void;
  /** Sends the answer of the user. Default: an answer is refused. */
  respond?(output: unknown): Promise<void> | void;
  /** Receives the error of a component that failed. Default: the error is logged. */
  componentError?(event: { componentName: string; instanceId: string; error: unknown }): void;
  /** The origins of images besides the page's own. Default: none. */
  imageOrigins?: readonly string[];
  /** The language of numbers and dates. Default: the language of the document, or of the browser. */
  locale?: string;
  /** The colour scheme. Default: the one of the element. */
  theme?: 'light' | 'dark';
  /** Replaces words that components show. Default: English. */
  texts?: Partial<Texts>;
}

/** A context of which only the parts that all components share are used. */
export type AnyContext = ComponentContext<unknown, unknown>;

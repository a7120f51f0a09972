/** The names of the components. */
export type ComponentName = keyof OmniComponents & string;

/** The output of a call that shows a component. */
export type UiRendered = {
  /** The instance, unique within the conversation. */
  instanceId: string;
  componentName: string;
  rendered: boolean;
  /** A rendering of the server, if the component has one. */
  element?: unknown;
};

/** Props that are still being written: each property, and the end of each list, may be missing. */
export type Growing<T> = T extends readonly (infer Item)[]
  ? Growing<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Growing<T[Key]> }
    : T;

/** The state of an instance: the data of `data-ui-state` parts, whose `id` is the instance. */
export type UiState<K extends ComponentName = ComponentName> = {
  [Name in K]: {
    component: Name;
    /** The server raises it with each of its changes. */
    rev: number;
    /** The part that the page may change. */
    state: OmniComponents[Name]["state"];
    /** The part that only the server may change. */
    server?: OmniComponents[Name]["server"];
    /** Proof of everything but `state`. Post it back as it is. */
    seal?: string;
  };
}[K];

/** A component that the server shows: the data of `data-ui` parts, whose `id` is the instance. */
export type UiShown<K extends ComponentName = ComponentName> =
  | {
      [Name in K]:
        | { component: Name; props: OmniComponents[Name]["props"]; status: "complete" }
        | { component: Name; props: Growing<OmniComponents[Name]["props"]>; status: "streaming" };
    }[K]
  | { component: string; props: unknown; status: "error"; error: string };

/** An event for an instance: the data of transient `data-ui-event` parts. The result of an action has the type `result`. */
export type UiEvent = { instanceId: string; type: string; data: unknown };

/** The body of `POST /ui/{instance}/{action}`: the state as the page has it, and the arguments of the action. The body of
 * `PUT /ui/{instance}/state` is the same without `payload`. */
export type UiActionBody<
  K extends ComponentName = ComponentName,
  A extends keyof OmniComponents[K]["actions"] = keyof OmniComponents[K]["actions"],
> = {
  chatId: string;
  component: K;
  /** Default: `{}`. */
  payload?: OmniComponents[K]["actions"][A];
  rev: number;
  state?: OmniComponents[K]["state"];
  server?: OmniComponents[K]["server"];
  seal?: string;
};

/** The progress of a property. */
export type ComponentStatus = "pending" | "streaming" | "done";

/** The instance that a component draws. `complete` tells whether all props have arrived. */
export type ComponentContext<K extends ComponentName = ComponentName> = (
  | { readonly complete: true; readonly props: OmniComponents[K]["props"] }
  | { readonly complete: false; readonly props: Growing<OmniComponents[K]["props"]> }
) & {
  readonly instanceId: string;
  readonly state: OmniComponents[K]["state"];
  /** Aborted when the component is unmounted. */
  readonly signal: AbortSignal;
  readonly locale: string;
  readonly theme: "light" | "dark";
  /** Returns the status of a property. */
  status(path: string | (string | number)[]): ComponentStatus;
  /** Changes some members of the state. */
  setState(patch: Partial<OmniComponents[K]["state"]>): void;
  /** Calls an action of the component. */
  dispatch<A extends keyof OmniComponents[K]["actions"]>(
    action: A,
    ...payload: {} extends OmniComponents[K]["actions"][A]
      ? [payload?: OmniComponents[K]["actions"][A]]
      : [payload: OmniComponents[K]["actions"][A]]
  ): Promise<void>;
  /** Answers a component that waits for the user. No other component takes an answer. */
  respond(output: OmniComponents[K]["output"] extends UiRendered ? never : OmniComponents[K]["output"]): void;
};

/** A component of the page. */
export type Component<K extends ComponentName = ComponentName> = {
  /** The JSON Schema of the props, as in `manifest.json`. */
  schema: object;
  /** Draws the component into an empty element. */
  render(root: HTMLElement, context: ComponentContext<K>): void;
  /** Shows changed props or state. Default: `render` is called again. */
  update?(context: ComponentContext<K>): void;
  /** Ends the instance. */
  unmount?(): void;
};

/** `registerComponent` of the browser's module, for the components of this assistant. Import it as a type: this file has no
 * code. */
export declare function registerComponent<K extends ComponentName>(name: K, component: Component<K>): void;

import { isObject } from '../object.js';
import { filled } from '../ui/dom.js';
import { sheet } from './builtin.js';
import type { Component, ComponentContext, Hooks, Part } from './component.js';
import { fallback, messageOf } from './fallback.js';
import { Growing } from './growing.js';
import { draw } from './node.js';
import { components, onComponent } from './registry.js';
import { type Repaired, repair } from './repair.js';
import { settle } from './settle.js';
import { ENGLISH, type Texts } from './texts.js';

/** The longest text of properties, in UTF-16 units. */
const PROPS_LIMIT = 256 * 1024;
/** The parts of the built-in components that a page outside can style, for `::part` through one more shadow root. */
const PARTS = 'figure,title,subtitle,text,link,button,image,item,detail,note,fallback,input,option,table,chart,card';

const mounted = new Set<Mounted>();
const waiting = new Set<Mounted>();

onComponent(() => {
  for (const one of mounted) one.request();
});

/** Draws a part of an answer into `root`, and redraws it once per frame after each `update`. */
export function mount(
  root: HTMLElement | ShadowRoot,
  part: Part,
  hooks: Hooks = {},
): { update(part: Part): void; unmount(): void } {
  const one = new Mounted(root, part, hooks);
  return { update: (next) => one.update(next), unmount: () => one.unmount() };
}

/** The mounts of each thread that show one instance, in the order in which they began to. */
const threads = new WeakMap<object, Map<string, Mounted[]>>();

class Mounted {
  readonly #home: HTMLElement | ShadowRoot;
  #root: HTMLElement | ShadowRoot;
  /** The instance among those of the thread. */
  #instanceKey = '';
  #isReplaced = false;
  #part: Part;
  #hooks: Hooks;
  #texts: Texts;
  #state: Record<string, unknown>;
  /** The last state that the page gave. */
  #given: string;
  #answer: unknown;
  #growing = new Growing();
  #read = '';
  #stage: HTMLElement | undefined;
  #instance: { component: Component; hooks: Component } | undefined;
  readonly #reported = new Set<string>();
  #end = new AbortController();

  constructor(root: HTMLElement | ShadowRoot, part: Part, hooks: Hooks) {
    this.#home = root;
    this.#root = root;
    this.#part = part;
    this.#hooks = hooks;
    this.#texts = { ...ENGLISH, ...hooks.texts };
    this.#given = JSON.stringify(part.state) ?? '';
    this.#state = record(part.state);
    mounted.add(this);
    this.paint();
  }

  update(part: Part): void {
    this.#part = part;
    const given = JSON.stringify(part.state) ?? '';
    if (part.state !== undefined && given !== this.#given) {
      this.#given = given;
      this.#state = record(part.state);
    }
    this.request();
  }

  /** Asks for a redraw in the next frame. */
  request(): void {
    if (!mounted.has(this)) return;
    if (!waiting.size) requestAnimationFrame(paintAll);
    waiting.add(this);
  }

  unmount(): void {
    if (!mounted.delete(this)) return;
    waiting.delete(this);
    this.#join('');
    this.#clear();
  }

  paint(): void {
    const part = this.#part;
    this.#join(this.#shownInstance());
    if (this.#isReplaced) return;
    try {
      const component = components.get(part.component);
      if (part.status === 'error') return this.#fail(part.error ?? '');
      if (!component) return this.#fail(undefined);
      if (typeof part.props === 'string' && part.props.length > PROPS_LIMIT) {
        return this.#fail(filled(this.#texts.tooLarge, { limit: PROPS_LIMIT / 1024 }));
      }
      const settled = settle(this.#source(), component.schema);
      const repaired = repair(settled, component.schema, part.status === 'complete');
      if (part.status === 'complete' && repaired.props === undefined) {
        const [first] = settled.errors;
        const reason =
          this.#growing.error ?? (first ? `${first.path.slice(1)} ${first.message}`.trim() : this.#texts.incomplete);
        return this.#fail(filled(this.#texts.invalid, { reason }));
      }
      this.#show(component, repaired);
    } catch (error) {
      this.#fail(messageOf(error));
      this.#report(error);
    }
  }

  /** Reports an error of the component, once for each message. */
  #report(error: unknown): void {
    const message = messageOf(error);
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    const { component: componentName, instanceId } = this.#part;
    if (this.#hooks.componentError) this.#hooks.componentError({ componentName, instanceId, error });
    else console.error(`Component ${componentName} failed:`, error);
  }

  /** Returns the instance that the part shows: the one that its properties name, if the thread shows it, or its own. */
  #shownInstance(): string {
    const { thread } = this.#hooks;
    const { component, instanceId, props } = this.#part;
    if (!thread) return '';
    const isTooLong = typeof props === 'string' && props.length > PROPS_LIMIT;
    const named = isTooLong ? undefined : record(this.#source().value).instanceId;
    const key = `${component}/${typeof named === 'string' ? named : ''}`;
    return threads.get(thread)?.has(key) ? key : `${component}/${instanceId}`;
  }

  /** Shows another instance. Of several mounts of one instance, the last is shown, at the place of the first. */
  #join(key: string): void {
    const { thread } = this.#hooks;
    if (!thread || key === this.#instanceKey) return;
    const instances = threads.get(thread) ?? new Map<string, Mounted[]>();
    threads.set(thread, instances);
    const left = instances.get(this.#instanceKey)?.filter((one) => one !== this) ?? [];
    instances.delete(this.#instanceKey);
    if (left.length) instances.set(this.#instanceKey, left);
    this.#instanceKey = key;
    const joined = key ? [...(instances.get(key) ?? []), this] : [];
    if (key) instances.set(key, joined);
    for (const group of [left, joined]) {
      // A page may remove an element without an unmount.
      const first = group.find((one) => one.#home.isConnected) ?? group.at(-1);
      if (first) for (const one of group) one.#move(first.#home, one === group.at(-1));
    }
  }

  #move(place: HTMLElement | ShadowRoot, isShown: boolean): void {
    if (!isShown) {
      this.#isReplaced = true;
      this.#clear();
      return;
    }
    if (this.#root !== place && this.#stage) place.append(this.#stage);
    this.#root = place;
    if (this.#isReplaced) {
      this.#isReplaced = false;
      this.request();
    }
  }

  /** Reads what is new of the text, or takes the object of a client that repaired it. */
  #source() {
    const { props, status } = this.#part;
    if (typeof props !== 'string') return { value: props ?? {}, open: status !== 'complete' };
    if (!props.startsWith(this.#read)) {
      this.#growing = new Growing();
      this.#read = '';
    }
    this.#growing.push(props.slice(this.#read.length));
    this.#read = props;
    if (status === 'complete') this.#growing.end();
    return this.#growing;
  }

  #show(component: Component, { props, status }: Repaired): void {
    // `#open` ends the instance of another component.
    const stage = this.#instance?.component !== component && this.#open(component.sheet);
    const context = this.#context(props ?? {}, status);
    const { hooks } = (this.#instance ??= { component, hooks: Object.create(component) as Component });
    if (stage) return hooks.render(stage, context);
    this.#mark();
    if (hooks.update) return hooks.update(context);
    const root = this.#stage?.shadowRoot ?? this.#stage;
    root?.replaceChildren();
    if (root) hooks.render(root, context);
  }

  /** Shows the name, the message and the content of the part as text. `undefined`: the component is unknown. */
  #fail(message: string | undefined): void {
    const { component, props } = this.#part;
    const stage = this.#instance || !this.#stage?.shadowRoot ? this.#open(sheet) : this.#stage.shadowRoot;
    this.#mark();
    draw(stage, [fallback(component, message, props, this.#texts)]);
  }

  /** Replaces what is shown by an empty element. */
  #open(styles: Component['sheet']): HTMLElement | ShadowRoot {
    this.#clear();
    const stage = document.createElement('div');
    this.#stage = stage;
    this.#mark();
    this.#root.append(stage);
    if (!styles) return stage;
    stage.setAttribute('exportparts', PARTS);
    const shadow = stage.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = [styles()];
    return shadow;
  }

  #mark(): void {
    const { component, instanceId, status } = this.#part;
    const marks = { component, instance: instanceId, status, ...(this.#hooks.theme && { theme: this.#hooks.theme }) };
    if (this.#stage) Object.assign(this.#stage.dataset, marks);
  }

  #clear(): void {
    const instance = this.#instance;
    this.#instance = undefined;
    try {
      instance?.hooks.unmount?.();
    } catch (error) {
      this.#report(error);
    } finally {
      this.#stage?.remove();
      this.#stage = undefined;
      this.#end.abort();
      this.#end = new AbortController();
    }
  }

  #context(props: unknown, status: Repaired['status']): ComponentContext {
    const part = this.#part;
    const hooks = this.#hooks;
    const refuse = (what: string) => Promise.reject(new Error(`The page accepts no ${what}.`));
    const host = this;
    return {
      props,
      status: (path) => status(typeof path === 'string' ? [path] : path),
      complete: part.status === 'complete',
      get state() {
        return host.#state;
      },
      get output() {
        return host.#part.output ?? host.#answer;
      },
      get theme() {
        return host.#theme();
      },
      closed: part.closed,
      instanceId: part.instanceId,
      signal: this.#end.signal,
      locale: language(hooks.locale),
      texts: this.#texts,
      imageOrigins: hooks.imageOrigins ?? [],
      setState: (patch) => {
        this.#state = { ...this.#state, ...patch };
        this.request();
        hooks.setState?.(patch, this.#part.instanceId);
      },
      dispatch: async (action, payload) => (hooks.dispatch ? hooks.dispatch(action, payload) : refuse('action')),
      respond: async (output) => {
        await (hooks.respond ? hooks.respond(output) : refuse('answer'));
        this.#answer = output;
        this.request();
      },
    };
  }

  #theme(): 'light' | 'dark' {
    const scheme = this.#hooks.theme ?? (this.#stage ? getComputedStyle(this.#stage).colorScheme : '');
    if (!scheme.includes('dark')) return 'light';
    return scheme.includes('light') && !matchMedia('(prefers-color-scheme: dark)').matches ? 'light' : 'dark';
  }
}

function paintAll(): void {
  const all = [...waiting];
  waiting.clear();
  for (const one of all) one.paint();
}

function record(state: unknown): Record<string, unknown> {
  return isObject(state) ? { ...state } : {};
}

/** Returns a language that the browser can format for. */
function language(wanted: string | undefined): string {
  for (const one of [wanted, document.documentElement.lang, navigator.language]) {
    try {
      const known = one ? Intl.NumberFormat.supportedLocalesOf(one)[0] : undefined;
      if (known) return known;
    } catch {
      // Not a language tag.
    }
  }
  return 'en';
}

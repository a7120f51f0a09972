import { type Builtin, builtin, frame, more, shown } from './builtin.js';
import type { AnyContext, ComponentContext } from './component.js';
import { fallback, messageOf } from './fallback.js';
import type { Local } from './builtin.js';
import { type Child, h, isFilled } from './node.js';
import { repair } from './repair.js';
import { settle } from './settle.js';

interface Props {
  direction?: 'row' | 'column' | null;
  children?: { component?: string; props?: unknown }[];
}

interface Nested {
  /** The data that each child keeps, by its position. */
  below: { component: string; local: Local & { state?: Record<string, unknown> } }[];
}

/** The deepest nesting of stacks. */
const DEPTH = 4;

/** Makes the component that shows `components` beside or below each other. A failing child does not affect its neighbours. */
export function stackOf(components: readonly Builtin[]): Builtin {
  const byName = new Map(components.map((component) => [component.name as string, component]));

  const child = (
    name: string,
    props: unknown,
    open: boolean,
    context: AnyContext,
    local: Nested['below'][number]['local'],
    depth: number,
  ): Child => {
    const component = byName.get(name);
    const failed = (message: string) => fallback(name, message, props, context.texts);
    if (name === 'stack' && depth >= DEPTH) return failed(context.texts.tooDeep);
    const schema = component?.schema ?? stack.schema;
    const repaired = repair(settle({ value: props ?? {}, open }, schema), schema, !open);
    if (repaired.props === undefined && !open) return failed(context.texts.incomplete);
    const inner = {
      ...context,
      props: repaired.props ?? {},
      status: (path: string | readonly (string | number)[]) =>
        repaired.status(typeof path === 'string' ? [path] : path),
      complete: !open,
      state: (local.state ??= {}),
      setState(patch: Record<string, unknown>) {
        Object.assign((local.state ??= {}), patch);
        local.repaint();
      },
    } as ComponentContext;
    try {
      return component
        ? component.paint(inner, local)
        : paint(inner as ComponentContext<Props, unknown>, local as Local & Partial<Nested>, depth + 1);
    } catch (error) {
      return failed(messageOf(error));
    }
  };

  const paint = (context: ComponentContext<Props, unknown>, local: Local & Partial<Nested>, depth = 1): Child => {
    const { direction, children } = context.props;
    const below = (local.below ??= []);
    const items = shown(children).map(({ component, props }, index) => {
      if (!component) return null;
      if (below[index]?.component !== component)
        below[index] = { component, local: { root: local.root, repaint: local.repaint } };
      const open = context.status(['children', index, 'props']) !== 'done';
      return h(
        'div',
        { part: 'child', key: `${index} ${component}` },
        child(component, props, open, context, (below[index] as Nested['below'][number]).local, depth),
      );
    });
    const content = [items, more(children?.length, context)];
    return h(
      'div',
      { part: `stack ${direction ?? 'column'}` },
      isFilled(items) ? content : [null, frame('loading', null, context)],
    );
  };

  const stack = builtin<Props, unknown, Nested>('stack', paint);
  return stack;
}

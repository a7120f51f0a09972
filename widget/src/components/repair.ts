// Makes invalid properties showable: the default, else without the optional member, else without the array item.

import type { Path, Status } from './growing.js';
import { escaped, memberSchema, own, reference, type Rules, type Schema, type Settled } from './settle.js';

/** Properties without invalid parts. */
export interface Repaired {
  /** `undefined` if nothing can be shown. A closed valid part is the same object at each call. */
  props: unknown;
  /** Returns the status of a value by its path in `props`. */
  status(path: Path): Status;
}

/** Closed values that need no repair, with their schema. They are not read again while the rest grows. */
const sound = new WeakMap<object, Schema | undefined>();

/**
 * Removes the invalid closed parts of `settled`. While properties are open, a missing required member is no error.
 * An item that may be `null` becomes `null` instead of disappearing, so that its neighbours keep their place.
 */
export function repair(settled: Settled, schema: Schema, complete: boolean): Repaired {
  const invalid = new Set(settled.errors.map((error) => error.path));
  /** The items that are left of each array, by the array's pointer in `settled`. */
  const left = new Map<string, number[]>();

  const walk = (value: unknown, at: Schema | undefined, path: Path, pointer: string): unknown => {
    if (value === undefined || invalid.has(pointer)) return structuredClone(resolve(at, schema).default);
    if (typeof value !== 'object' || value === null || (sound.has(value) && sound.get(value) === at)) return value;
    const keywords = resolve(at, schema);
    const closed = complete || settled.status(path) === 'done';
    const kept = Array.isArray(value)
      ? items(value, keywords, path, pointer)
      : members(value as Rules, keywords, closed, path, pointer);
    if (kept === value && closed) sound.set(value, at);
    return kept;
  };

  const items = (value: readonly unknown[], keywords: Rules, path: Path, pointer: string): unknown => {
    const indices: number[] = [];
    const kept: unknown[] = [];
    value.forEach((item, index) => {
      const at = memberSchema(keywords, index);
      let one = walk(item, at, [...path, index], `${pointer}/${index}`);
      if (one === undefined && admitsNull(at, schema)) one = null;
      if (one === undefined) return;
      indices.push(index);
      kept.push(one);
    });
    if (kept.length < value.length) left.set(pointer, indices);
    return kept.length === value.length && kept.every((one, index) => one === value[index]) ? value : kept;
  };

  const members = (value: Rules, keywords: Rules, closed: boolean, path: Path, pointer: string): unknown => {
    const known = (keywords.properties ?? {}) as Record<string, Schema>;
    const names = Object.keys(value).filter(
      (name) => Object.hasOwn(known, name) || keywords.additionalProperties !== false,
    );
    if (closed) names.push(...Object.keys(known).filter((name) => !Object.hasOwn(value, name)));
    const kept: [string, unknown][] = [];
    for (const name of names) {
      const one = walk(own(value, name), memberSchema(keywords, name), [...path, name], `${pointer}/${escaped(name)}`);
      if (one !== undefined) kept.push([name, one]);
      else if (closed && (keywords.required as string[] | undefined)?.includes(name))
        return structuredClone(keywords.default);
    }
    const same = kept.length === Object.keys(value).length && kept.every(([name, one]) => one === value[name]);
    return same ? value : Object.fromEntries(kept);
  };

  const props = walk(settled.props, schema, [], '');
  return {
    props,
    status(path) {
      let pointer = '';
      const original = path.map((key) => {
        const index = typeof key === 'number' ? (left.get(pointer)?.[key] ?? key) : key;
        pointer += `/${escaped(index)}`;
        return index;
      });
      return settled.status(original);
    },
  };
}

/** Follows references, and takes the alternative that is not `null`. */
function resolve(schema: Schema | undefined, root: Schema, depth = 0): Rules {
  if (typeof schema !== 'object' || depth > 8) return {};
  if (typeof schema.$ref === 'string')
    return { ...resolve(reference(schema, root), root, depth + 1), ...('default' in schema && { default: schema.default }) };
  const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  const chosen = alternatives?.find((one) => resolve(one, root, depth + 1).type !== 'null');
  return chosen === undefined ? schema : { ...resolve(chosen, root, depth + 1), ...schema };
}

function admitsNull(schema: Schema | undefined, root: Schema): boolean {
  if (typeof schema !== 'object') return false;
  const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  const { type } = alternatives ? schema : resolve(schema, root);
  return (
    type === 'null' ||
    (Array.isArray(type) && type.includes('null')) ||
    !!alternatives?.some((one) => admitsNull(one, root))
  );
}

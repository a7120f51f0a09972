import { isObject } from '../object.js';
import { type Growing, type Path, type Status, statusAt } from './growing.js';

/** A JSON Schema, as the model received it. References must be local (`#/$defs/Name`); others are ignored. */
export type Schema = { readonly [keyword: string]: unknown } | boolean;

/** A value that does not match its schema. The path is a JSON pointer, also that of a member that is missing. */
export interface Mismatch {
  path: string;
  /** The keyword of the schema, with its value. The page shows it within a sentence in any language. */
  message: string;
}

/** The properties that can be shown. */
export interface Settled {
  /**
   * The value without an open part that has another meaning than the whole, such as half a URL. It is the value itself
   * if nothing is omitted, so it may grow in place.
   */
  props: unknown;
  /** Returns the status of the value at a path. */
  status(path: Path): Status;
  /** The mismatches in complete values. Of an open value, only its type is checked. */
  errors: Mismatch[];
}

/** A value that another parser repaired. While it is open, the last member at each level is open. */
export interface Repaired {
  value: unknown;
  open: boolean;
}

/** The keywords of a schema. */
export type Rules = Record<string, unknown>;

/** Returns the part of a growing value that can be shown, with the mismatches in its complete parts. */
export function settle(source: Growing | Repaired, schema: Schema): Settled {
  const { value } = source;
  const open = source.open === true ? lastMembers(value) : source.open || undefined;
  const depth = open && hiddenDepth(value, open, schema);
  const props = depth === undefined ? value : without(value, open!.slice(0, depth));
  return {
    props,
    status: (path) => statusAt(value, open, path),
    errors: value === undefined ? [] : mismatches(value, schema, { root: schema, checked: new WeakMap(), path: '', open, from: [] }),
  };
}

/** Returns the path of the last member at each level. */
function lastMembers(value: unknown): Path {
  const path: (string | number)[] = [];
  for (let members = entries(value); members.length > 0; members = entries(value)) {
    const [member, last] = members.at(-1)!;
    path.push(member);
    value = last;
  }
  return path;
}

/** Returns the depth of the outermost open value that is omitted. */
function hiddenDepth(value: unknown, open: Path, root: Schema): number | undefined {
  let schemas = [root];
  for (let depth = 0; value !== undefined; depth++) {
    const applicable = branches(schemas, value, root);
    if (isAtomic(applicable, value)) return depth;
    const step = open[depth];
    if (step === undefined) return undefined;
    schemas = applicable.map((schema) => memberSchema(schema, step)).filter((schema) => schema !== undefined);
    value = own(value, step);
  }
  return undefined;
}

function isAtomic(schemas: Rules[], value: unknown): boolean {
  const has = (keyword: string) => schemas.some((schema) => schema[keyword] !== undefined);
  const streams = (mode: string) => schemas.some((schema) => schema['x-stream'] === mode);
  const isText = typeof value === 'string';
  // The last part of a number or word may be missing.
  if (!isText && (typeof value !== 'object' || value === null)) return true;
  if (streams('atomic') || streams('text')) return streams('atomic');
  return has('enum') || has('const') || (isText && (has('format') || has('pattern')));
}

/** Returns a copy of a value without the member at a path. */
function without(value: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  const members = entries(value).flatMap(([key, member]): [string | number, unknown][] => {
    const kept = key === step ? without(member, rest) : member;
    return kept === undefined ? [] : [[key, kept]];
  });
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** The mismatches of values, by schema and value. */
type Checked = WeakMap<object, WeakMap<object, Mismatch[]>>;

/** Those of complete values, which do not change. */
const complete: Checked = new WeakMap();

/** A value on the way through its schema. */
interface Place {
  root: Schema;
  /** The mismatches of open values in this call. */
  checked: Checked;
  path: string;
  /** The path to the innermost open value, if this value is open. */
  open: Path | undefined;
  /** The schemas that refer to the current one for the same value. */
  from: Schema[];
}

function mismatches(value: unknown, schema: Schema, place: Place): Mismatch[] {
  if (typeof schema === 'boolean') return schema ? [] : [{ path: place.path, message: 'false' }];
  if (place.from.includes(schema)) return [];
  if (typeof value !== 'object' || value === null) return check(value, schema, place);
  const checked = place.open ? place.checked : complete;
  let known = checked.get(schema);
  if (!known) checked.set(schema, (known = new WeakMap()));
  let found = known.get(value);
  if (!found) {
    found = check(value, schema, place);
    // The same object may be at two paths, and a mismatch has one.
    if (found.length === 0) known.set(value, found);
  }
  return found;
}

function check(value: unknown, schema: Rules, place: Place): Mismatch[] {
  const { root, path, open } = place;
  if (!mayBe(schema, value)) return [{ path, message: `type ${[schema.type].flat().join(' | ')}` }];
  const errors: Mismatch[] = open ? [] : checkWhole(value, schema, path);
  for (const [key, member] of entries(value)) {
    const rules = memberSchema(schema, key);
    if (rules === undefined) continue;
    const below = { path: `${path}/${escaped(key)}`, open: open?.[0] === key ? open.slice(1) : undefined, from: [] };
    errors.push(...mismatches(member, rules, { ...place, ...below }));
  }
  const apply = (part: unknown) => mismatches(value, part as Schema, { ...place, from: [...place.from, schema] });
  errors.push(...[reference(schema, root) ?? true, ...list(schema.allOf)].flatMap(apply));
  for (const keyword of ['anyOf', 'oneOf']) {
    const results = list(schema[keyword]).map(apply);
    if (results.length === 0 || results.some((found) => found.length === 0)) continue;
    // A branch of the same type says most about the value.
    const closest = results.find((found) => found.every((error) => error.path !== path));
    errors.push(...(closest ?? [{ path, message: results.flat().map(({ message }) => message).join(' | ') }]));
  }
  return errors;
}

type Measure = (value: unknown) => number | undefined;

const atLeast = (found: number, bound: number): boolean => found >= bound;
const atMost = (found: number, bound: number): boolean => found <= bound;

/** The keywords that compare a measure of the value with a number. */
const BOUNDS: [string, Measure, (found: number, bound: number) => boolean][] = [
  ['minimum', asNumber, atLeast],
  ['maximum', asNumber, atMost],
  ['exclusiveMinimum', asNumber, (found, bound) => found > bound],
  ['exclusiveMaximum', asNumber, (found, bound) => found < bound],
  ['minLength', characters, atLeast],
  ['maxLength', characters, atMost],
  ['minItems', items, atLeast],
  ['maxItems', items, atMost],
];

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function characters(value: unknown): number | undefined {
  return typeof value === 'string' ? [...value].length : undefined;
}

function items(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

/** Checks the keywords that need the complete value. */
function checkWhole(value: unknown, schema: Rules, path: string): Mismatch[] {
  const errors: Mismatch[] = [];
  const fail = (message: string, at = path) => errors.push({ path: at, message });
  const allowed = 'const' in schema ? [schema.const] : (schema.enum as unknown[] | undefined);
  if (allowed && !allowed.some((one) => same(one, value))) fail(`enum ${JSON.stringify(allowed)}`);
  for (const [keyword, measure, holds] of BOUNDS) {
    const [bound, found] = [schema[keyword], measure(value)];
    if (typeof bound === 'number' && found !== undefined && !holds(found, bound)) fail(`${keyword} ${bound}`);
  }
  for (const key of isObject(value) ? (list(schema.required) as string[]) : []) {
    if (own(value, key) === undefined) fail('required', `${path}/${escaped(key)}`);
  }
  return errors;
}

function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the schemas with all that they refer to, without those that a value cannot match. */
function branches(schemas: Schema[], value: unknown, root: Schema): Rules[] {
  const found = new Set<Rules>();
  const add = (schema: unknown): void => {
    if (!isObject(schema) || found.has(schema) || !mayBe(schema, value)) return;
    found.add(schema);
    add(reference(schema, root));
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) list(schema[keyword]).forEach(add);
  };
  schemas.forEach(add);
  return [...found];
}

/** Returns the schema that a schema refers to. */
export function reference(schema: Rules, root: Schema): Schema | undefined {
  const path = schema.$ref;
  if (typeof path !== 'string' || !path.startsWith('#')) return undefined;
  let target: unknown = root;
  for (const step of path.split('/').slice(1)) target = own(target, step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return target as Schema | undefined;
}

function mayBe(schema: Rules, value: unknown): boolean {
  const types = schema.type;
  if (types === undefined) return true;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return [types].flat().some((type) => type === kind || (type === 'integer' && Number.isInteger(value)));
}

/** Returns the schema of a member of an object, or of an item of an array. */
export function memberSchema(schema: Rules, step: string | number): Schema | undefined {
  const [listed, others] =
    typeof step === 'number' ? [schema.prefixItems, schema.items] : [schema.properties, schema.additionalProperties];
  return (own(listed, step) ?? others) as Schema | undefined;
}

function entries(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  return isObject(value) ? Object.entries(value) : [];
}

/** Returns a step of a JSON pointer. */
export function escaped(key: string | number): string {
  return `${key}`.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns a member that a value has itself. */
export function own(value: unknown, step: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Rules)[step] : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

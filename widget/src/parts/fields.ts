// The fields of a form for a JSON Schema. Each checks its value; the server checks all of them against the schema again.

import { element, filled, setAttribute } from '../ui/dom.js';
import { counted, type Texts } from '../ui/texts.js';
import { freshId, titled } from './kinds.js';

export type Schema = Record<string, unknown>;

export interface Field {
  readonly name: string;
  readonly node: HTMLElement;
  /** The node that gets the focus. */
  readonly control: HTMLElement;
  /** Returns the value. `undefined`: the field is empty. */
  read(): unknown;
  /** Checks the value and shows the result. Returns the message, if there is one. */
  check(): string;
}

interface Control {
  /** The node that shows the control. */
  readonly node: HTMLElement;
  /** The node that gets the focus. Default: `node`. */
  readonly focus?: HTMLElement;
  read(): unknown;
}

/** Texts that may be longer than this get a field of several lines, as those with line breaks do. */
const ONE_LINE = 200;
const INPUTS: Record<string, string> = { date: 'date', email: 'email', time: 'time', uri: 'url' };
/** The value of a field whose text is no JSON, or no date or time. */
const BROKEN = Symbol('broken');

const typeOf = ({ type }: Schema): unknown => [type ?? 'string'].flat().find((one) => one !== 'null');

/** Returns the values and titles that a schema lists. */
function optionsOf(schema: Schema): [value: unknown, title: string][] | undefined {
  const { enum: values, enumNames: names, const: only } = schema;
  if (only !== undefined) return [[only, String(schema['title'] ?? only)]];
  if (Array.isArray(values)) return values.map((value, at) => [value, String((names as unknown[])?.[at] ?? value)]);
  const listed = (schema['oneOf'] ?? schema['anyOf']) as Schema[] | undefined;
  if (!Array.isArray(listed) || !listed.every((one) => Object(one)['const'] !== undefined)) return undefined;
  return listed.flatMap((one) => optionsOf(one) ?? []);
}

function choice(options: [unknown, string][], preset: unknown, empty: string): Control {
  const rows = options.map(([, title], at) => element('option', { value: String(at) }, title));
  const node = element('select', { part: 'input' }, element('option', { value: '' }, empty), ...rows);
  const at = options.findIndex(([value]) => value === preset);
  if (at >= 0) node.value = String(at);
  return { node, read: () => (node.value === '' ? undefined : options[Number(node.value)]?.[0]) };
}

function choices(options: [unknown, string][], preset: unknown): Control {
  const boxes = options.map(([value]) => {
    const box = element('input', { type: 'checkbox' });
    box.checked = Array.isArray(preset) && preset.includes(value);
    return box;
  });
  const rows = options.map(([, title], at) => element('label', { part: 'check' }, boxes[at], title));
  const node = element('div', { part: 'checks', role: 'group' }, ...rows);
  const focus = boxes[0] ?? node;
  return { node, focus, read: () => options.flatMap(([value], at) => (boxes[at]?.checked ? [value] : [])) };
}

/** Makes the control for a schema. */
function control(schema: Schema, empty: string): Control & { kind: 'json' | 'check' | 'text' } {
  const { default: preset, format, maxLength } = schema;
  const options = optionsOf(schema);
  if (options?.length) return { kind: 'text', ...choice(options, preset, empty) };
  const type = typeOf(schema);
  const several = type === 'array' ? optionsOf(Object(schema['items'])) : undefined;
  if (several?.length) return { kind: 'text', ...choices(several, preset) };
  if (type === 'boolean') {
    const node = element('input', { type: 'checkbox' });
    node.checked = preset === true;
    return { kind: 'check', node, read: () => node.checked };
  }
  if (type === 'number' || type === 'integer') {
    const node = element('input', { part: 'input', type: 'number', step: 'any', inputmode: 'decimal' });
    if (preset !== undefined) node.value = String(preset);
    return { kind: 'text', node, read: () => (node.validity.badInput ? NaN : node.value === '' ? undefined : Number(node.value)) };
  }
  if (type === 'string') {
    const kind = INPUTS[format as string];
    const isLong = !kind && ((maxLength as number) > ONE_LINE || String(preset ?? '').length > ONE_LINE || /[\r\n]/.test(String(preset)));
    const node = isLong
      ? element('textarea', { part: 'input', rows: '3', dir: 'auto' })
      : element('input', { part: 'input', type: kind ?? 'text', dir: 'auto' });
    if (preset !== undefined) node.value = String(preset);
    return { kind: 'text', node, read: () => (node.validity.badInput ? BROKEN : node.value || undefined) };
  }
  const node = element('textarea', { part: 'input', rows: '3', spellcheck: 'false', dir: 'auto' });
  if (preset !== undefined) node.value = JSON.stringify(preset);
  const read = () => {
    try {
      return node.value.trim() ? (JSON.parse(node.value) as unknown) : undefined;
    } catch {
      return BROKEN;
    }
  };
  return { kind: 'json', node, read };
}

function matches(pattern: unknown, value: string): boolean {
  try {
    return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

/** Returns the reason that a value cannot be sent. */
function fault(value: unknown, schema: Schema, isRequired: boolean, field: string, texts: Texts, locale: string): string {
  const says = (text: string, limit?: unknown) => filled(text, { field, limit: String(limit) });
  const counts = (text: string, count: unknown) => says(counted(text, count as number, locale));
  const { minimum, maximum, minLength, maxLength, minItems, format, pattern } = schema as Record<string, number | undefined>;
  if (value === undefined) return isRequired ? says(texts.fieldMissing) : '';
  if (value === BROKEN) return says(INPUTS[format as unknown as string] ? texts.fieldPattern : texts.fieldJson);
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return says(texts.fieldNumber);
    if (typeOf(schema) === 'integer' && !Number.isInteger(value)) return says(texts.fieldWhole);
    if (value < (minimum ?? value)) return says(texts.fieldMin, minimum);
    if (value > (maximum ?? value)) return says(texts.fieldMax, maximum);
  }
  if (Array.isArray(value)) {
    const least = Math.max(minItems ?? 0, isRequired && optionsOf(Object(schema['items'])) ? 1 : 0);
    if (value.length < least) return counts(texts.fieldItems, least);
  }
  if (typeof value === 'string' && !optionsOf(schema)) {
    const { length } = [...value];
    if (length < (minLength ?? 0)) return counts(texts.fieldShort, minLength);
    if (length > (maxLength ?? length)) return counts(texts.fieldLong, maxLength);
    if ((format as unknown) === 'email' && !/^\S+@\S+\.\S+$/.test(value)) return says(texts.fieldEmail);
    if ((format as unknown) === 'uri' && !URL.canParse(value)) return says(texts.fieldUrl);
    if (!matches(pattern, value)) return says(texts.fieldPattern);
  }
  return '';
}

function fieldOf(name: string, schema: Schema, isRequired: boolean, saysOptional: boolean, texts: Texts, locale: string): Field {
  const title = String(schema['title'] || titled(name));
  const { kind, node: shown, focus = shown, read } = control(schema, isRequired ? texts.choose : '–');
  const isGroup = focus !== shown;
  const id = (shown.id = freshId());
  const hints = [schema['description'], kind === 'json' && texts.formJson].filter(Boolean).join(' ');
  const hint = hints ? element('small', { part: 'hint', id: `${id}h` }, hints) : undefined;
  const error = element('p', { part: 'error', id: `${id}e` });
  const isOptional = saysOptional && !isRequired && kind !== 'check';
  const label = element(
    isGroup ? 'span' : 'label',
    { part: 'label', id: `${id}l`, for: isGroup ? undefined : id },
    isOptional ? filled(texts.optional, { field: title }) : title,
  );
  if (isGroup) setAttribute(shown, 'aria-labelledby', label.id);
  else if (isRequired && kind !== 'check') setAttribute(shown, 'aria-required', 'true');
  setAttribute(shown, 'name', name);
  const order = kind === 'check' ? [shown, label, hint, error] : [label, shown, hint, error];
  const node = element('div', { part: `field ${kind}-field` }, ...order);
  const check = () => {
    const message = (error.textContent = fault(read(), schema, isRequired, title, texts, locale));
    setAttribute(shown, 'aria-invalid', message ? 'true' : undefined);
    describe(message && error.id);
    return message;
  };
  const describe = (errorId?: string) =>
    setAttribute(shown, 'aria-describedby', [hint?.id, errorId].filter(Boolean).join(' ') || undefined);
  describe();
  node.addEventListener('input', () => error.textContent && check());
  return { name, node, control: focus, read, check };
}

/** Makes a field for each property of a schema, the required ones first. `saysOptional`: the others are marked. */
export function fieldsOf(schema: unknown, texts: Texts, locale: string, saysOptional = true): Field[] {
  const { properties, required: listed } = Object(schema) as Schema;
  const required = Array.isArray(listed) ? (listed as unknown[]) : [];
  const place = (name: string) => (required.includes(name) ? required.indexOf(name) : required.length);
  return Object.entries(Object(properties) as Record<string, unknown>)
    .sort(([one], [other]) => place(one) - place(other))
    .map(([name, one]) => fieldOf(name, Object(one) === one ? (one as Schema) : {}, required.includes(name), saysOptional, texts, locale));
}

/** Checks all fields, and moves the focus to the first with a fault. Returns `true` if there is one. */
export function firstFault(fields: readonly Field[]): boolean {
  const faulty = fields.filter((one) => one.check());
  faulty[0]?.control.focus();
  return faulty.length > 0;
}

/** Returns the values of the fields that are not empty. */
export const valuesOf = (fields: readonly Field[]): Record<string, unknown> =>
  Object.fromEntries(fields.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined));

// The template of `form`: the fields of a form, and its last event.

import type { Json, Members } from './json.js';
import { isFull, isMap, isText, text, values } from './read.js';
import { squash } from './secret.js';
import * as write from './write.js';

interface Field {
  name: string;
  label?: string | undefined;
  value: Json;
}

/** The state of a form. */
export interface Form {
  name: string | undefined;
  event: string | undefined;
  fields: Field[];
  errors: Json[];
}

/** Reads the data of a form. Returns `undefined` if it is not a form. */
export function readForm(data: Json): Form | undefined {
  if (!isMap(data)) return undefined;
  // A `name` next to a value is the name of a field.
  const isField = data.has('value');
  const fields = values(data, 'fields values data').flatMap((each) =>
    isMap(each) ? Array.from(each, namedField) : Array.isArray(each) ? each.map(readField) : [],
  );
  if (isField) fields.push(readField(data));
  const form = {
    name: values(data, `form formId formName${isField ? '' : ' id name'}`)
      .map((value) => (isMap(value) ? text(value, 'id name') : value))
      .find((value) => isText(value) && value) as string | undefined,
    event: text(data, 'event action status state') || (data.get('submitted') === true ? 'submitted' : undefined),
    fields: fields.filter((field) => field !== undefined),
    errors: values(data, 'errors error').filter(isFull),
  };
  return form.name || form.fields.length || form.errors.length ? form : undefined;
}

/** Applies a later state of the same form: merges its fields, and replaces the event and errors. */
export function updateForm(form: Form, later: Form): void {
  const known = numbered(form.fields);
  for (const [key, field] of numbered(later.fields)) {
    const earlier = known.get(key);
    if (earlier) Object.assign(earlier, { label: field.label ?? earlier.label, value: field.value });
    else form.fields.push(field);
  }
  form.event = later.event;
  form.errors = later.errors;
}

export const writeForm = ({ name, event, fields, errors }: Form): string =>
  `Form${name ? ` ${write.name(name)}` : ''}${event ? ` (${write.name(event)})` : ''}${fields.length ? ': ' : ''}` +
  write.list(fields, writeField) +
  errors.map((each) => `; errors: ${writeErrors(each)}`).join('');

/** Returns the fields by their names, and by how many fields before them have the same name. */
function numbered(fields: readonly Field[]): Map<string, Field> {
  const seen = new Map<string, number>();
  return new Map(
    fields.map((field) => {
      const number = (seen.get(field.name) ?? 0) + 1;
      seen.set(field.name, number);
      return [`${number} ${field.name}`, field];
    }),
  );
}

/** Reads a field of a map, whose value can be the description of a field. */
const namedField = ([name, value]: [string, Json]): Field | undefined =>
  isMap(value) && (value.has('value') || value.has('checked')) ? described(name, value) : { name, value };

/** Reads a field of a list: an object with name and value, or a pair of them. */
function readField(item: Json): Field | undefined {
  if (isMap(item)) return described(text(item, 'name field key id label'), item);
  if (!Array.isArray(item)) return undefined;
  const [name, value, ...more] = item;
  return isText(name) && value !== undefined && !more.length ? { name, value } : undefined;
}

/**
 * Returns a field with its described value. The value of a checkbox is its state. A radio button that is not selected, and
 * a description without a value, have none.
 */
function described(name: string | undefined, map: Members): Field | undefined {
  const isRadio = /^radio$/i.test(text(map, 'type') ?? '');
  const checked = map.get('checked');
  const value = typeof checked !== 'boolean' || (isRadio && checked) ? map.get('value') : isRadio ? undefined : checked;
  return name === undefined || value === undefined ? undefined : { name, label: text(map, 'label'), value };
}

const writeField = ({ name, label, value }: Field): string =>
  `${write.name(name)}${label && squash(label) !== squash(name) ? ` (${write.quoted(label)})` : ''} = ${write.value(value)}`;

const writeErrors = (errors: Json): string =>
  isMap(errors) ? write.pairs(errors) : Array.isArray(errors) ? write.list(errors, writeError) : write.value(errors);

function writeError(item: Json): string {
  const name = isMap(item) ? text(item, 'field name path key') : undefined;
  const message = isMap(item) ? values(item, 'message error').find((value) => value !== undefined) : undefined;
  return name === undefined || message === undefined ? write.value(item) : write.pair([name, message]);
}

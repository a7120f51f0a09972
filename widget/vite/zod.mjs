// Schemas of Zod (`const Order = z.object({ … })`) as JSON Schemas, from the source alone.

import ts from 'typescript';
import { literal, membersOf } from './sources.mjs';

const FORMATS = { email: 'email', url: 'uri', uuid: 'uuid', datetime: 'date-time', date: 'date', time: 'time' };
const LIMITS = {
  string: { min: ['minLength'], max: ['maxLength'], length: ['minLength', 'maxLength'] },
  number: {
    min: ['minimum'],
    gte: ['minimum'],
    max: ['maximum'],
    lte: ['maximum'],
    gt: ['exclusiveMinimum'],
    lt: ['exclusiveMaximum'],
  },
  array: { min: ['minItems'], max: ['maxItems'], length: ['minItems', 'maxItems'] },
};

const NUMBERS = {
  int: { type: 'integer' },
  positive: { exclusiveMinimum: 0 },
  nonnegative: { minimum: 0 },
  negative: { exclusiveMaximum: 0 },
  nonpositive: { maximum: 0 },
};
/** Strings of a kind that JSON Schema has no format for. */
const STRINGS = /^(?:cuid2?|ulid|nanoid|guid|jwt|ipv[46]|cidrv[46]|base64(?:url)?|emoji|e164)$/;
/** Modifiers that leave the JSON Schema as it is. They check more than it can say, or change the result. */
const NEUTRAL = new RegExp(
  `^(?:${[
    'refine|superRefine|check|transform|pipe|overwrite|brand|readonly|meta|register|describe|safe|finite|multipleOf|step',
    'trim|toLowerCase|toUpperCase|normalize|lowercase|uppercase|regex|startsWith|endsWith|includes',
  ].join('|')})$`,
);
/** A member that the source does not describe. It can have every value, and be absent. */
const UNKNOWN = { schema: {}, isOptional: true };

const isFromZod = (imported) => /^zod(?:\/|$)/.test(imported?.from);

/** Returns the JSON Schemas of the constants that are objects of Zod, by name. */
export function schemasOf(sources) {
  const schemas = {};
  for (const file of sources.files) {
    if (![...file.imports.values()].some(isFromZod)) continue;
    for (const [name, node] of file.constants) {
      const { schema } = schemaOf(node, file, sources);
      if (schema.type === 'object') schemas[name] = schema;
    }
  }
  return schemas;
}

/** Reads an expression. Returns the schema, and `true` as `isOptional` if the member can be absent. */
function schemaOf(node, file, sources, depth = 0) {
  const found = sources.follow(node, file);
  const calls = [];
  let at = found.node;
  while (at && ts.isCallExpression(at) && ts.isPropertyAccessExpression(at.expression)) {
    calls.unshift({ name: at.expression.name.text, args: at.arguments });
    at = at.expression.expression;
  }
  if (depth > 20 || calls.length === 0) return UNKNOWN;
  const read = (inner) => schemaOf(inner, found.file, sources, depth + 1);
  const follow = (inner) => sources.follow(inner, found.file).node;
  // `z.string()…`, `z.coerce.number()…`, or a constant with further calls.
  const [, zod, kind] = /^(\w+)(?:\.(coerce|iso))?$/.exec(at.getText()) ?? [];
  const isZod = zod === 'z' || isFromZod(found.file.imports.get(zod));
  let result = isZod ? baseOf(calls.shift(), read, follow, kind === 'iso') : read(at);
  for (const call of calls) result = modified(result, call, read);
  return result;
}

function baseOf({ name, args: [first] }, read, follow, isIso) {
  const known = (schema) => ({ schema, isOptional: false });
  const list = first && ts.isArrayLiteralExpression(first) ? first.elements : undefined;
  if (/^(?:strict|loose)?object$/i.test(name) && first && ts.isObjectLiteralExpression(first)) {
    const schema = objectOf(first, read);
    return known(name === 'looseObject' ? { ...schema, additionalProperties: undefined } : schema);
  }
  if (FORMATS[name]) return known({ type: 'string', format: name === 'date' && !isIso ? 'date-time' : FORMATS[name] });
  if (name === 'int') return known({ type: 'integer' });
  if (STRINGS.test(name)) return known({ type: 'string' });
  if (/^(?:string|number|boolean|null)$/.test(name)) return known({ type: name });
  if (name === 'literal') return known({ const: literal(first) });
  if (name === 'enum' || name === 'nativeEnum') {
    const values = choicesOf(follow(first));
    return known(values.every((value) => typeof value === 'string') ? { type: 'string', enum: values } : {});
  }
  if (name === 'array') return known({ type: 'array', items: read(first).schema });
  if (/^(?:optional|nullable|nullish)$/.test(name)) return modified(read(first), { name, args: [] }, read);
  if (name === 'union' && list) return eitherOf(list.map(read));
  return /^(?:record|tuple|discriminatedUnion)$/.test(name) ? known({}) : UNKNOWN;
}

/** Returns the values of a list, an object or an enumeration. A value that is no literal is `undefined`. */
function choicesOf(node) {
  if (node && ts.isArrayLiteralExpression(node)) return node.elements.map(literal);
  if (node && ts.isObjectLiteralExpression(node))
    return node.properties.map(({ initializer }) => literal(initializer));
  return node && ts.isEnumDeclaration(node) ? node.members.map(({ initializer }) => literal(initializer)) : [undefined];
}

const eitherOf = (results) => ({
  schema: { anyOf: results.map(({ schema }) => schema) },
  isOptional: results.some(({ isOptional }) => isOptional),
});

function objectOf(node, read) {
  const members = membersOf(node);
  let object = { type: 'object', properties: {}, additionalProperties: false };
  for (const { name, expression } of node.properties) {
    if (expression) object = merged(object, shapeOf(expression, read));
    else if (!members.has(name.text)) object = { ...object, additionalProperties: undefined };
    else {
      const { schema, isOptional } = read(members.get(name.text));
      const required = isOptional ? [] : [name.text];
      object = merged(object, { properties: { [name.text]: schema }, required, additionalProperties: false });
    }
  }
  return object;
}

/** Returns the schema that has the members of an expression, as `{ … }` or `Order.shape`. */
function shapeOf(node, read) {
  if (ts.isObjectLiteralExpression(node)) return objectOf(node, read);
  const { schema } = ts.isPropertyAccessExpression(node) && node.name.text === 'shape' ? read(node.expression) : UNKNOWN;
  return schema.type === 'object' ? { ...schema, additionalProperties: false } : { properties: {} };
}

/** Adds the members of another object, which replace those of the same name. */
function merged(object, other) {
  const kept = (object.required ?? []).filter((name) => !(name in other.properties));
  const isOpen = object.additionalProperties !== false || other.additionalProperties !== false;
  return {
    ...object,
    properties: { ...object.properties, ...other.properties },
    required: someOf([...kept, ...(other.required ?? [])]),
    additionalProperties: isOpen ? undefined : false,
  };
}

const someOf = (names) => (names.length > 0 ? names : undefined);

function modified(result, { name, args: [first] }, read) {
  const { schema, isOptional } = result;
  const value = literal(first);
  const set = (members) => ({ schema: { ...schema, ...members }, isOptional });
  const limits = LIMITS[schema.type === 'integer' ? 'number' : schema.type]?.[name];
  if (limits) return value === undefined ? result : set(Object.fromEntries(limits.map((limit) => [limit, value])));
  if (name === 'optional' || name === 'catch') return { schema, isOptional: true };
  if (name === 'nullable') return eitherOf([result, { schema: { type: 'null' } }]);
  if (name === 'nullish') return { ...modified(result, { name: 'nullable', args: [] }, read), isOptional: true };
  if (name === 'default' || name === 'prefault') return { schema: { ...schema, default: value }, isOptional: true };
  if (name === 'describe' && typeof value === 'string') return set({ description: value });
  if (name === 'array') return { schema: { type: 'array', items: schema }, isOptional: false };
  if (name === 'or') return eitherOf([result, read(first)]);
  if (name === 'and') return { schema: {}, isOptional };
  if (NEUTRAL.test(name)) return result;
  const own = OWN[schema.type]?.({ schema, name, first, read });
  return own ? set(own) : UNKNOWN;
}

/** Modifiers of one type. They return what they change. */
const OWN = {
  string: ({ name }) => {
    if (FORMATS[name]) return { format: FORMATS[name] };
    return name === 'nonempty' ? { minLength: 1 } : STRINGS.test(name) && {};
  },
  number: ({ name }) => NUMBERS[name],
  integer: ({ name }) => NUMBERS[name],
  array: ({ name }) => name === 'nonempty' && { minItems: 1 },
  object: ({ schema, name, first, read }) => {
    if (/^(?:passthrough|loose)$/.test(name)) return { additionalProperties: undefined };
    if (name === 'catchall') return { additionalProperties: read(first).schema };
    if (/^(?:strict|strip)$/.test(name)) return { additionalProperties: false };
    if (name === 'merge') return ofObject(read(first).schema, (other) => merged(schema, other));
    if (/^(?:extend|safeExtend)$/.test(name)) {
      const other = shapeOf(first, read);
      return other.type && merged(schema, other);
    }
    return chosen(schema, name, first);
  },
};

const ofObject = (schema, change) => schema.type === 'object' && change(schema);

/** Reads `pick`, `omit`, `partial` and `required`, with the names of members or without. */
function chosen({ properties, required = [] }, name, first) {
  const all = Object.keys(properties);
  if (first && !ts.isObjectLiteralExpression(first)) return undefined;
  const names = first ? [...membersOf(first).keys()] : all;
  const only = (list, isNamed) => list.filter((one) => names.includes(one) === isNamed);
  if (name === 'partial') return { required: someOf(only(required, false)) };
  if (name === 'required') {
    return { required: someOf(all.filter((one) => required.includes(one) || names.includes(one))) };
  }
  if (name !== 'pick' && name !== 'omit') return undefined;
  const isPick = name === 'pick';
  return {
    properties: Object.fromEntries(only(all, isPick).map((one) => [one, properties[one]])),
    required: someOf(only(required, isPick)),
  };
}

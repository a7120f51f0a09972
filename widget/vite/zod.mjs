// Schemas of Zod (`const Order = z.object({ … })`) as JSON Schemas, from the source alone.

import ts from 'typescript';
import { literal, membersOf, walk } from './sources.mjs';

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

/** Returns the JSON Schemas of the constants that are objects of Zod, by name. */
export function schemasOf(sources) {
  const schemas = {};
  for (const file of sources.files) {
    if (![...file.imports.values()].some(({ from }) => /^zod(?:\/|$)/.test(from))) continue;
    for (const [name, node] of file.constants) {
      let isObject = false;
      walk(
        node,
        (inner) =>
          void (isObject ||=
            ts.isCallExpression(inner) && /^z\.(?:strict|loose)?[oO]bject$/.test(inner.expression.getText())),
      );
      const { schema } = isObject ? schemaOf(node, file, sources) : {};
      if (schema?.type === 'object') schemas[name] = schema;
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
  if (depth > 20 || calls.length === 0) return { schema: {}, isOptional: false };
  const read = (inner) => schemaOf(inner, found.file, sources, depth + 1);
  let result = { schema: {}, isOptional: false };
  // `z.string()…`, `z.coerce.number()…`, or a constant with further calls.
  if (at && ts.isIdentifier(at) && at.text !== 'z') result = read(at);
  else result.schema = baseOf(calls.shift(), read);
  for (const call of calls) result = modified(result, call, read);
  return result;
}

function baseOf({ name, args: [first] }, read) {
  if (/^(?:strict|loose)?object$/i.test(name) && first && ts.isObjectLiteralExpression(first))
    return objectOf(first, read);
  if (FORMATS[name])
    return name === 'date' ? { type: 'string', format: 'date-time' } : { type: 'string', format: FORMATS[name] };
  if (name === 'int') return { type: 'integer' };
  if (name === 'string' || name === 'number' || name === 'boolean') return { type: name };
  if (name === 'literal') return { const: literal(first) };
  if (name === 'enum' && first && ts.isArrayLiteralExpression(first))
    return { type: 'string', enum: first.elements.map(literal) };
  if (name === 'array') return { type: 'array', items: read(first).schema };
  if (name === 'optional') return read(first).schema;
  return {};
}

function objectOf(node, read) {
  const properties = {};
  const required = [];
  for (const [name, value] of membersOf(node)) {
    const member = read(value);
    properties[name] = member.schema;
    if (!member.isOptional) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

function modified({ schema, isOptional }, { name, args: [first] }, read) {
  const value = literal(first);
  const limits = LIMITS[schema.type === 'integer' ? 'number' : schema.type]?.[name];
  const set = (members) => ({ schema: { ...schema, ...members }, isOptional });
  if (limits && value !== undefined) return set(Object.fromEntries(limits.map((limit) => [limit, value])));
  if (name === 'optional' || name === 'nullish') return { schema, isOptional: true };
  if (name === 'default')
    return { schema: { ...schema, ...(value !== undefined && { default: value }) }, isOptional: true };
  if (name === 'describe' && typeof value === 'string') return set({ description: value });
  if (name === 'int') return set({ type: 'integer' });
  if (name === 'positive') return set({ exclusiveMinimum: 0 });
  if (name === 'nonnegative') return set({ minimum: 0 });
  if (name === 'nonempty') return set(schema.type === 'array' ? { minItems: 1 } : { minLength: 1 });
  if (FORMATS[name] && schema.type === 'string') return set({ format: FORMATS[name] });
  if (name === 'array') return { schema: { type: 'array', items: schema }, isOptional: false };
  if (name === 'partial' && schema.properties) return set({ required: undefined });
  if (name === 'extend' && first && ts.isObjectLiteralExpression(first)) {
    const more = objectOf(first, read);
    const required = [...(schema.required ?? []), ...(more.required ?? [])];
    return set({ properties: { ...schema.properties, ...more.properties }, ...(required.length > 0 && { required }) });
  }
  // Effects such as `trim` and `refine` have no counterpart.
  return { schema, isOptional };
}

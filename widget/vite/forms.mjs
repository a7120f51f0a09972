// The forms that are open to the assistant (`<form data-assistant>`), as JSON Schemas.

import ts from 'typescript';
import { literal, walk } from './sources.mjs';

const FORMATS = { date: 'date', email: 'email', time: 'time', url: 'uri' };
const NO_FIELD = /^(?:password|hidden|file|submit|reset|button|image)$/;
const PRIVATE = /(?:^|\s)(?:cc-|one-time-code|current-password|new-password)/i;
const LOCKED = ['disabled', 'readonly', 'readOnly'];

/** Returns the forms: `{ form, schema }`. */
export function formsOf(sources) {
  const forms = [];
  const add = (element) => {
    if (element.tag !== 'form' || !('data-assistant' in element.attributes)) return false;
    const { attributes } = element;
    const name = ['data-assistant', 'id', 'name', 'aria-label']
      .map((key) => attributes[key])
      .find((value) => value && value !== true);
    forms.push({ form: name ?? 'form', schema: schemaOf(element) });
    return true;
  };
  const all = (element) => add(element) || element.children.forEach(all);
  for (const file of sources.files) {
    walk(file.source, (node) => (ts.isJsxElement(node) ? add(ofJsx(node)) : false));
    if (file.template) ofVue(file.template).children.forEach(all);
  }
  return forms.sort((a, b) => (a.form < b.form ? -1 : 1));
}

/** Describes a JSX element. The value of an attribute that is no literal is `null`. */
function ofJsx(node) {
  const opening = ts.isJsxElement(node) ? node.openingElement : node;
  const attributes = {};
  for (const attribute of opening.attributes.properties) {
    if (!ts.isJsxAttribute(attribute)) {
      // `{...register('city')}` can have the name.
      attributes.name ??= null;
      continue;
    }
    const { initializer } = attribute;
    const value = initializer && ts.isJsxExpression(initializer) ? initializer.expression : initializer;
    attributes[attribute.name.getText()] = value ? (literal(value) ?? null) : true;
  }
  const children = [];
  let text = '';
  for (const child of ts.isJsxElement(node) ? node.children : []) {
    if (ts.isJsxText(child)) text += child.text;
    // An element can be within `{condition && <input …>}`.
    walk(child, (inner) => {
      if (!ts.isJsxElement(inner) && !ts.isJsxSelfClosingElement(inner)) return false;
      children.push(ofJsx(inner));
      return true;
    });
  }
  return { tag: opening.tagName.getText(), attributes, children, text: oneLine(text) };
}

/** Describes an element of a Vue template. */
function ofVue(node) {
  const attributes = {};
  for (const prop of node.props ?? []) {
    // 6 is an attribute, 7 a directive.
    if (prop.type === 6) attributes[prop.name] = prop.value?.content ?? true;
    else if (prop.name === 'bind' && prop.arg?.content) attributes[prop.arg.content] = quoted(prop.exp?.content);
  }
  const children = (node.children ?? []).filter(({ type }) => type === 1).map(ofVue);
  const text = (node.children ?? []).filter(({ type }) => type === 2).map(({ content }) => content);
  return { tag: node.tag ?? '', attributes, children, text: oneLine(text.join(' ')) };
}

function quoted(expression) {
  if (/^(?:true|false)$/.test(expression)) return expression === 'true';
  return /^'([^']*)'$/.exec(expression ?? '')?.[1] ?? (Number.isFinite(Number(expression)) ? Number(expression) : null);
}

/** Returns `true` if the element has an attribute such as `disabled` in every case. */
const isOn = (attributes, name) => ![undefined, null, false].includes(attributes[name]);
const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

function schemaOf(form) {
  const properties = {};
  const required = new Set();
  const labels = new Map();
  let isOpen = false;
  const within = (element, visit, label) => {
    if ('data-assistant-ignore' in element.attributes) return;
    const own = element.tag === 'label' ? element.text : label;
    visit(element, own);
    for (const child of element.children) within(child, visit, own);
  };
  within(form, ({ tag, attributes, text }) => {
    const target = attributes.for ?? attributes.htmlFor;
    if (tag === 'label' && target) labels.set(target, text);
  });
  within(form, (element, label) => {
    const { tag, attributes } = element;
    const { name, type } = attributes;
    // A component of the application with a name is most likely a field.
    const isField = ['input', 'select', 'textarea'].includes(tag) || /^[A-Z]/.test(tag);
    const isPrivate = PRIVATE.test(attributes.autocomplete ?? attributes.autoComplete ?? '');
    if (!isField || isPrivate || NO_FIELD.test(type) || LOCKED.some((key) => isOn(attributes, key))) return;
    // A type that changes may be that of a password which a button shows.
    isOpen ||= name === null || type === null;
    if (typeof name !== 'string' || type === null) return;
    const title = labels.get(attributes.id) ?? label ?? attributes.label ?? attributes['aria-label'];
    properties[name] = fieldSchema(element, properties[name], typeof title === 'string' ? title : undefined);
    if (isOn(attributes, 'required')) required.add(name);
  });
  return {
    type: 'object',
    properties,
    ...(required.size > 0 && { required: [...required] }),
    ...(!isOpen && { additionalProperties: false }),
  };
}

function fieldSchema({ tag, attributes, children }, known, title) {
  const { type, value } = attributes;
  const named = title ? { title } : {};
  if (type === 'radio') {
    const before = known ? known.enum : [];
    return before && typeof value === 'string' ? { type: 'string', enum: [...before, value] } : { type: 'string' };
  }
  if (type === 'checkbox') {
    // Check boxes with the same name and different values are one list.
    if (!known || typeof value !== 'string') return { ...named, type: 'boolean', ...(value && { $value: value }) };
    const before = known.items?.enum ?? [known.$value];
    return {
      type: 'array',
      items: { type: 'string', enum: [...before, value].filter((item) => typeof item === 'string') },
    };
  }
  if (tag === 'select') {
    const options = children
      .flatMap((child) => (child.tag === 'optgroup' ? child.children : [child]))
      .filter(({ tag }) => tag === 'option');
    const values = options
      .map((option) => ('value' in option.attributes ? option.attributes.value : option.text || null))
      .filter((item) => item !== '');
    const isChoice = values.length > 0 && !values.includes(null);
    const choice = { type: 'string', ...(isChoice && { enum: values.map(String) }) };
    return isOn(attributes, 'multiple') ? { ...named, type: 'array', items: choice } : { ...named, ...choice };
  }
  const number = (name) =>
    attributes[name] !== undefined && attributes[name] !== null && Number.isFinite(Number(attributes[name]))
      ? Number(attributes[name])
      : undefined;
  if (type === 'number' || type === 'range')
    return { ...named, type: 'number', minimum: number('min'), maximum: number('max') };
  return {
    ...named,
    type: 'string',
    format: FORMATS[type],
    minLength: number('minlength') ?? number('minLength'),
    maxLength: number('maxlength') ?? number('maxLength'),
    pattern: typeof attributes.pattern === 'string' ? `^(?:${attributes.pattern})$` : undefined,
  };
}

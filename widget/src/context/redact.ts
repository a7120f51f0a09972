// Replacement of the secrets of a message, before any other processing.

import { type Json, type Members, parse, sorted, stringify } from './json.js';
import { isMap, isText } from './read.js';
import { namesSecretKey, scrub } from './scrub.js';
import { isSecretAutocomplete, isSecretKind, isSecretName, REDACTED, squash } from './secret.js';

/** The depth below which a value is replaced as a whole. It is above the limit of a request. */
const MAX_DEPTH = 128;

/** Returns a comparison with names that ignores case, `-` and `_`. */
const anyOf = (names: string): ((key: string) => boolean) => {
  const pattern = new RegExp(`^(${names})$`, 'i');
  return (key) => pattern.test(key.replace(/[-_]/g, ''));
};

const isKindMap = anyOf('types|fieldTypes|inputTypes|autocomplete');
const isKind = anyOf('type|inputType|fieldType|format');
const isAutocomplete = anyOf('autocomplete');
const isMark = anyOf('sensitive|secret|masked|redact');
const isAttributes = anyOf('attributes|attrs|props|inputProps');
const isFieldList = anyOf('fields|values|elements|inputs|controls|children');
const isFieldName = anyOf('field|fieldName|fieldId|inputName|param');
const isName = anyOf('name|id|key|label|placeholder|title|header|ariaLabel|property|attribute|setting|variable');
const isInner = anyOf('field|input|element|target|control');
const isInnerName = anyOf('name|id|key');
const isForm = anyOf('form|formId|formName|event|status');
const isValue = anyOf('.*values?|val|old|new|previous|prev|current|before|after|answer|input|raw|default');
const isContent = anyOf('content|text|data|result');

/** Removes the secrets from the messages of one compression. */
export interface Redactor {
  /** Collects the fields that a message declares as secret, because another message may contain their values. */
  learn(value: Json): void;
  /** Returns the data of a message without its secrets. The kind of a message is the name of plain data. */
  data(kind: string, data: Json): Json;
  /** Returns a name or kind of a message without its secrets, because these are shown too. */
  label(text: string): string;
  /** Returns the number of values that were replaced. */
  count(): number;
}

export function redactor(names: Iterable<string>): Redactor {
  const listed = new Set<string>();
  let count = 0;

  const declare = (name: Json | undefined): void => {
    const squashed = isText(name) && squash(name);
    if (squashed) listed.add(squashed);
  };
  for (const name of names) declare(name);

  const learn = (value: Json, key?: string, depth = 0): void => {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) for (const item of value) learn(item, undefined, depth + 1);
    if (!isMap(value)) return;
    if (declaresSecret(value)) [key, ...'name id key field fieldName'.split(' ').map((each) => value.get(each))].forEach(declare);
    for (const [field, item] of value) {
      if (key && isKindMap(key) && isText(item) && (isSecretKind(item) || isSecretAutocomplete(item))) declare(field);
      learn(item, field, depth + 1);
    }
  };

  const hide = (): string => {
    count++;
    return REDACTED;
  };
  const known = new Map<string, boolean>();
  const isSecret = (isQuery: boolean) => (name: string) => {
    const key = isQuery + name;
    const found = known.get(key) ?? isSecretName(name, listed, isQuery);
    known.set(key, found);
    return found;
  };

  const label = (text: string, isQuery = true): string => {
    // A name before `=` in a text is usually a query parameter, so the stricter rule of URLs applies.
    const [clean, found] = scrub(text, isSecret(isQuery || /^[/?#]|:\/\//.test(text)));
    count += found;
    return clean;
  };

  const clean = (value: Json, isQuery: boolean, depth = 0): Json => {
    const cleanItem = (item: Json): Json => clean(item, isQuery, depth + 1);
    if (isText(value)) {
      if (/^\p{White_Space}*["[{]/u.test(value)) {
        let inner: Json | undefined;
        try {
          inner = parse(value);
        } catch {
          if (namesSecretKey(value, isSecret(isQuery))) return hide();
        }
        if (inner !== undefined) {
          const before = count;
          inner = cleanItem(inner);
          return count > before ? stringify(inner) : value;
        }
      }
      return label(value, isQuery);
    }
    if (!value || typeof value !== 'object') return value;
    if (depth > MAX_DEPTH) return hide();
    if (Array.isArray(value)) {
      // Entries of a form or an object can be pairs: `["password", "…"]`.
      const [name, secret] = value;
      return value.length === 2 && isText(name) && !isBlank(secret!) && isSecret(isQuery)(name)
        ? [label(name, isQuery), hide()]
        : value.map(cleanItem);
    }
    // A page can be named `reset-password`, and is not a field.
    const hides = isQuery && !depth ? declaresSecret(value) : isSecretField([...value], isSecret(isQuery));
    return sorted(
      Array.from(value, ([key, item]) => [
        label(key, isQuery),
        !isBlank(item) && ((hides && !describesField(key, item)) || isSecret(isQuery)(key)) ? hide() : cleanItem(item),
      ]),
    );
  };

  /** Returns `true` if the object is a field, with its name and its value, and the value is secret. */
  const isSecretField = (entries: [string, Json][], isSecret: (name: string) => boolean): boolean =>
    !entries.some(holdsFields) &&
    (declaresSecret(entries) ||
      entries.some(([key, item]) =>
        isText(item)
          ? (isFieldName(key) || (isName(key) && entries.some(carriesValue))) && isSecret(item)
          : // Events often have the form `{target: {name, type}, value}`.
            isMap(item) &&
            isInner(key) &&
            entries.some((entry) => !isMap(entry[1]) && carriesValue(entry)) &&
            (declaresSecret(item) || [...item].some(([key, name]) => isText(name) && isInnerName(key) && isSecret(name))),
      ));

  const data = (kind: string, data: Json): Json =>
    typeof data !== 'object' && !isBlank(data) && isSecret(false)(kind)
      ? hide()
      : // The keys of a navigation can be those of a query string.
        clean(data, kind === 'navigation');

  return { learn, data, label, count: () => count };
}

/** Returns `true` for an entry of a form, which is not a field: `{name: "change-password", fields: {…}}`. */
const holdsFields = ([key, item]: [string, Json]): boolean =>
  isFieldList(key) && (isMap(item) || (Array.isArray(item) && item.some((each) => each && typeof each === 'object')));

/** Returns `true` if the attributes of a field declare its value as secret. */
const declaresSecret = (entries: Members | [string, Json][]): boolean =>
  [...entries].some(([key, item]) =>
    isText(item)
      ? (isKind(key) && isSecretKind(item)) || (isAutocomplete(key) && isSecretAutocomplete(item))
      : isMap(item)
        ? isAttributes(key) && declaresSecret(item)
        : item === true && isMark(key),
  );

/** Returns `true` if an entry of a secret field describes the field and does not contain its value. */
const describesField = (key: string, item: Json): boolean =>
  isText(item) && [isName, isKind, isFieldName, isAutocomplete, isForm].some((is) => is(key));

/** Returns `true` if an entry next to a name can be the value of that name. */
const carriesValue = ([key, item]: [string, Json]): boolean =>
  // Events often have the form `{name, data: {…}}`.
  isValue(key) || (!isMap(item) && isContent(key));

/** Returns `true` for a value that reveals only that there is a secret. */
const isBlank = (value: Json): boolean =>
  value === null || typeof value === 'boolean' || value === '' || value === REDACTED;

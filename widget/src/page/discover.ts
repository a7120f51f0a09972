// Lists what the user can operate on the page: roles, names and references, without private values.

import {
  EDITABLE,
  type Field,
  choicesOf,
  fieldsOf,
  formName,
  formOf,
  formsOf,
  isIgnored,
  isTick,
  valueOf,
} from './fields.js';
import { nameOf, oneLine, roleOf } from './names.js';
import { referenceOf } from './references.js';
import { here, isSecretField, pathOf } from './secrets.js';

/** An operable element. Members without information are left out. */
export interface Operable {
  ref: string;
  role: string;
  name: string;
  id?: string;
  /** The path of a link within the site, or the origin of another site. */
  to?: string;
  /** The name of the form and of the field, if the assistant can fill it. */
  form?: string;
  field?: string;
  value?: unknown;
  choices?: string[];
  /** `true` if the element is disabled. */
  disabled?: true;
  /** `true` if only the user fills the field. */
  private?: true;
  /** `true` if the assistant can click it. */
  click?: true;
}

const LIMIT = 8_000;
/** The time for which the list waits to learn what is in view. */
const LONGEST_MS = 500;
const OPERABLE = `a[href], button, input, select, textarea, summary, ${EDITABLE}, h1, h2, h3, [data-assistant-click], [tabindex]:not([tabindex^="-"]), ${[
  'button',
  'checkbox',
  'combobox',
  'gridcell',
  'link',
  'listbox',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
  'treeitem',
]
  .map((role) => `[role=${role}]`)
  .join()}`;

/** Returns the operable elements that are displayed. */
export const operables = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(OPERABLE)].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }) && !isIgnored(element),
  );

/** Resolves with the elements of which the user sees a part. In a hidden page, these are all of them. */
const inView = (elements: HTMLElement[]): Promise<HTMLElement[]> =>
  new Promise((done) => {
    const observer = new IntersectionObserver((entries) => {
      observer.disconnect();
      const seen = entries.filter(({ intersectionRect: { width, height } }) => width && height);
      done(seen.map(({ target }) => target as HTMLElement));
    });
    for (const element of elements) observer.observe(element);
    setTimeout(done, LONGEST_MS, elements);
  });

/** Lists the operable elements in view, or all of them. The list has at most 8,000 bytes. */
export async function discover(input: { whole_page?: boolean } | undefined, selector: string | undefined): Promise<object> {
  const wanted = input?.whole_page ? operables() : await inView(operables());
  const fields = new Map<Element, Field>();
  for (const form of selector ? formsOf(selector) : []) {
    for (const field of fieldsOf(form, selector ?? '').open)
      for (const control of field.controls) fields.set(control, field);
  }
  const elements: Operable[] = [];
  const page = here();
  const encoder = new TextEncoder();
  const sizeOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length + 1;
  let size = sizeOf({ page, elements, more: 10_000 });
  let more = 0;
  for (const element of wanted) {
    const described = describe(element, fields.get(element), selector);
    size += sizeOf(described);
    if (size > LIMIT) more += 1;
    else elements.push(described);
  }
  return { page, elements, ...(more && { more }) };
}

function describe(element: HTMLElement, field: Field | undefined, selector: string | undefined): Operable {
  const isControl = element.matches(`input, textarea, select, ${EDITABLE}`);
  const found: Operable = { ref: referenceOf(element), role: roleOf(element), name: nameOf(element) };
  if (element.id) found.id = oneLine(element.id, 40);
  if (element instanceof HTMLAnchorElement) found.to = targetOf(element);
  if (element.matches(':disabled, [aria-disabled=true]')) found.disabled = true;
  if (element.hasAttribute('data-assistant-click')) found.click = true;
  if (field && selector) {
    found.form = formName(field.form, selector);
    found.field = field.name;
    const isOne = isTick(element as HTMLInputElement) && field.controls.length > 1;
    found.value = isOne ? (element as HTMLInputElement).checked : valueOf(field);
    if (typeof found.value === 'string') found.value = oneLine(found.value, 200);
    const choices = isTick(element as HTMLInputElement) ? undefined : choicesOf(field);
    if (choices) found.choices = choices.slice(0, 20).map(({ label, value }) => label || value);
  } else if (isControl && (isSecretField(element) || (selector && formOf(element, selector)))) {
    found.private = true;
  }
  return found;
}

function targetOf({ href }: HTMLAnchorElement): string | undefined {
  // An address that is not valid stays as it is written.
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (url.origin === location.origin) return oneLine(pathOf(url), 120);
  return /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

// The fields of the forms that the page has opened to the assistant.

import { nameOf, oneLine } from './names.js';
import { isSecretField } from './secrets.js';

export type Control = HTMLElement & Partial<Pick<HTMLInputElement, 'checked' | 'form' | 'type' | 'value'>>;

/** A field: one control, or the radio buttons or check boxes of one name. */
export interface Field {
  name: string;
  label: string;
  form: HTMLElement;
  controls: Control[];
}

const IGNORED = '[data-assistant-ignore], [inert], omniassist-chat';
export const EDITABLE = '[contenteditable]:not([contenteditable="false" i])';
const CONTROLS = `input:not([type=submit], [type=reset], [type=button], [type=image]), textarea, select, ${EDITABLE}`;
const LOCKED = ':disabled, [readonly], [aria-readonly=true], [aria-disabled=true]';

/** Returns the selector of the forms. `true`: those with `data-assistant`. */
export const formSelector = (option: true | string): string => (option === true ? 'form[data-assistant]' : option);

/** Returns the open form of a control. */
export const formOf = (control: Element, selector: string): HTMLElement | null =>
  ((control as HTMLInputElement).form ?? control).closest<HTMLElement>(selector);

export const isIgnored = (element: Element): boolean => element.closest(IGNORED) !== null;

/** Returns `true` if the assistant neither reads nor fills this control. */
export const isClosed = (control: HTMLElement): boolean =>
  isIgnored(control) || control.matches(LOCKED) || isHidden(control) || isSecretField(control);

/** Returns `true` if the page hides a field. Check boxes and radio buttons are often hidden, and drawn by their label. */
const isHidden = (control: HTMLElement): boolean =>
  ![control, ...(isTick(control) ? ((control as HTMLInputElement).labels ?? []) : [])].some((element) =>
    element.checkVisibility({ visibilityProperty: true }),
  );

/** Returns the open forms. */
export const formsOf = (selector: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].filter((form) => !isIgnored(form));

// The members of a form can be hidden by fields such as `<input name="id">`, its attributes cannot.
const ownName = (form: HTMLElement): string =>
  ['data-assistant', 'id', 'name', 'aria-label'].map((name) => oneLine(form.getAttribute(name))).find(Boolean) ??
  'form';

/** Returns the name of a form. The second one of the same name has the number 2. */
export function formName(form: HTMLElement, selector: string): string {
  const name = ownName(form);
  const at = formsOf(selector).filter((other) => ownName(other) === name).indexOf(form);
  return at > 0 ? `${name} ${at + 1}` : name;
}

const plainName = (control: Control, label: string): string =>
  oneLine(control.getAttribute('name') || control.id || label || 'unnamed');

/** Returns the fields of a form. `closed`: those that the assistant neither reads nor fills. */
export function fieldsOf(form: HTMLElement, selector: string): { open: Field[]; closed: Field[] } {
  const open = new Map<string, Field>();
  const closed: Field[] = [];
  for (const control of document.querySelectorAll<Control>(CONTROLS)) {
    if (formOf(control, selector) !== form) continue;
    const label = nameOf(control);
    const field: Field = { name: plainName(control, label), label, form, controls: [control] };
    if (isClosed(control)) {
      closed.push(field);
      continue;
    }
    const known = open.get(field.name);
    if (!known) open.set(field.name, field);
    else if (known.controls[0]?.type === control.type && isTick(control)) known.controls.push(control);
    else open.set(`${field.name} ${open.size}`, { ...field, name: `${field.name} (${label || open.size})` });
  }
  return { open: [...open.values()].map(withGroupLabel), closed };
}

/** Returns `true` for a radio button or a check box. */
export const isTick = ({ type }: Control): boolean => type === 'radio' || type === 'checkbox';

/** The label of a group is that of its `fieldset`. Its radio buttons have the labels of the choices. */
function withGroupLabel(field: Field): Field {
  const [first] = field.controls;
  if (!first || (field.controls.length < 2 && first.type !== 'radio')) return field;
  const group = first.closest('fieldset, [role=radiogroup], [role=group]');
  const legend = group?.querySelector(':scope > legend');
  return { ...field, label: (group && nameOf(group.hasAttribute('aria-label') ? group : (legend ?? group))) || '' };
}

export interface Choice {
  element: Control | HTMLOptionElement;
  value: string;
  label: string;
  isChosen: boolean;
}

/** Returns the choices of a group or a list. */
export function choicesOf({ controls }: Field): Choice[] | undefined {
  const [first] = controls;
  if (first instanceof HTMLSelectElement) {
    return [...first.options]
      .filter((option) => !option.matches(':disabled'))
      .map((element) => ({
        element,
        value: element.value,
        label: oneLine(element.label),
        isChosen: element.selected,
      }));
  }
  if (first?.type !== 'radio' && controls.length < 2) return undefined;
  return controls.map((element) => ({
    element,
    value: element.value ?? '',
    label: nameOf(element),
    isChosen: element.checked === true,
  }));
}

/** Returns the value of a field: a list for several choices, a Boolean for a check box. */
export function valueOf(field: Field): string | boolean | string[] {
  const [first] = field.controls;
  if (!first) return '';
  const chosen = choicesOf(field)?.filter(({ isChosen }) => isChosen);
  if (chosen) {
    const labels = chosen.map(({ label, value }) => label || value);
    const isList = first instanceof HTMLSelectElement ? first.multiple : first.type === 'checkbox';
    return isList ? labels : (labels[0] ?? '');
  }
  if (first.type === 'checkbox') return first.checked === true;
  return first.value ?? first.innerText;
}

// Fills fields with the events of a user's input, which frameworks handle. Submits nothing.

import type { ToolRun } from '../chat/types.js';
import { type UndoableCall, type Undone, undoable } from '../chat/undoable.js';
import { isComposing } from '../ui/composing.js';
import { focused } from '../ui/focused.js';
import {
  type Choice,
  type Control,
  type Field,
  choicesOf,
  fieldsOf,
  formName,
  formOf,
  formsOf,
  isTick,
  valueOf,
} from './fields.js';
import { listen } from './listen.js';
import { elementOf, isReference } from './references.js';
import { addStyle } from './style.js';

export interface FillInput {
  form?: string;
  /** The fields and their values. An object with the names as keys is read too. */
  fields: { field: string; value: unknown }[] | Record<string, unknown>;
}

/** A change that was checked and can be made. */
interface Change {
  field: Field;
  /** The marks before the change. */
  marks: Marks;
  /** The value after the change, which the page may replace later. */
  filled?: string;
  make(): unknown;
  /** Restores the earlier value, if there is a way to do that. */
  undo?(): unknown;
}

/** The marks of the controls of a field. */
type Marks = (string | null)[];

/** The mark of a filled field. Its value is the number of the call. */
const MARK = 'data-assistant-filled';
/** The input of the Backspace key. */
const DELETE = 'deleteContentBackward';
/** The most calls that can be undone. */
const MOST_CALLS = 20;
/** The time after which an editor has read a new selection, in milliseconds. */
const SELECTED_MS = 150;
/** The time for which the user, who composes a character, keeps the focus, in milliseconds. */
const COMPOSED_MS = 500;
let count = 0;
/** `true` while the user composes a character. */
let isComposed = false;

/** Fills fields. If one of the values is not possible, nothing is filled. `title` is the label of the button that undoes it. */
export async function fill(
  { form, fields }: FillInput,
  selector: string,
  { toolCallId }: ToolRun,
  title: string,
): Promise<object> {
  const wanted: [string, unknown][] = Array.isArray(fields)
    ? fields.map(({ field, value }) => [field, value])
    : Object.entries(fields ?? {});
  if (wanted.length === 0) throw new Error('There are no fields in this call.');
  const changes: Change[] = [];
  const errors: string[] = [];
  for (const [name, value] of wanted) {
    try {
      const field = find(name, form, selector);
      const marks = field.controls.map((control) => control.getAttribute(MARK));
      changes.push({ ...changeOf(field, value), marks });
    } catch (error) {
      errors.push(`${name}: ${(error as Error).message}`);
    }
  }
  if (errors.length > 0) throw new Error(`Nothing was filled. ${errors.join(' ')}`);
  addStyle();
  const number = String((count += 1));
  const call: UndoableCall = {
    toolCallId,
    title,
    undo() {
      undoable.delete(call);
      call.onUndone?.();
      return restore(changes, number);
    },
  };
  undoable.add(call);
  for (const oldest of undoable) if (undoable.size > MOST_CALLS) undoable.delete(oldest);
  const names = new Map(changes.map(({ field }) => [field, formName(field.form, selector)]));
  await withoutSubmit(changes, async ({ field, make }) => {
    await make();
    mark(field, field.controls.map((control) => (control.type === 'radio' && !control.checked ? null : number)));
  });
  // The page may have written the values in another form.
  for (const change of changes) change.filled = contentOf(change.field);
  return {
    filled: Object.fromEntries(changes.map(({ field }) => [field.name, valueOf(shown(field, names.get(field), selector))])),
    submitted: false,
    undo: 'undo_fill',
  };
}

/** Restores what the last call of {@link fill} changed that is not undone. Fields that were changed since then stay. */
export const undo = async (): Promise<Undone> => (await [...undoable].at(-1)?.undo()) ?? { restored: [], kept: [] };

/** Returns the field in the page, which a page that draws its form again has replaced. */
function shown(field: Field, form: string | undefined, selector: string): Field {
  if (field.controls.some((control) => control.isConnected)) return field;
  const forms = formsOf(selector).filter((own) => formName(own, selector) === form);
  return forms.flatMap((own) => fieldsOf(own, selector).open).find(({ name }) => name === field.name) ?? field;
}

const contentOf = (field: Field): string => JSON.stringify(valueOf(field));

/** Restores the values and marks before a call, in fields that still have its mark and value. */
async function restore(changes: Change[], number: string): Promise<Undone> {
  const undone: Undone = { restored: [], kept: [] };
  await withoutSubmit(changes.reverse(), async ({ field, marks, filled, undo }) => {
    const isMarked = field.controls.some((control) => control.isConnected && control.getAttribute(MARK) === number);
    const isOwn = isMarked && contentOf(field) === filled;
    if (isOwn) {
      await undo?.();
      mark(field, marks);
    }
    undone[isOwn && undo ? 'restored' : 'kept'].push(field.name);
  });
  return undone;
}

/** Removes the mark of a field when the user edits it. Returns a function that ends that. */
export function watchEdits(): () => void {
  const edited = ({ isTrusted, target, type }: Event): void => {
    if (!isTrusted || !(target instanceof Element)) return;
    // The button that the user picks is another one of the group than the filled one.
    const name = isTick(target as Control) && target.getAttribute('name');
    const group =
      name && [...document.getElementsByName(name)].filter((field: Control) => field.form === (target as Control).form);
    const fields = type === 'reset' ? target.querySelectorAll(`[${MARK}]`) : group || [target.closest(`[${MARK}]`)];
    for (const field of fields) field?.removeAttribute(MARK);
  };
  return listen(['input', 'change', 'reset'], edited);
}

/** Notes if the user composes a character. Returns a function that ends that. */
export const watchCompositions = (): (() => void) =>
  listen(['compositionstart', 'compositionend'], ({ type }) => {
    isComposed = type === 'compositionstart';
  });

function find(name: string, form: string | undefined, selector: string): Field {
  const target = isReference(name) ? elementOf(name) : undefined;
  const owner = target && formOf(target, selector);
  const forms = owner ? [owner] : formsOf(selector).filter((own) => !form || formName(own, selector) === form);
  const isWanted = ({ name: own, label, controls }: Field): boolean =>
    target ? controls.includes(target) : own === name || label === name;
  const read = forms.map((form) => fieldsOf(form, selector));
  const open = read.flatMap((fields) => fields.open);
  const found = open.filter(isWanted);
  const exact = found.filter((field) => field.name === name);
  const [field, other] = exact.length > 0 ? exact : found;
  if (field && !other) return field;
  if (field) throw new Error('Several fields have this name. Name the form, or give a reference.');
  if (read.some(({ closed }) => closed.some(isWanted))) throw new Error('Only the user fills this field.');
  const names = open.map((own) => own.name).join(', ');
  throw new Error(`There is no such field. Forms: ${formsOf(selector).map((own) => formName(own, selector)).join(', ')}. Fields: ${names}.`);
}

function changeOf(field: Field, value: unknown): Omit<Change, 'marks'> {
  const [control] = field.controls as [Control];
  if (control instanceof HTMLSelectElement || isTick(control)) return choiceChange(field, control, value);
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) {
    const before = control.value;
    checkText(control, text);
    return { field, make: () => writeText(control, text), undo: () => writeText(control, before) };
  }
  const before = [...control.childNodes];
  const [old, html] = isBlank(control) ? ['', ''] : [control.innerText.trim(), control.innerHTML];
  const lines = text.split('\n').flatMap((line) => [document.createElement('br'), document.createTextNode(line)]);
  const write = (nodes: Node[]): void => {
    control.replaceChildren(...nodes);
    fire(control, text);
  };
  return {
    field,
    make: async () => (await paste(control, text)) || write(lines.slice(1)),
    // Some editors take no text that comes with its markup.
    undo: async () => (await paste(control, old, html)) || (await paste(control, old)) || write(html ? before : []),
  };
}

/** Returns `true` if an element contains neither text nor pictures. The placeholder of an editor is no text. */
function isBlank(control: HTMLElement): boolean {
  const copy = control.cloneNode(true) as HTMLElement;
  for (const fixed of copy.querySelectorAll('[contenteditable=false]')) fixed.remove();
  return !copy.innerText.trim() && !control.querySelector('img, video');
}

/**
 * Pastes a text over all that an element contains. An editor of the page, which has the text elsewhere too, takes it. Returns
 * `false` if there is none.
 */
async function paste(control: HTMLElement, text: string, html = ''): Promise<boolean> {
  while (isComposed) await pause(COMPOSED_MS);
  const before = focused();
  const hasFocus = (): boolean => {
    control.focus({ preventScroll: true });
    return document.activeElement === control;
  };
  const cover = hasFocus() ? undefined : uncovered();
  if (cover && !hasFocus()) return cover(), false;
  let isInterrupted = false;
  const giveFocus = (): void => {
    control.blur();
    before?.focus({ preventScroll: true });
    giveKeys();
  };
  // A character cannot be held that is composed of several keys. The field of the user gets the first of them.
  const giveKeys = holdKeys(() => {
    isInterrupted = true;
    giveFocus();
  });
  getSelection()?.selectAllChildren(control);
  await pause(SELECTED_MS);
  if (isInterrupted) {
    do await pause(COMPOSED_MS);
    while (isComposed);
    if (cover) cover(), giveFocus();
    return paste(control, text, html);
  }
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  if (html) clipboardData.setData('text/html', html);
  const how = { bubbles: true, composed: true, cancelable: true };
  const event = text || html
    ? new ClipboardEvent('paste', how)
    : new InputEvent('beforeinput', { ...how, inputType: DELETE });
  // In Firefox, the data of an event that a page makes is empty.
  Object.defineProperty(event, 'clipboardData', { value: clipboardData });
  const isTaken = !control.dispatchEvent(event);
  // An editor sets its selection, and with it the focus, once it has drawn.
  await pause();
  cover?.();
  giveFocus();
  return isTaken;
}

/** Lets the page have the focus while a chat covers a phone. Returns a function that ends that. */
function uncovered(): () => void {
  const chats = [...document.querySelectorAll('omniassist-chat')];
  const dialog = chats.map(({ shadowRoot }) => shadowRoot?.querySelector<HTMLDialogElement>('dialog:modal')).find(Boolean);
  dialog?.close();
  dialog?.setAttribute('popover', 'manual');
  dialog?.showPopover();
  return () => {
    if (!dialog?.isConnected) return;
    dialog.hidePopover();
    dialog.removeAttribute('popover');
    // A dialog takes the focus when it is shown, unless nothing in it can have it.
    dialog.inert = true;
    dialog.showModal();
    dialog.inert = false;
  };
}

/**
 * Keeps the user's keys from an editor that has the focus for a moment, also those of keyboards on a screen, which insert a
 * text without a key. Returns a function that gives them to the field. `composes` is called when a composition begins.
 */
function holdKeys(composes: () => void): () => void {
  const held: (KeyboardEvent & InputEvent)[] = [];
  const end = listen(['keydown', 'beforeinput'], (event) => {
    const { isTrusted, ctrlKey, altKey, metaKey, key, data, inputType } = event as KeyboardEvent & InputEvent;
    // A shortcut of the browser stays one. With AltGr, a character has both keys.
    if (!isTrusted || metaKey || (ctrlKey && !altKey)) return;
    if (isComposing(event as KeyboardEvent)) return composes();
    if (!key && !data && inputType !== DELETE) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held.push(event as KeyboardEvent & InputEvent);
  });
  return () => {
    end();
    for (const event of held.splice(0)) {
      const { key = '', data = key, inputType } = event;
      if (key && !focused()?.dispatchEvent(new KeyboardEvent('keydown', event))) continue;
      if (data && (!key || key.length === 1)) document.execCommand('insertText', false, data);
      if (key === 'Backspace' || inputType === DELETE) document.execCommand('delete');
    }
  };
}

function checkText(control: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  // A copy outside of the page checks the value. No listener of the page sees that.
  const copy = control.cloneNode() as typeof control;
  copy.value = text;
  const { validity, validationMessage, maxLength } = copy;
  if (text && !copy.value) throw new Error(`The value must be a ${control.type}.`);
  const isReplaced =
    (control.type === 'range' && text && +copy.value !== +text) ||
    (control.type === 'color' && copy.value !== text.trim().toLowerCase()) ||
    (control.localName === 'input' && /[\r\n]/.test(text.trim()));
  if (isReplaced) throw new Error(`The browser would replace the value by ${copy.value}.`);
  if (maxLength >= 0 && copy.value.length > maxLength) throw new Error(`At most ${maxLength} characters are allowed.`);
  if (!validity.valid && !validity.valueMissing) throw new Error(validationMessage);
}

function writeText(control: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  // React and others replace the setter of the element. A change by their setter causes no update.
  Reflect.set(Object.getPrototypeOf(control) as object, 'value', text, control);
  fire(control, text);
}

function choiceChange(field: Field, control: Control, value: unknown): Omit<Change, 'marks'> {
  const select = control instanceof HTMLSelectElement ? control : undefined;
  const isOne = select ? !select.multiple : control.type === 'radio';
  const elements = select ? [...select.options] : field.controls;
  const isChosen = (element: Choice['element']): boolean =>
    'selected' in element ? element.selected : element.checked === true;
  const before = elements.filter(isChosen);
  const after = chosenOf(field, value, !isOne);
  const write = async (wanted: readonly Choice['element'][]): Promise<void> => {
    for (const element of elements) {
      const isWanted = wanted.includes(element);
      // The choice of another one ends a choice.
      if (isChosen(element) === isWanted || (isOne && !isWanted)) continue;
      if ('selected' in element) element.selected = isWanted;
      else {
        // A click is the one event that all frameworks read for these controls.
        element.click();
        await pause();
      }
    }
    if (select) fire(select);
  };
  // There is no event for a radio button that is no longer chosen.
  const undo = !select && isOne && before.length === 0 ? {} : { undo: () => write(before) };
  return { field, make: () => write(after), ...undo };
}

/** Returns the elements of the choices that are named by label or value. */
function chosenOf(field: Field, value: unknown, isList: boolean): Choice['element'][] {
  const choices = choicesOf(field);
  let items = Array.isArray(value) ? (value as unknown[]) : [value];
  if (isList && typeof value === 'string' && /^\s*\[.*\]\s*$/s.test(value)) items = JSON.parse(value) as unknown[];
  if (!choices) return isTicked(field, items) ? field.controls : [];
  if (!isList && items.length !== 1) throw new Error('The field takes one choice.');
  return items.map((item) => {
    const byLabel = choicesWith(choices, 'label', item);
    const byValue = choicesWith(choices, 'value', item);
    const [choice] = byLabel.length === 1 ? byLabel : byValue;
    if (choice) return choice.element;
    if (byLabel.length > 1) {
      const values = byLabel.map((choice) => choice.value).join(', ');
      throw new Error(`Several choices are called ${JSON.stringify(item)}. Give a value: ${values}.`);
    }
    const labels = choices.slice(0, 30).map((choice) => choice.label || choice.value);
    throw new Error(`${JSON.stringify(item)} is no choice. Choices: ${labels.join(', ')}.`);
  });
}

const same = (item: unknown): ((text: string) => boolean) => {
  const wanted = String(item).trim().toLowerCase();
  return (text) => text.trim().toLowerCase() === wanted;
};

/** Returns the choices with this text, in this case if there are such. */
function choicesWith(choices: Choice[], key: 'label' | 'value', item: unknown): Choice[] {
  const exact = choices.filter((choice) => choice[key] === item);
  return exact.length > 0 ? exact : choices.filter((choice) => same(item)(choice[key]));
}

/** Returns `true` if the only check box of its name is wanted: by a Boolean, or by its own value or label. */
function isTicked({ controls, label }: Field, items: unknown[]): boolean {
  const isItem = same(items[0]);
  const isOne = items.length === 1;
  if (items.length === 0 || (isOne && ['false', 'off', 'no', '0'].some(isItem))) return false;
  if (isOne && ['true', 'on', 'yes', '1', label, controls[0]?.value].some((text) => text && isItem(text))) return true;
  throw new Error('The value must be true or false.');
}

function fire(control: Control, data: string | null = null): void {
  const how = { bubbles: true, composed: true };
  control.dispatchEvent(new InputEvent('input', { ...how, inputType: 'insertReplacementText', data }));
  control.dispatchEvent(new Event('change', how));
}

function mark({ controls }: Field, marks: Marks): void {
  controls.forEach((control, at) => {
    const value = marks[at];
    if (value) control.setAttribute(MARK, value);
    else control.removeAttribute(MARK);
  });
}

let last: Promise<unknown> = Promise.resolve();

/** Makes changes after those of earlier calls. A form that its page would submit at a change is not submitted. */
function withoutSubmit(changes: Change[], run: (change: Change) => Promise<void>): Promise<void> {
  const done = last.then(() => inTurn(changes, run));
  last = done.catch(() => {});
  return done;
}

async function inTurn(changes: Change[], run: (change: Change) => Promise<void>): Promise<void> {
  const refuse = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const forms = new Set(changes.map(({ field }) => field.controls[0]?.form).filter((form) => !!form));
  const own = [...forms].map((form) => [form, Object.getOwnPropertyDescriptor(form, 'submit')] as const);
  for (const [form] of own) Reflect.defineProperty(form as object, 'submit', { value() {}, configurable: true });
  window.addEventListener('submit', refuse, true);
  try {
    for (const change of changes) {
      await run(change);
      // Handlers of React and Vue often replace all values by the ones that were drawn last.
      await pause();
    }
  } finally {
    window.removeEventListener('submit', refuse, true);
    for (const [form, before] of own) {
      if (before) Reflect.defineProperty(form as object, 'submit', before);
      else Reflect.deleteProperty(form as object, 'submit');
    }
  }
}

/** Waits. Without a time, frameworks have drawn a value by then. */
const pause = (ms?: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

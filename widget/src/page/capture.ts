// The actions of the user in the page, as context for the model: opened pages, and the values of open forms.

import { newId } from '../chat/id.js';
import { page } from '../chat/registry.js';
import type { ContextMessage } from '../chat/types.js';
import { EDITABLE, fieldsOf, formName, formOf, formSelector, isIgnored, valueOf } from './fields.js';
import { listen } from './listen.js';
import { here, pathOf, watchPasswords } from './secrets.js';

export interface CaptureOptions {
  /** `true` adds each page that the user opens, and the open page at each send. Default: `false`. */
  navigation?: boolean;
  /** The forms whose values are added after a change and at submit. `true`: `form[data-assistant]`. Default: none. */
  forms?: boolean | string;
  /** The pause after a change before the values are added, in milliseconds. Default: 400. */
  delay?: number;
}

/** The longest value of a field. The server shortens to 512 bytes. */
const LONGEST = 600;

/** Adds context until the returned function is called. */
export function capture({ navigation, forms, delay = 400 }: CaptureOptions): () => void {
  const ends: (() => void)[] = [];
  if (navigation) ends.push(captureNavigation());
  if (forms) ends.push(watchPasswords(), captureForms(formSelector(forms), delay));
  return () => {
    for (const end of ends) end();
  };
}

function captureNavigation(): () => void {
  let path = pathOf(location);
  let isNew = false;
  let leave = (): void => {};
  const check = (): void => {
    const from = path;
    path = pathOf(location);
    if (path === from) return;
    leave();
    isNew = true;
    // Pages set the title late, so it is read until the next page is open.
    let title: string | undefined;
    leave = () => void ({ title } = here());
    const data = {
      path,
      from,
      get title() {
        return title ?? here().title;
      },
    };
    page.addContext({ type: 'navigation', id: `visit-${newId()}`, data });
  };
  const { navigation } = window as { navigation?: EventTarget };
  // Browsers without the Navigation API do not report `pushState`.
  const timer = navigation ? undefined : setInterval(check, 500);
  navigation?.addEventListener('currententrychange', check);
  addEventListener('popstate', check);
  const unregister = page.registerContext('navigation', () => {
    check();
    const isKnown = isNew;
    isNew = false;
    return isKnown ? undefined : here();
  });
  return () => {
    clearInterval(timer);
    navigation?.removeEventListener('currententrychange', check);
    removeEventListener('popstate', check);
    unregister();
  };
}

function captureForms(selector: string, delay: number): () => void {
  const waiting = new Map<HTMLElement, ContextMessage>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): undefined => {
    clearTimeout(timer);
    for (const message of waiting.values()) page.addContext(message);
    waiting.clear();
  };
  const changed = ({ type, target }: Event): void => {
    if (!(target instanceof Element)) return;
    const form = formOf(target.closest(EDITABLE) ?? target, selector);
    if (!form || isIgnored(form)) return;
    // Pages often empty or remove a form at submit, so it is read at once.
    waiting.set(form, describe(form, selector, type === 'submit' ? 'submitted' : 'changed'));
    clearTimeout(timer);
    if (type === 'submit') flush();
    else timer = setTimeout(flush, delay);
  };
  const unlisten = listen(['input', 'change', 'submit'], changed);
  // The user may send a message within the pause.
  const unregister = page.registerContext('form', flush);
  return () => {
    clearTimeout(timer);
    unregister();
    unlisten();
  };
}

function describe(form: HTMLElement, selector: string, event: string): ContextMessage {
  const name = formName(form, selector);
  const { open } = fieldsOf(form, selector);
  const fields = open.map((field) => {
    const value = valueOf(field);
    const { name, label } = field;
    return { name, ...(label && { label }), value: typeof value === 'string' ? value.slice(0, LONGEST) : value };
  });
  const problems = open.flatMap(({ name, controls }): [string, string][] => {
    const wrong = controls.find((control) => control.matches(':user-invalid')) as HTMLInputElement | undefined;
    return wrong ? [[name, wrong.validationMessage]] : [];
  });
  const errors = problems.length > 0 && { errors: Object.fromEntries(problems) };
  return { type: 'form', id: `form-${name}`, data: { form: name, event, fields, ...errors } };
}

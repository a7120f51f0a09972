import { builtin, frame, more, shown } from './builtin.js';
import type { AnyContext } from './component.js';
import { time } from './format.js';
import { type Child, h } from './node.js';
import { type Sending, send } from './sending.js';
import type { Texts } from './texts.js';

interface Field {
  name?: string;
  label?: string;
  kind?: 'text' | 'long-text' | 'number' | 'date' | 'email' | 'select' | 'checkbox';
  required?: boolean | null;
  options?: string[] | null;
  value?: string | null;
}

interface Props {
  title?: string | null;
  fields?: Field[];
  submit?: string | null;
}

type Value = string | number | boolean;

interface Draft extends Sending {
  /** The user's entries, by the position of the field. */
  values: Map<number, string | boolean>;
  /** The messages since the user tried to submit, by the position of the field. */
  errors: Map<number, string>;
}

/** Fields for the user to fill in. The values are the output. */
export const form = builtin<Props, unknown, { draft: Draft }>('form', (context, local) => {
  const { title, submit } = context.props;
  const { texts } = context;
  const fields = shown(context.props.fields);
  const answered =
    (context.output as { values?: Record<string, Value> } | undefined)?.values ?? (context.closed ? {} : undefined);
  if (answered) {
    const rows = fields.map(({ name, label }) => {
      const value = name !== undefined && Object.hasOwn(answered, name) ? answered[name] : undefined;
      return h(
        'div',
        { part: 'field' },
        h('dt', null, label),
        h(
          'dd',
          null,
          value === undefined ? '–' : typeof value === 'boolean' ? (value ? texts.yes : texts.no) : String(value),
        ),
      );
    });
    return frame(
      'form',
      title,
      context,
      h('dl', { part: 'fields', tabindex: -1 }, rows),
      h('p', { part: 'note', role: 'status' }, context.closed ?? texts.sent),
    );
  }
  const draft = (local.draft ??= { values: new Map(), errors: new Map(), sending: false, failed: false });
  const entry = (index: number) => draft.values.get(index) ?? initial(fields[index], context, index);
  const check = (field: Field, index: number, input?: HTMLInputElement | null) => {
    // The value of a date that is not complete is empty.
    const message = input?.validity.badInput ? texts.missing : fault(field, entry(index), context);
    if (message) draft.errors.set(index, message);
    else draft.errors.delete(index);
  };

  const submitted = async (event: Event) => {
    event.preventDefault();
    if (!context.complete || draft.sending) return;
    const input = (index: number) => (event.target as Element).querySelector<HTMLInputElement>(`#f${index}`);
    fields.forEach((field, index) => check(field, index, input(index)));
    local.repaint();
    if (draft.errors.size) return input(Math.min(...draft.errors.keys()))?.focus();
    const values = fields.flatMap((field, index): [string, Value][] => {
      const value = read(field, entry(index), context.locale);
      return value === undefined || field.name === undefined ? [] : [[field.name, value]];
    });
    await send(draft, local, () => context.respond({ values: Object.fromEntries(values) }));
  };
  const rows = fields.map((field, index) =>
    field.kind
      ? row(field, index, entry(index), draft.errors.get(index), texts, (input) => {
          draft.values.set(index, field.kind === 'checkbox' ? input.checked : input.value);
          if (draft.errors.has(index)) check(field, index, input);
          local.repaint();
        })
      : null,
  );
  return frame(
    'form',
    title,
    context,
    h(
      'form',
      { novalidate: true, onsubmit: (event) => void submitted(event) },
      rows,
      more(context.props.fields?.length, context),
      h(
        'div',
        { part: 'actions' },
        h(
          'button',
          {
            part: 'button primary',
            type: 'submit',
            'aria-disabled': !context.complete || draft.sending ? 'true' : null,
          },
          submit || texts.submit,
        ),
        h('span', { part: 'error', role: 'alert' }, draft.failed ? texts.notSent : null),
      ),
    ),
  );
});

function row(
  field: Field,
  index: number,
  value: string | boolean,
  error: string | undefined,
  texts: Texts,
  change: (input: HTMLInputElement) => void,
): Child {
  const id = `f${index}`;
  // A field of the type `number` hides what is not a number.
  const type = field.kind === 'number' ? 'text' : field.kind;
  const shared = {
    id,
    key: field.kind,
    part: 'input',
    required: !!field.required,
    'aria-invalid': error ? 'true' : null,
    'aria-describedby': error ? `${id}e` : null,
    oninput: (event: Event) => change(event.target as HTMLInputElement),
  };
  const label = h(
    'label',
    { for: id },
    field.label || field.name,
    field.required ? h('span', { part: 'required', 'aria-hidden': 'true' }, ' *') : null,
  );
  const note = error ? h('p', { part: 'error', id: `${id}e` }, error) : null;
  if (field.kind === 'checkbox') {
    const box = h('input', { ...shared, type, checked: value === true });
    return h('div', { part: 'entry check' }, box, label, note);
  }
  const text = String(value);
  const options = shown(field.options);
  const input =
    field.kind === 'select'
      ? h(
          'select',
          { ...shared, value: options.includes(text) ? text : '' },
          h('option', { value: '' }, texts.choose),
          options.map((option) => h('option', { value: option }, option)),
        )
      : field.kind === 'long-text'
        ? h('textarea', { ...shared, rows: 4, value: text })
        : h('input', {
            ...shared,
            type,
            inputmode: field.kind === 'number' ? 'decimal' : null,
            autocomplete: field.kind === 'email' ? 'email' : null,
            value: text,
          });
  return h('div', { part: 'entry' }, label, input, note);
}

/** The value of a field that the user did not touch. A date or choice is taken once it is closed. */
function initial(field: Field | undefined, context: AnyContext, index: number): string | boolean {
  const value = field?.value ?? '';
  if (field?.kind === 'checkbox') return /^(true|yes|on|1)$/i.test(value);
  if (field?.kind === 'text' || field?.kind === 'long-text') return value;
  if (context.status(['fields', index, 'value']) !== 'done') return '';
  if (field?.kind === 'number') return value.replace('.', mark('decimal', context.locale) ?? '.');
  return field?.kind === 'date' && (value.length > 10 || time(value) === undefined) ? '' : value;
}

/** Returns a mark in numbers of a language that have Latin digits. */
const mark = (wanted: string, locale: string) =>
  new Intl.NumberFormat(locale, { numberingSystem: 'latn' }).formatToParts(12345.6).find(({ type }) => type === wanted)
    ?.value;

/** Returns the Latin digit for one of any script. Its value is the number of digits before it. */
function latin(digit: string): string {
  let code = digit.codePointAt(0) as number;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(--code))) value += 1;
  return String(value % 10);
}

/** Reads a decimal number. A text such as `1,000` is `NaN` where the user means a thousand, since it reads as one. */
function decimal(text: string, locale: string): number {
  const plain = text.replace(/\p{Nd}/gu, latin).replace('٫', '.');
  const isGrouped = plain.at(-4) === mark('group', locale) && /^-?[1-9]\d{0,2}.\d{3}$/.test(plain);
  return !isGrouped && /^[-+]?\d*[.,]?\d+$/.test(plain) ? Number(plain.replace(',', '.')) : NaN;
}

/** The value of a field in the output, or `undefined` if it is empty. */
function read(field: Field, value: string | boolean, locale: string): Value | undefined {
  if (typeof value === 'boolean') return value;
  const text = value.trim();
  if (!text) return undefined;
  if (field.kind === 'number') return decimal(text, locale);
  return field.kind === 'select' && !field.options?.includes(value) ? undefined : value;
}

/** Returns the reason that a value cannot be sent, if there is one. */
function fault(field: Field, value: string | boolean, { texts, locale }: AnyContext): string | undefined {
  const entered = read(field, value, locale);
  if (entered === undefined || (field.kind === 'checkbox' && entered === false))
    return field.required ? texts.missing : undefined;
  if (field.kind === 'number' && !Number.isFinite(entered)) return texts.notNumber;
  if (field.kind === 'email' && !/^\S+@\S+\.\S+$/.test(String(entered))) return texts.notEmail;
  return undefined;
}

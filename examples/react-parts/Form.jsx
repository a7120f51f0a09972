import { useId } from 'react';

const INPUT_TYPES = { date: 'date', email: 'email', uri: 'url' };

/** A form for a JSON Schema of type object, with one field for each property. The server checks the answer again. */
export function Form({ message, schema, onSend, onDecline }) {
  const required = schema.required ?? [];
  // Required fields come first.
  const fields = Object.entries(schema.properties ?? {});
  fields.sort(([one], [other]) => required.includes(other) - required.includes(one));

  function submit(event) {
    event.preventDefault();
    const form = new FormData(event.target);
    const entered = fields.map(([key, field]) => [key, read(field, form.get(key))]);
    onSend(Object.fromEntries(entered.filter(([, value]) => value !== undefined)));
  }
  return (
    <form className="ask" onSubmit={submit}>
      <p className="question">{message}</p>
      {fields.map(([key, field]) => (
        <Field key={key} name={key} field={field} isRequired={required.includes(key)} />
      ))}
      <div className="buttons">
        <button type="submit">Send</button>
        <button type="button" onClick={onDecline}>Decline</button>
      </div>
    </form>
  );
}

/** Returns the value of a field in the type of the schema, or `undefined` for an empty field. */
function read(field, text) {
  if (field.type === 'boolean') return text !== null;
  if (text === null || text === '') return undefined;
  if (field.enum) return field.enum[Number(text)];
  return field.type === 'number' || field.type === 'integer' ? Number(text) : text;
}

function Field({ name, field, isRequired }) {
  const id = useId();
  const title = field.title ?? name.replaceAll('_', ' ');
  const common = {
    id,
    name,
    required: isRequired && field.type !== 'boolean',
    'aria-describedby': field.description && `${id}-hint`,
  };
  return (
    <div className={field.type === 'boolean' ? 'field check' : 'field'}>
      <label htmlFor={id}>{isRequired || field.type === 'boolean' ? title : `${title} (optional)`}</label>
      {control(field, common)}
      {field.description && <small id={`${id}-hint`}>{field.description}</small>}
    </div>
  );
}

function control(field, common) {
  if (field.type === 'boolean') return <input type="checkbox" defaultChecked={field.default} {...common} />;
  if (field.enum) {
    return (
      <select defaultValue="" {...common}>
        <option value="">Choose…</option>
        {field.enum.map((value, at) => <option key={at} value={at}>{String(value)}</option>)}
      </select>
    );
  }
  if (field.type === 'number' || field.type === 'integer') {
    const step = field.type === 'integer' ? 1 : 'any';
    return <input type="number" step={step} min={field.minimum} max={field.maximum} defaultValue={field.default} {...common} />;
  }
  return <input type={INPUT_TYPES[field.format] ?? 'text'} defaultValue={field.default} {...common} />;
}

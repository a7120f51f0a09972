// A form for a JSON Schema of type object, with one field for each property. The browser checks each field; the server
// checks the whole answer against the schema.

import { element, freshId, titled } from "/dom.js";

/** Texts that may be longer than this get a field of several lines. */
const ONE_LINE = 200;

const INPUT_TYPES = { date: "date", email: "email", uri: "url" };

/** The first type that is not null. Default: text. */
const typeOf = (schema) => [schema.type ?? "string"].flat().find((name) => name !== "null");

/** The options of a schema that lists its values. */
const optionsOf = (schema) => schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);

/** The kinds of controls: { control, read() }. `read` returns `undefined` for an empty field. */
const kinds = {
  choice(schema, isRequired) {
    const values = optionsOf(schema);
    const options = values.map((value, at) => element("option", { value: String(at) }, String(value)));
    const none = element("option", { value: "" }, isRequired ? "Choose…" : "—");
    const control = element("select", { required: isRequired }, none, ...options);
    const preset = values.indexOf(schema.default);
    if (preset >= 0) control.value = String(preset);
    return { control, read: () => (control.value === "" ? undefined : values[Number(control.value)]) };
  },
  boolean(schema) {
    const control = element("input", { type: "checkbox", checked: schema.default === true });
    return { control, read: () => control.checked };
  },
  number(schema, isRequired) {
    const isWhole = typeOf(schema) === "integer";
    const { minimum: min, maximum: max } = schema;
    const limits = { min, max, step: isWhole ? "1" : "any", inputmode: isWhole ? "numeric" : "decimal" };
    const control = element("input", { type: "number", required: isRequired, ...limits });
    if (schema.default !== undefined) control.value = String(schema.default);
    return { control, read: () => (control.value === "" ? undefined : Number(control.value)) };
  },
  text(schema, isRequired) {
    const { minLength: minlength, maxLength: maxlength } = schema;
    const limits = { required: isRequired, minlength, maxlength };
    const type = INPUT_TYPES[schema.format];
    const isLong = !type && maxlength > ONE_LINE;
    const control = isLong
      ? element("textarea", { rows: "3", ...limits })
      : element("input", { type: type ?? "text", ...limits });
    if (schema.default !== undefined) control.value = String(schema.default);
    return { control, read: () => (control.value === "" ? undefined : control.value) };
  },
  /** A field for JSON text, for values that no other control fits. */
  json(schema, isRequired) {
    const control = element("textarea", { rows: "3", required: isRequired, spellcheck: "false" });
    if (schema.default !== undefined) control.value = JSON.stringify(schema.default);
    const read = () => (control.value.trim() === "" ? undefined : JSON.parse(control.value));
    control.addEventListener("input", () => {
      let problem = "";
      try {
        read();
      } catch {
        problem = "This is not valid JSON.";
      }
      control.setCustomValidity(problem);
    });
    return { control, read };
  },
};

function kindOf(schema) {
  if (optionsOf(schema)?.length > 0) return "choice";
  const type = typeOf(schema);
  if (type === "integer") return "number";
  return { string: "text", number: "number", boolean: "boolean" }[type] ?? "json";
}

function field(key, schema, isRequired) {
  const kind = kindOf(schema);
  const { control, read } = kinds[kind](schema, isRequired);
  control.id = freshId("field");
  control.name = key;
  const hint = [schema.description, kind === "json" ? "Write it as JSON." : undefined].filter(Boolean).join(" ");
  const hintNode = hint ? element("small", { id: `${control.id}-hint` }, hint) : undefined;
  if (hintNode) control.setAttribute("aria-describedby", hintNode.id);
  const title = schema.title || titled(key);
  const isOptional = !isRequired && kind !== "boolean";
  const label = element("label", { for: control.id }, isOptional ? `${title} (optional)` : title);
  const order = kind === "boolean" ? [control, " ", label, hintNode] : [label, control, hintNode];
  return { key, read, node: element("div", { class: kind === "boolean" ? "field check" : "field" }, ...order) };
}

/** Makes a form that asks `message`. It calls `send` with the values, or `decline`. `close()` disables it. */
export function schemaForm({ message, schema, send, decline }) {
  const properties = Object.entries(schema?.properties ?? {});
  const required = Array.isArray(schema?.required) ? schema.required : [];
  // Required fields come first, in the order of the schema's `required`.
  const place = ([key]) => (required.includes(key) ? required.indexOf(key) : required.length);
  const fields = properties
    .sort((one, other) => place(one) - place(other))
    .map(([key, each]) => field(key, Object(each) === each ? each : {}, required.includes(key)));
  const refuse = element("button", { type: "button", class: "decline" }, "Decline");
  refuse.addEventListener("click", decline);
  const buttons = element("div", { class: "buttons" }, element("button", { type: "submit" }, "Send"), refuse);
  const legend = element("legend", {}, message);
  const set = element("fieldset", {}, legend, ...fields.map((each) => each.node), buttons);
  const node = element("form", { class: "schema-form", autocomplete: "on" }, set);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    const entered = fields.map(({ key, read }) => [key, read()]).filter(([, value]) => value !== undefined);
    send(Object.fromEntries(entered));
  });
  return { node, close: () => (set.disabled = true) };
}

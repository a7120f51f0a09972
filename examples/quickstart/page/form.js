// A form for a JSON Schema of type object: one field a property. The server checks what is entered against the whole
// schema; here is checked what a browser can say beside the field.

import { element, freshId } from "/dom.js";

/** Longer texts than this get several lines. */
const ONE_LINE = 200;

const INPUT_TYPES = { date: "date", email: "email", uri: "url" };

/** The first type that is not null; one that is left out counts as text. */
const typeOf = (schema) => [schema.type ?? "string"].flat().find((name) => name !== "null");
const named = (key) => {
  const words = key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The options of a schema that lists its values. */
const optionsOf = (schema) => schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);

/** A control of one kind: { control, read() }, where `read` gives `undefined` for a field that was left empty. */
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
  /** What has no control of its own is written as JSON. */
  json(schema, isRequired) {
    const control = element("textarea", { rows: "3", required: isRequired, spellcheck: "false" });
    if (schema.default !== undefined) control.value = JSON.stringify(schema.default);
    const read = () => (control.value.trim() === "" ? undefined : JSON.parse(control.value));
    control.addEventListener("input", () => {
      let problem = "";
      try {
        read();
      } catch {
        problem = "This is no JSON.";
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
  const hint = [schema.description, kind === "json" ? "Written as JSON." : undefined].filter(Boolean).join(" ");
  const hintNode = hint ? element("small", { id: `${control.id}-hint` }, hint) : undefined;
  if (hintNode) control.setAttribute("aria-describedby", hintNode.id);
  const title = schema.title || named(key);
  const isOptional = !isRequired && kind !== "boolean";
  const label = element("label", { for: control.id }, isOptional ? `${title} (optional)` : title);
  const order = kind === "boolean" ? [control, " ", label, hintNode] : [label, control, hintNode];
  return { key, read, node: element("div", { class: kind === "boolean" ? "field check" : "field" }, ...order) };
}

/**
 * A form that asks `message`. Calls `send` with what was entered, `decline` when the user would rather not.
 * `close()` ends it: nothing can be entered any more.
 */
export function schemaForm({ message, schema, send, decline }) {
  const properties = Object.entries(schema?.properties ?? {});
  const required = Array.isArray(schema?.required) ? schema.required : [];
  // What must be filled in comes first, in the order in which the schema asks for it.
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

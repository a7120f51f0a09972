/** The longest JSON text that becomes a `json!`. The macro takes one step of the recursion limit for each value. */
const LONGEST_JSON = 160;

/** Writes a string literal of Rust. The compiler refuses characters that change the direction of text. */
export function rustString(text: string): string {
  const escaped = text.replace(/[\\"\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])/g, (character) => {
    const short = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
    return short ?? `\\u{${Math.min(character.codePointAt(0) ?? 0, 0xfffd).toString(16)}}`;
  });
  return `"${escaped}"`;
}

/** Writes a string literal of Rust that has JSON as it is. */
export function rawJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  const text = json.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);
  const longest = Math.max(0, ...[...text.matchAll(/"(#*)/g)].map(([, hashes]) => (hashes ?? '').length + 1));
  const hashes = '#'.repeat(longest);
  return `r${hashes}"${text}"${hashes}`;
}

/** Writes an expression for a `Value`. */
export function rustJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  return json.length > LONGEST_JSON
    ? `serde_json::from_str::<serde_json::Value>(${rawJson(value)}).unwrap()`
    : `json!(${literal(JSON.parse(json))})`;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return rustString(value);
  if (Number.isInteger(value)) return integer(value as number);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (value === null || typeof value !== 'object') return String(value);
  return `{${Object.entries(value).map(([key, member]) => `${rustString(key)}: ${literal(member)}`).join(', ')}}`;
}

/** Writes an integer of JavaScript. Without a suffix, it would be an `i32`. */
function integer(value: number): string {
  if (Math.abs(value) < 2 ** 31) return String(value);
  const isFloat = value < -(2 ** 63) || value >= 2 ** 64;
  return `${value}_${isFloat ? 'f64' : value < 2 ** 63 ? 'i64' : 'u64'}`;
}

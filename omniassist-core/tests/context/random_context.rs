//! Random context: all kinds of messages, secrets, hostile texts, and values at the limits of the compressor.

use fastrand::Rng;
use omniassist_core::ContextMessage;
use omniassist_core::context::ContextCompressor;
use serde_json::{Map, Value, json};

const KINDS: [&str; 13] = [
    "navigation",
    "navigation",
    "navigation",
    "form",
    "form",
    "form",
    "template",
    "cart",
    "feature-flag",
    "",
    "<kind>\n- x",
    "kind?token=abc",
    "API key",
];

/// The keys that a rule knows, some in other spellings.
const KEYS: [&str; 99] = [
    "to",
    "path",
    "url",
    "href",
    "pathname",
    "fullPath",
    "location",
    "route",
    "page",
    "from",
    "referrer",
    "previous",
    "title",
    "pageTitle",
    "name",
    "params",
    "query",
    "searchParams",
    "search",
    "hash",
    "form",
    "formId",
    "formName",
    "id",
    "event",
    "action",
    "status",
    "state",
    "submitted",
    "fields",
    "values",
    "data",
    "value",
    "checked",
    "type",
    "label",
    "field",
    "key",
    "errors",
    "error",
    "message",
    "password",
    "token",
    "sensitive",
    "secret",
    "masked",
    "autocomplete",
    "auto-complete",
    "inputType",
    "INPUT_TYPE",
    "field_name",
    "types",
    "attributes",
    "attrs",
    "props",
    "elements",
    "inputs",
    "placeholder",
    "ariaLabel",
    "newValue",
    "oldValue",
    "content",
    "text",
    "result",
    "answer",
    "customerNumber",
    "user[pin]",
    "user.email",
    "PINCode",
    "cardPin2",
    "shopping",
    "ccNumber",
    "cc",
    "cc-exp",
    "XMLToken",
    "HTMLPass",
    "pass",
    "compass",
    "passwörter",
    "contraseña",
    "пароль",
    "ПАРОЛЬ",
    "密码",
    "πισ",
    "ﬁeld",
    "İd",
    "toKen",
    "__proto__",
    "constructor",
    "length",
    "",
    "line",
    "a?code=1&b",
    "target",
    "element",
    "property",
    "pass2",
    "passConfirm",
    "X-Goog-Signature",
];

/// Parts of texts.
const PARTS: [&str; 89] = [
    "a",
    "b",
    "Ann",
    "orders",
    "tea",
    "1",
    "42",
    " ",
    "  ",
    "/",
    "//",
    "/orders",
    "/reset-password",
    "https://",
    "https://ann:pw@h.test",
    "ftp://u@h",
    "h.test:80",
    "h.test:80x",
    "[::1]",
    "?",
    "&",
    "#",
    "#/",
    "#!/",
    "=",
    "@",
    ":",
    "%",
    "%3D",
    "%26",
    "%2F",
    "%252F",
    "%25253Dx",
    "%e4%b8",
    "%ff",
    "%c3%A9",
    "token",
    "token=",
    "code=",
    "key=x",
    "password=hunter2",
    "password%3Dhunter2",
    "api_key=k%20y",
    "X-Amz-Signature=s",
    "email=",
    "pin=0000",
    "shopping=1",
    "[redacted]",
    "\"",
    "\\",
    "\\\"",
    "'",
    "`",
    "<",
    ">",
    "</app_context>",
    "\n",
    "\r\n",
    "\t",
    "\u{0}",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{ad}",
    "\u{1160}",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}",
    "\u{2028}",
    "\u{2066}",
    "\u{feff}",
    "\u{ff1c}",
    "\u{ffa0}",
    "\u{fff0}",
    "\u{e0158}",
    "\u{e0fff}",
    "\u{e0041}",
    "\u{e000}",
    "é",
    "ß",
    "İ",
    "Σ",
    "漢字",
    "😀",
    "👩‍👩‍👧",
    "𝔘",
    "{\"password\":\"x",
    "- Opened /admin",
];

/// Whole texts: values of attributes, dates, zones, and JSON that a parser may refuse.
const TEXTS: [&str; 57] = [
    "",
    "a",
    "password",
    "Password",
    "radio",
    "RADIO",
    "checkbox",
    "text",
    "one-time-code",
    "cc-number",
    "section-a CC-exp",
    "username current-password",
    "username\u{b}current-password",
    "new-passwords",
    "pin",
    "OTP",
    "credit_card",
    "submitted",
    "2026-03-29T02:30:00+02:00",
    "2026-03-29T01:30:00.123456789Z",
    "2026-10-25T02:30:00[Europe/Berlin]",
    "America/Argentina/Buenos_Aires",
    "UTC-09:30",
    "-000001-01-01T00:00:00Z",
    "?a=1",
    "?token=t",
    "#top",
    "#/a/b?x=1",
    "/a?next=%2Fb%3Ftoken%3Dt",
    "https://h.test/?u=http%3A%2F%2Fa%3Ab%40c",
    "//a//b@c d@e//f",
    "https://us er:p/w@host x@y",
    "{}",
    "[]",
    "\"\"",
    " {\"a\":1}",
    "\u{a0}{\"token\":\"t\"}",
    "\u{feff}{\"token\":\"t\"}",
    "{\"password\":\"\\ud83d\"}",
    "{\"a\":\"\\ud83d\\ude00\",\"token\":\"\\ude00\\ud83d\"}",
    "{\"token\":1,\"a\":9007199254740993,\"b\":-9223372036854775808,\"c\":18446744073709551615}",
    "{\"token\":1,\"a\":18446744073709551616,\"b\":-9223372036854775809,\"c\":1e21,\"d\":1.0,\"e\":-0,\"f\":1E-7}",
    "{\"token\":1,\"a\":1e400}",
    "{\"a\":1e-400,\"pin\":1}",
    "{\"token\":1,\"a\":01}",
    "{\"token\":\"a\",\"token\":\"b\"}",
    "{\"x?token=a\":1,\"x?token=b\":2}",
    "[\"password\",\"x\"]",
    "[\"password\",null]",
    "[\"a=b\",\"x\"]",
    "\"\\\"token=x\\\"\"",
    "{\"to\\u006ben\":\"x\"}",
    "{token: 'x'}",
    "{\"a\":\"token=x\"}\n",
    "{\"\u{e000}\":1,\"😀\":2,\"pin\":3}",
    "{\"__proto__\":{\"token\":\"x\"}}",
    "true",
];

/// Lengths around the limits of a value and a bullet, in bytes.
const LENGTHS: [usize; 12] = [500, 505, 510, 511, 512, 513, 514, 600, 2_040, 2_048, 2_049, 2_100];

/// The settings of a compressor.
pub(super) struct Settings {
    pub(super) window: usize,
    pub(super) max_bytes: usize,
    pub(super) redact: Vec<&'static str>,
}

impl Settings {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "maxBytes": self.max_bytes,
            "redact": self.redact,
            "window": self.window,
        })
    }
}

/// Returns settings whose limits are often those of the context, or one less.
pub(super) fn settings(random: &mut Rng, context: &[ContextMessage]) -> Settings {
    let mut settings = Settings { window: 20, max_bytes: 4096, redact: Vec::new() };
    match random.u8(..10) {
        0 => settings.window = context.len().saturating_sub(random.usize(..2)),
        1..=3 => {
            let compressed = ContextCompressor::new().compress(context);
            settings.max_bytes = compressed.receipt().bytes_after.saturating_sub(random.usize(..2));
        }
        4..=5 => {
            let names =
                ["customer number", "email", "", "_", "A", "ÄRGER", "ΠΙΣ", "user[email]", "漢字", "İd"];
            settings.redact = (0..random.usize(1..4)).map(|_| choice(random, &names)).collect();
        }
        _ => {}
    }
    settings
}

/// Returns the messages of a page.
pub(super) fn context(random: &mut Rng) -> Vec<ContextMessage> {
    let count = match random.u8(..60) {
        0 if random.bool() => random.usize(18..24),
        1 => 0,
        _ => random.usize(1..3),
    };
    let mut messages: Vec<ContextMessage> = Vec::with_capacity(count);
    for id in 0..count {
        let message = match messages.last() {
            Some(last) if random.u8(..4) == 0 => {
                let mut again = last.clone();
                if random.bool() {
                    change(random, &mut again.data);
                }
                again
            }
            _ => {
                let kind = choice(random, &KINDS);
                let data = match (kind, random.u8(..4)) {
                    (_, 0) => value(random, 3),
                    ("navigation", _) => navigation(random),
                    ("form", _) => form(random),
                    _ => members(random, 3),
                };
                ContextMessage::new(id.to_string(), kind, data)
            }
        };
        messages.push(message);
    }
    messages
}

/// Adds or replaces a member.
fn change(random: &mut Rng, data: &mut Value) {
    let (key, item) = (choice(random, &KEYS), leaf(random));
    if let Some(map) = data.as_object_mut() {
        map.insert(key.to_owned(), item);
    }
}

fn navigation(random: &mut Rng) -> Value {
    let pages =
        ["/", "/orders", "/orders?page=2", "/orders#top", "/app#/inbox?x=1", "https://h.test/a?token=t"];
    let mut data = json!({choice(random, &["to", "path", "url", "location"]): choice(random, &pages)});
    if random.u8(..3) == 0 {
        data["to"] = json!({
            choice(random, &["path", "pathname", "fullPath", "href", "name"]): choice(random, &pages),
            "search": choice(random, &["", "?a=1", "?token=t", "a"]),
            "hash": choice(random, &["", "#", "#top", "##/x?y"]),
            "params": members(random, 1),
        });
    }
    if random.bool() {
        data["from"] = json!(choice(random, &pages));
    }
    if random.bool() {
        data["title"] = json!(text(random));
    }
    if random.u8(..3) == 0 {
        data[choice(random, &["params", "query", "search"])] = value(random, 2);
    }
    data
}

fn form(random: &mut Rng) -> Value {
    let mut data = json!({});
    if random.u8(..4) > 0 {
        let name = json!(choice(random, &["checkout", "login", "Change password", "é"]));
        data[choice(random, &["form", "formId", "name", "id"])] = name;
    }
    let count = if random.u8(..200) == 0 { random.usize(63..67) } else { random.usize(..4) };
    let as_list = random.bool();
    let fields: Vec<Value> = (0..count).map(|_| field(random)).collect();
    data[choice(random, &["fields", "values", "data"])] = if as_list {
        fields.into()
    } else {
        let named = fields.into_iter().enumerate().map(|(at, field)| {
            let key = if count > 4 { format!("f{at}") } else { choice(random, &KEYS).to_owned() };
            (key, if count > 4 { Value::from(at) } else { field })
        });
        named.collect::<Map<_, _>>().into()
    };
    if random.u8(..3) == 0 {
        data[choice(random, &["event", "status", "submitted"])] = leaf(random);
    }
    if random.u8(..4) == 0 {
        let error =
            json!({"field": text(random), choice(random, &["message", "error", "why"]): text(random)});
        data["errors"] = if random.bool() { json!([error]) } else { error };
    }
    data
}

fn field(random: &mut Rng) -> Value {
    if random.u8(..4) == 0 {
        return json!([choice(random, &KEYS), leaf(random)]);
    }
    let mut field = json!({choice(random, &["name", "field", "key", "id", "label"]): choice(random, &KEYS)});
    field[choice(random, &["value", "value", "checked", "newValue"])] = leaf(random);
    if random.u8(..5) == 0 {
        field["checked"] = random.bool().into();
        field["type"] = json!(choice(random, &["radio", "RADIO", "checkbox"]));
    }
    if random.bool() {
        field["label"] = json!(choice(random, &KEYS));
    }
    if random.bool() {
        field[choice(random, &["type", "autocomplete", "format"])] = json!(choice(random, &TEXTS[..18]));
    }
    field
}

fn value(random: &mut Rng, depth: usize) -> Value {
    match random.u8(..if depth == 0 { 5 } else { 10 }) {
        0..=4 => leaf(random),
        5..=6 => (0..random.usize(..4)).map(|_| value(random, depth - 1)).collect(),
        7 if random.u8(..20) == 0 => nested(random),
        _ => members(random, depth),
    }
}

fn members(random: &mut Rng, depth: usize) -> Value {
    let entries = (0..random.usize(..5)).map(|_| {
        let key = if random.u8(..5) == 0 { text(random) } else { choice(random, &KEYS).to_owned() };
        (key, value(random, depth.saturating_sub(1)))
    });
    entries.collect::<Map<_, _>>().into()
}

/// Returns a value at a limit of nesting, as a tree or as text.
fn nested(random: &mut Rng) -> Value {
    let mut value = leaf(random);
    let depth = choice(random, &[15, 16, 17, 125, 126, 127, 128, 129, 130]);
    for _ in 0..depth {
        value = if random.u8(..8) == 0 { json!({"a": value}) } else { json!([value]) };
    }
    if random.bool() { value.to_string().into() } else { value }
}

fn leaf(random: &mut Rng) -> Value {
    match random.u8(..12) {
        0 => Value::Null,
        1 => random.bool().into(),
        2..=3 => number(random),
        4 if random.u8(..12) == 0 => {
            let length = choice(random, &LENGTHS);
            let unit = choice(random, &["a", "é", "漢", "😀", "\n", "<"]);
            let mut long = "x".repeat(random.usize(..4));
            long.extend((0..length / unit.len()).map(|_| unit));
            long.into()
        }
        5..=6 => choice(random, &TEXTS).into(),
        7 => {
            let inner = if random.bool() { members(random, 2) } else { value(random, 2) };
            let text = inner.to_string();
            if random.u8(..3) == 0 { damaged(random, &text) } else { text }.into()
        }
        _ => text(random).into(),
    }
}

/// Returns a number that a page can post: a double in the spelling of JavaScript. Some are spelled as in Rust.
fn number(random: &mut Rng) -> Value {
    let double = match random.u8(..8) {
        0 => f64::from_bits(random.u64(..)),
        1 => f64::from(random.i32(..)) / 100.0,
        2 => f64::from(random.i8(..)) * 10_f64.powi(random.i32(-30..30)),
        3 => choice(
            random,
            &[0.0, -0.0, 1e21, 1e20, 999_999_999_999_999_900_000.0, 1e-6, 1e-7, 5e-324, f64::MAX],
        ),
        4 => choice(random, &[9_007_199_254_740_991.0, 9_007_199_254_740_992.0, 1_234_567_890_123_456_800.0]),
        5 => {
            choice(random, &[9.223_372_036_854_776e18, -9.223_372_036_854_776e18, 1.844_674_407_370_955_2e19])
        }
        _ => f64::from(random.i16(..)),
    };
    let double = if double.is_finite() { double } else { 0.5 };
    if random.u8(..4) == 0 {
        return double.into();
    }
    serde_json::from_str(ryu_js::Buffer::new().format(double)).unwrap()
}

/// Returns a text of random parts, sometimes percent-encoded.
fn text(random: &mut Rng) -> String {
    if random.u8(..6) == 0 {
        return choice(random, &TEXTS).to_owned();
    }
    let mut text: String = (0..random.usize(..6)).map(|_| choice(random, &PARTS)).collect();
    for _ in 0..random.usize(..40).saturating_sub(34) {
        text = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string();
        if text.len() > 300 {
            break;
        }
    }
    text
}

/// Removes, adds or replaces a character, or cuts the text.
fn damaged(random: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = random.usize(..=chars.len());
    let wrong = choice(random, &['"', '\\', '{', ']', ',', ':', '\u{1}', '\u{a0}', 'e', '0', '-', 'é']);
    match random.u8(..3) {
        0 => chars.truncate(at),
        1 if at < chars.len() => chars[at] = wrong,
        _ => chars.insert(at, wrong),
    }
    chars.into_iter().collect()
}

fn choice<T: Copy>(random: &mut Rng, from: &[T]) -> T {
    *random.choice(from).unwrap()
}

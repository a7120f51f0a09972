//! Compact JSON with sorted keys, and with numbers as JavaScript writes them.

use std::fmt::Write as _;
use std::io;

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use serde_json::{Number, Value};

use super::sort;

/// Appends a number as JavaScript writes it: `1.0` is `1`, and `1e21` is `1e+21`. Integers are exact.
pub(super) fn number(out: &mut String, number: &Number) {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => out.push_str(ryu_js::Buffer::new().format(float)),
        None => {
            let _ = write!(out, "{number}");
        }
    }
}

/// Returns a value as text.
pub(super) fn text(value: &Value) -> String {
    let mut out = Vec::new();
    write(&mut out, &Sorted(value));
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the number of bytes of a value as text.
pub(super) fn size(value: &impl Serialize) -> usize {
    let mut bytes = Bytes(0);
    write(&mut bytes, value);
    bytes.0
}

/// Writes a value whose maps have strings as keys. Such a value has a JSON form, and the writers of this module do not
/// fail.
fn write(out: &mut impl io::Write, value: &impl Serialize) {
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(out, Numbers));
}

struct Numbers;

impl Formatter for Numbers {
    fn write_f64<W: io::Write + ?Sized>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        out.write_all(ryu_js::Buffer::new().format(value).as_bytes())
    }
}

struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            Value::Object(map) => {
                serializer.collect_map(sort::entries(map).into_iter().map(|(key, item)| (key, Sorted(item))))
            }
            other => other.serialize(serializer),
        }
    }
}

/// The number of bytes that were written.
struct Bytes(usize);

impl io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

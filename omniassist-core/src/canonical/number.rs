/// The number of digits that a double always represents exactly.
const EXACT_DIGITS: usize = 15;

/// Writes a JSON number as `JSON.stringify(JSON.parse(text))` does.
pub(super) fn write(text: &str, out: &mut Vec<u8>) -> Option<()> {
    if is_plain(text) {
        out.extend_from_slice(text.as_bytes());
        return Some(());
    }
    let number: f64 = text.parse().ok()?;
    let mut buffer = ryu_js::Buffer::new();
    let written = if number.is_finite() { buffer.format(number) } else { "null" };
    out.extend_from_slice(written.as_bytes());
    Some(())
}

/// Returns `true` for a short number that JavaScript writes in the same way: `17`, `-0.5`, `18.25`.
fn is_plain(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let count = |wanted: fn(&u8) -> bool| number.iter().filter(|byte| wanted(byte)).count();
    number.len() <= EXACT_DIGITS
        && match (count(u8::is_ascii_digit), count(|byte| *byte == b'.')) {
            (digits, 0) => digits == number.len() && text != "-0",
            // JavaScript omits trailing zeros, and writes small fractions with an exponent.
            (digits, 1) => {
                digits + 1 == number.len() && !number.ends_with(b"0") && !number.starts_with(b"0.0")
            }
            _ => false,
        }
}

/// Returns `true` if a double represents the JSON number exactly, so that JavaScript preserves it.
pub(super) fn survives(text: &str) -> bool {
    if is_plain(text) {
        return true;
    }
    let Ok(number) = text.parse::<f64>() else { return false };
    let written = Decimal::parse(ryu_js::Buffer::new().format(number));
    written.is_some() && written == Decimal::parse(text)
}

/// The value of a decimal number.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Significant digits, without leading and trailing zeros.
    digits: String,
    /// The power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let fraction = i64::try_from(fraction.len()).ok()?;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        let exponent = exponent.parse::<i64>().ok()?.checked_sub(fraction)?.checked_add(zeros)?;
        Some(Self { is_negative, digits, exponent })
    }
}

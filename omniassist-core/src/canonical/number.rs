use std::io::Write as _;

/// Digits that a double always holds exactly.
pub(super) const EXACT_DIGITS: usize = 15;

/// Returns `true` if a JSON number is surely spelled as `JSON.stringify(JSON.parse(text))` spells it.
pub(super) fn is_canonical(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() <= EXACT_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text != "-0";
    }
    is_shortest(digits)
}

/// Writes a JSON number as `JSON.stringify(JSON.parse(text))` does.
pub(super) fn write(text: &str, out: &mut Vec<u8>) -> Option<()> {
    if is_canonical(text) {
        out.extend_from_slice(text.as_bytes());
        return Some(());
    }
    let number: f64 = text.parse().ok()?;
    if !number.is_finite() {
        out.extend_from_slice(b"null");
    } else if number == 0.0 {
        out.push(b'0');
    } else {
        if number < 0.0 {
            out.push(b'-');
        }
        positive(number.abs(), out)?;
    }
    Some(())
}

/// Returns `true` where a double has exactly the value of a JSON number, so that JavaScript keeps it.
pub(super) fn survives(text: &str) -> bool {
    if is_canonical(text) {
        return true;
    }
    let mut shortest = Vec::new();
    let written = write(text, &mut shortest);
    let written = written.and_then(|()| Decimal::parse(std::str::from_utf8(&shortest).ok()?));
    written.is_some() && written == Decimal::parse(text)
}

/// The value of a decimal number.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Significant digits, without zeros at either end.
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

/// Returns `true` if a decimal fraction is spelled as JavaScript prints it, with no digit too many and none that a double
/// would lose. Returns `false` for a fraction below a thousandth, which JavaScript may print in another way.
fn is_shortest(digits: &str) -> bool {
    let Some((whole, fraction)) = digits.split_once('.') else { return false };
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits.len() <= EXACT_DIGITS
        && are_digits(whole)
        && are_digits(fraction)
        && !fraction.ends_with('0')
        && (whole != "0" || fraction.bytes().take(3).any(|digit| digit != b'0'))
}

/// The layout of `Number::toString` (ECMA-262, 6.1.6.1.20) around the shortest digits that read back as this number.
///
/// The digits are serde_json's: of two that are equally short and equally near it takes the even one, as ECMAScript
/// does and `std::fmt` does not (26013.7423095703125).
fn positive(number: f64, out: &mut Vec<u8>) -> Option<()> {
    // Longer than the longest double.
    let mut buffer = [0_u8; 64];
    let mut free = buffer.as_mut_slice();
    serde_json::to_writer(&mut free, &number).ok()?;
    let used = 64_usize.checked_sub(free.len())?;
    let shortest = std::str::from_utf8(buffer.get(..used)?).ok()?;
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().ok()?;

    let mut digits = [0_u8; 64];
    let mut count = 0;
    for (slot, digit) in digits.iter_mut().zip(whole.bytes().chain(fraction.bytes())) {
        *slot = digit;
        count += 1;
    }
    let digits = std::str::from_utf8(digits.get(..count)?).ok()?;
    let significant = digits.trim_start_matches('0');
    // Where the decimal point stands, counted from the front of the significant digits.
    let point = i32::try_from(whole.len()).ok()? + exponent
        - i32::try_from(digits.len().checked_sub(significant.len())?).ok()?;
    let digits = significant.trim_end_matches('0');
    let (first, rest) = digits.split_at_checked(1)?;
    let count = i32::try_from(digits.len()).ok()?;
    let zeros = |out: &mut Vec<u8>, count: i32| {
        out.extend(std::iter::repeat_n(b'0', usize::try_from(count).unwrap_or(0)));
    };
    match point {
        1..=21 if count <= point => {
            out.extend_from_slice(digits.as_bytes());
            zeros(out, point - count);
        }
        1..=21 => {
            let (whole, fraction) = digits.split_at_checked(usize::try_from(point).ok()?)?;
            for piece in [whole, ".", fraction] {
                out.extend_from_slice(piece.as_bytes());
            }
        }
        -5..=0 => {
            out.extend_from_slice(b"0.");
            zeros(out, -point);
            out.extend_from_slice(digits.as_bytes());
        }
        _ => {
            out.extend_from_slice(first.as_bytes());
            if !rest.is_empty() {
                out.push(b'.');
                out.extend_from_slice(rest.as_bytes());
            }
            write!(out, "e{:+}", point - 1).ok()?;
        }
    }
    Some(())
}

use std::io::Write as _;

/// Digits that a double always holds exactly.
const EXACT_DIGITS: usize = 15;

/// Writes a JSON number as `JSON.stringify(JSON.parse(text))` does.
pub(super) fn write(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if text != "-0" && digits.len() <= EXACT_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()) {
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

/// The layout of `Number::toString` (ECMA-262, 6.1.6.1.20) around the shortest digits that read back as this number.
fn positive(number: f64, out: &mut Vec<u8>) -> Option<()> {
    // Longer than the longest double in this notation, sign of the exponent included: 17 digits, point, `e-324`.
    let mut buffer = [0_u8; 32];
    let mut free = buffer.as_mut_slice();
    write!(free, "{number:e}").ok()?;
    let used = 32_usize.checked_sub(free.len())?;
    let shortest = std::str::from_utf8(buffer.get(..used)?).ok()?;
    let (mantissa, exponent) = shortest.split_once('e')?;
    let (first, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().ok()?;
    let count = 1 + i32::try_from(fraction.len()).ok()?;
    // Where the decimal point stands, counted from the front of the digits.
    let point = exponent.checked_add(1)?;
    let zeros = |out: &mut Vec<u8>, count: i32| {
        out.extend(std::iter::repeat_n(b'0', usize::try_from(count).unwrap_or(0)));
    };
    match point {
        1..=21 if count <= point => {
            out.extend_from_slice(first.as_bytes());
            out.extend_from_slice(fraction.as_bytes());
            zeros(out, point - count);
        }
        1..=21 => {
            let (whole, rest) = fraction.split_at_checked(usize::try_from(point - 1).ok()?)?;
            for piece in [first, whole, ".", rest] {
                out.extend_from_slice(piece.as_bytes());
            }
        }
        -5..=0 => {
            out.extend_from_slice(b"0.");
            zeros(out, -point);
            out.extend_from_slice(first.as_bytes());
            out.extend_from_slice(fraction.as_bytes());
        }
        _ => {
            out.extend_from_slice(first.as_bytes());
            if !fraction.is_empty() {
                out.push(b'.');
                out.extend_from_slice(fraction.as_bytes());
            }
            out.push(b'e');
            write!(out, "{exponent:+}").ok()?;
        }
    }
    Some(())
}

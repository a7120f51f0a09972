//! Values that the server generates for each answer.

/// Replaces ids (32 hexadecimal digits), seals (`v1.` and three words) and the seconds in answers of OpenAI's API. Each
/// distinct value is replaced by its kind and a number, so that repeated values must be repeated in all answers.
pub(super) fn replace(answer: &str) -> String {
    let mut seen = Vec::new();
    let mut out = String::with_capacity(answer.len());
    let mut rest = answer;
    while !rest.is_empty() {
        let (name, length) = name_at(rest, &out);
        if let Some(kind) = name {
            let made_up = &rest[..length];
            let number = seen.iter().position(|other| *other == made_up).unwrap_or_else(|| {
                seen.push(made_up);
                seen.len() - 1
            });
            out.push_str(&format!("<{kind} {number}>"));
        } else {
            out.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    out
}

/// Returns the kind and length of a generated value that begins here, otherwise the length of the text to keep.
fn name_at(rest: &str, before: &str) -> (Option<&'static str>, usize) {
    let run_of = |is: fn(u8) -> bool| rest.bytes().take_while(|byte| is(*byte)).count();
    let digits = run_of(|byte| byte.is_ascii_digit());
    if digits > 0 && before.ends_with("\"created\":") {
        return (Some("second"), digits);
    }
    let hexadecimal = run_of(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if hexadecimal == 32 {
        return (Some("id"), 32);
    }
    let word = run_of(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if rest.starts_with("v1.") && rest[..word].matches('.').count() == 3 {
        return (Some("seal"), word);
    }
    let other = rest.chars().next().map_or(0, char::len_utf8);
    // A value never begins within a longer word.
    (None, run_of(|byte| byte.is_ascii_alphanumeric()).max(other))
}

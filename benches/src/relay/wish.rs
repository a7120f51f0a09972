//! What a client wants of the provider. It stands in the client's message, which every server hands on.

/// How the provider answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// As the provider was told when it was started.
    Usual,
    /// With this many deltas, at full speed.
    Deltas(usize),
    /// At some 800 deltas a second, for as long as somebody takes it.
    Endless,
    /// With a call of the tool `take`, whose arguments have this many bytes; and with a short text to its output.
    Arguments(usize),
}

const DELTAS: &str = "Deltas of this answer: ";
const ENDLESS: &str = "Never stop.";
const ARGUMENTS: &str = "Bytes of the arguments: ";

impl Wish {
    /// The client's message.
    pub(super) fn text(self) -> String {
        match self {
            Self::Usual => "Hello".to_owned(),
            Self::Deltas(count) => format!("{DELTAS}{count}."),
            Self::Endless => ENDLESS.to_owned(),
            Self::Arguments(bytes) => format!("{ARGUMENTS}{bytes}."),
        }
    }

    /// What a request is about. A tool's output in it is answered as usual.
    pub(super) fn of_request(request: &[u8]) -> Self {
        let number = |behind: &str| {
            let at = memchr::memmem::find(request, behind.as_bytes())? + behind.len();
            let digits = request.get(at..)?.split(|byte| !byte.is_ascii_digit()).next()?;
            str::from_utf8(digits).ok()?.parse().ok()
        };
        let has = |text: &str| memchr::memmem::find(request, text.as_bytes()).is_some();
        if has("function_call_output") {
            return Self::Deltas(1);
        }
        if has(ENDLESS) {
            return Self::Endless;
        }
        let deltas = number(DELTAS).map(Self::Deltas);
        deltas.or_else(|| number(ARGUMENTS).map(Self::Arguments)).unwrap_or(Self::Usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_comes_through() {
        for wish in [Wish::Usual, Wish::Deltas(100_000), Wish::Endless, Wish::Arguments(1 << 20)] {
            let request = format!(r#"{{"input":[{{"content":"{}"}}]}}"#, wish.text());
            assert_eq!(Wish::of_request(request.as_bytes()), wish);
        }
    }
}

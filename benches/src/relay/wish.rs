//! The answer that a client asks the provider for. The client's message contains it, and every server forwards that
//! message.

/// The kind of answer that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// The default answer of the provider.
    Usual,
    /// This many deltas at full speed.
    Deltas(usize),
    /// An endless answer of some 800 deltas a second.
    Endless,
    /// A call of the tool `take` with this many bytes of arguments, and then a short text.
    Arguments(usize),
}

const DELTAS: &str = "Deltas of this answer: ";
const ENDLESS: &str = "Never stop.";
const ARGUMENTS: &str = "Bytes of the arguments: ";

impl Wish {
    /// Returns the client's message.
    pub(super) fn text(self) -> String {
        match self {
            Self::Usual => "Hello".to_owned(),
            Self::Deltas(count) => format!("{DELTAS}{count}."),
            Self::Endless => ENDLESS.to_owned(),
            Self::Arguments(bytes) => format!("{ARGUMENTS}{bytes}."),
        }
    }

    /// Reads the wish from a request. A request with the output of a tool is answered with one delta.
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
    fn a_wish_is_read_from_the_request() {
        for wish in [Wish::Usual, Wish::Deltas(100_000), Wish::Endless, Wish::Arguments(1 << 20)] {
            let request = format!(r#"{{"input":[{{"content":"{}"}}]}}"#, wish.text());
            assert_eq!(Wish::of_request(request.as_bytes()), wish);
        }
    }
}

use std::collections::BTreeSet;

/// A type expression.
pub(super) struct Type {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// The precedence of an expression, from low to high.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Union,
    Intersection,
    Primary,
}

impl Type {
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Primary }
    }

    pub(super) fn unknown() -> Self {
        Self::primary("unknown")
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.text == "unknown"
    }

    /// Returns the text, in parentheses if its precedence is lower than `kind`.
    pub(super) fn within(self, kind: Kind) -> String {
        if self.kind < kind { format!("({})", self.text) } else { self.text }
    }

    /// Returns the text for the place after `name:` or `=`.
    pub(super) fn after_sign(&self) -> String {
        if self.text.starts_with('\n') { self.text.clone() } else { format!(" {}", self.text) }
    }

    pub(super) fn union(members: Vec<Self>) -> Self {
        let mut seen = BTreeSet::new();
        let mut members: Vec<Self> =
            members.into_iter().filter(|member| seen.insert(member.text.clone())).collect();
        if members.iter().any(Self::is_unknown) {
            return Self::unknown();
        }
        match members.len() {
            0 => Self::primary("never"),
            1 => members.remove(0),
            _ => {
                let texts: Vec<String> = members.into_iter().map(|member| member.text).collect();
                Self { text: texts.join(" | "), kind: Kind::Union }
            }
        }
    }

    pub(super) fn intersection(members: Vec<Self>) -> Self {
        let mut members: Vec<Self> = members.into_iter().filter(|member| !member.is_unknown()).collect();
        match members.len() {
            0 => Self::unknown(),
            1 => members.remove(0),
            _ => {
                let texts: Vec<String> =
                    members.into_iter().map(|member| member.within(Kind::Intersection)).collect();
                Self { text: texts.join(" & "), kind: Kind::Intersection }
            }
        }
    }
}

use std::collections::BTreeSet;

/// The names that are taken.
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn reserving<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }

    /// Takes the name, with a number behind it if it is taken already.
    pub(super) fn take(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        let mut number = 2_u32;
        while !self.0.insert(free.clone()) {
            free = format!("{name}{number}");
            number = number.saturating_add(1);
        }
        free
    }
}

/// An identifier made of the ASCII letters and digits of `name`, each word with a capital: `OrderStatus` of
/// `order_status`. `fallback` stands before a digit, and for nothing.
pub(super) fn pascal_case(name: &str, fallback: &str) -> String {
    let mut out = String::new();
    for word in name.split(|char: char| !char.is_ascii_alphanumeric()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    if out.starts_with(|char: char| char.is_ascii_uppercase()) { out } else { format!("{fallback}{out}") }
}

use std::collections::BTreeMap;

/// The used names, each with the next number for a type of this name.
pub(super) struct Names(BTreeMap<String, u32>);

impl Names {
    pub(super) fn reserving<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(|name| (name.to_owned(), 2)).collect())
    }

    /// Reserves the name, with a number as suffix if it is already used.
    pub(super) fn take(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        while self.0.contains_key(&free) {
            let number = self.0.entry(name.to_owned()).or_insert(2);
            free = format!("{name}{number}");
            *number = number.saturating_add(1);
        }
        self.0.insert(free.clone(), 2);
        free
    }
}

/// Returns an identifier made of the ASCII letters and digits of `name`, with each word capitalised: `OrderStatus` for
/// `order_status`. It begins with `fallback` if the name does not begin with a letter.
pub(super) fn pascal_case(name: &str, fallback: &str) -> String {
    let mut out = String::new();
    for word in name.split(|char: char| !char.is_ascii_alphanumeric()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    if out.starts_with(|char: char| char.is_ascii_uppercase()) { out } else { format!("{fallback}{out}") }
}

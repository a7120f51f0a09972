/// Keys of an object that are compared each with each; sorting them costs more.
const FEW: usize = 16;

/// A key as it is written, without escapes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key<'a> {
    /// Its first bytes: most keys differ in these.
    head: u64,
    key: &'a [u8],
}

impl<'a> Key<'a> {
    pub(crate) fn new(key: &'a [u8]) -> Self {
        let head = match key.first_chunk() {
            Some(head) => u64::from_le_bytes(*head),
            None => key.iter().rev().fold(0, |head, byte| head << 8 | u64::from(*byte)),
        };
        Self { head, key }
    }
}

/// Whether a key stands twice. Brings the keys into another order.
pub(crate) fn has_twice(keys: &mut [Key<'_>]) -> bool {
    if keys.len() > FEW {
        keys.sort_unstable();
        return keys.windows(2).any(|pair| matches!(pair, [one, next] if one == next));
    }
    let mut rest = &*keys;
    while let Some((key, others)) = rest.split_first() {
        if others.iter().any(|other| other.head == key.head && other.key == key.key) {
            return true;
        }
        rest = others;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_twice_among_few_and_many() {
        for count in [0, 1, 2, FEW - 1, FEW, FEW + 1, 100] {
            for beginning in ["", "k", "longer-than-a-head-"] {
                let names: Vec<String> = (0..count).map(|index| format!("{beginning}{index}")).collect();
                let mut keys: Vec<Key<'_>> = names.iter().map(|name| Key::new(name.as_bytes())).collect();
                assert!(!has_twice(&mut keys.clone()), "{count} {beginning}");
                if let Some(one) = keys.get(count / 2).copied() {
                    keys.push(one);
                    assert!(has_twice(&mut keys), "{count} {beginning}");
                }
            }
        }
        let zeros = ["a", "a\0", "a\0\0", ""].map(|name| Key::new(name.as_bytes()));
        assert!(!has_twice(&mut zeros.clone()));
    }
}

use omniassist_core::Text;
use omniassist_core::secret::is_secret_name;
use uuid::Uuid;

/// The characters of a new id after its prefix: 64 random bits.
const LENGTH: u32 = 13;

/// The prefix instead of the name of a component that could be the name of a secret, such as `token-usage`.
const PREFIX: &str = "component";

/// The number of ids from which one is chosen, for each prefix.
const TRIES: usize = 8;

/// Returns the id of a new instance: the name of its component, an underscore, and a unique text. The model repeats it, so it
/// is short. It is no name of a secret, since the context block would hide the state below such a name.
pub(super) fn new(component: &str) -> Text {
    let with = |prefix: &str| format!("{prefix}_{}", unique());
    // Digits separate words, so one of 4,000 unique texts contains one such as `pwd` or `cvc`.
    let mut ids = [component, PREFIX].into_iter().flat_map(|prefix| (0..TRIES).map(move |_| with(prefix)));
    ids.find(|id| !is_secret_name(id)).unwrap_or_else(|| with(PREFIX)).into()
}

/// Returns a random text. It has no time in it: all ids of some hours would contain a name that a time contains.
fn unique() -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let number = getrandom::u64().unwrap_or_else(|_| Uuid::now_v7().as_u64_pair().1);
    let digits = (0..LENGTH).filter_map(|place| {
        let digit = usize::try_from(number >> (place * 5) & 31).ok()?;
        DIGITS.get(digit).copied().map(char::from)
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use omniassist_core::secret::is_secret_name;

    #[test]
    fn no_id_is_the_name_of_a_secret() {
        for name in ["cart", "card", "token-usage", "cc"] {
            for _ in 0..20_000 {
                let id = super::new(name);
                assert!(!is_secret_name(&id), "{id}");
            }
        }
        assert!(super::new("cart").starts_with("cart_"));
        assert!(super::new("token-usage").starts_with("component_"));
    }

    #[test]
    fn ids_of_one_time_differ_in_each_place() {
        let ids: Vec<String> = (0..500).map(|_| super::unique()).collect();
        for place in 0..ids[0].len() {
            let seen: BTreeSet<u8> = ids.iter().map(|id| id.as_bytes()[place]).collect();
            assert!(seen.len() > 8, "place {place}: {seen:?}");
        }
    }
}

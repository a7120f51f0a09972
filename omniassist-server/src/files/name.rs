use crate::one_line::is_unseen;

/// The maximum number of bytes of a file's name.
const MAX_BYTES: usize = 255;

/// Returns the name of a file as it is stored: without folders and characters that are not seen, and cut to 255 bytes. The
/// end of a long name, which has the extension, stays.
pub(super) fn clean(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|letter| !is_unseen(*letter)).collect();
    let name = name.trim();
    let start = (0..=name.len())
        .find(|start| name.len() - start <= MAX_BYTES && name.is_char_boundary(*start))
        .unwrap_or_default();
    name.get(start..).filter(|name| !name.trim_matches('.').is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_and_shortened() {
        for (name, cleaned) in [
            ("report.pdf", Some("report.pdf")),
            ("../../etc/passwd", Some("passwd")),
            ("C:\\Users\\ann\\a.txt", Some("a.txt")),
            ("a\r\nSet-Cookie: x.txt", Some("aSet-Cookie: x.txt")),
            ("photo\u{202e}gpj.exe", Some("photogpj.exe")),
            ("a\u{61c}b\u{ad}c\u{e0065}\u{e007f}\u{3164}d.txt", Some("abcd.txt")),
            ("\u{e0041}", None),
            ("..", None),
            ("a/", None),
            ("", None),
        ] {
            assert_eq!(clean(name).as_deref(), cleaned, "{name:?}");
        }
        for (letters, length) in [(251, 255), (252, 255)] {
            let long = format!("{}.pdf", "a".repeat(letters));
            let cleaned = clean(&long).unwrap();
            assert_eq!((cleaned.len(), cleaned.ends_with("a.pdf")), (length, true));
        }
        assert_eq!(clean(&"é".repeat(200)).unwrap().len(), 254);
    }
}

//! File lengths, the width of comments, unfinished code and lock files.

use std::path::Path;

/// The limit of lines in a source file before its tests.
const MOST_LINES: usize = 500;

/// The limit of characters in a line of a comment. Rows of tables, code and addresses cannot be divided.
const MOST_CHARACTERS: usize = 128;

/// Macros that mark unfinished code or leftover debug output.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

pub(super) fn source_findings(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
    let length = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
    if !is_test && length > MOST_LINES {
        found.push(format!(": {length} lines before its tests; the limit is {MOST_LINES}"));
    }
    for (at, line) in text.lines().enumerate() {
        let unfinished = UNFINISHED.iter().any(|name| line.contains(&format!("{name}!(")));
        if unfinished || line.trim_start().starts_with(concat!("#[", "ignore")) {
            found.push(format!(":{}: {}", at + 1, line.trim()));
        }
    }
    found.extend(wide_comments(text));
    found
}

fn wide_comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (at, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            in_code = false;
            continue;
        };
        let said = comment.trim_start_matches(['/', '!']).trim_start();
        in_code ^= said.starts_with("```");
        let cannot_be_divided = in_code || said.starts_with('|') || !said.contains(' ');
        let length = line.chars().count();
        if length > MOST_CHARACTERS && !cannot_be_divided {
            found.push(format!(
                ":{}: a comment has {length} characters; the limit is {MOST_CHARACTERS}",
                at + 1
            ));
        }
    }
    found
}

/// Finds download addresses, which npm writes by default. They contain the registry of one machine.
pub(super) fn lock_findings(path: &Path, text: &str) -> Vec<String> {
    let is_lock = path.ends_with("package-lock.json");
    if is_lock && text.contains("\"resolved\"") {
        vec![": has download addresses".to_owned()]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{lock_findings, source_findings};

    #[test]
    fn unfinished_code_is_found() {
        let text = ["fn f() {", "    ", "to", "do!();", "}"].concat();
        assert_eq!(source_findings(Path::new("src/a.rs"), &text).len(), 1);
        assert_eq!(source_findings(Path::new("src/a.rs"), concat!("#[", "ignore = \"slow\"]")).len(), 1);
        assert!(source_findings(Path::new("src/a.rs"), "fn f() {}").is_empty());
    }

    #[test]
    fn length_counts_up_to_the_tests() {
        let long = "// x\n".repeat(501);
        assert_eq!(source_findings(Path::new("src/a.rs"), &long).len(), 1);
        assert!(source_findings(Path::new("tests/a.rs"), &long).is_empty());
        let tested = format!("{}#[cfg(test)]\n{long}", "// x\n".repeat(500));
        assert!(source_findings(Path::new("src/a.rs"), &tested).is_empty());
    }

    #[test]
    fn wide_comments_are_found() {
        let wide = "word ".repeat(30);
        assert_eq!(source_findings(Path::new("src/a.rs"), &format!("    /// {wide}\n// {wide}")).len(), 2);
        let whole =
            format!("//! | {wide} |\n//! <https://{}>\n/// ```\n/// {wide}\n/// ```", "a".repeat(130));
        assert!(source_findings(Path::new("src/a.rs"), &whole).is_empty());
        assert!(
            source_findings(Path::new("src/a.rs"), &format!("// {}", "ä".repeat(60).repeat(2))).is_empty()
        );
    }

    #[test]
    fn addresses_in_lock_files_are_found() {
        let text = r#"{"packages": {"a": {"resolved": "x"}}}"#;
        assert_eq!(lock_findings(Path::new("tests/clients/package-lock.json"), text).len(), 1);
        assert!(lock_findings(Path::new("other.json"), text).is_empty());
    }
}

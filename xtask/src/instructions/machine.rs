//! The tools on which instruction counts depend, besides the sources.

use std::process::Command;

use crate::process;
use crate::report::Outcome;

/// Returns the compiler and its target, the C library and valgrind in one line, without patch releases. Instruction
/// counts depend on each of them.
///
/// The line contains only the widest vectors of the processor, since valgrind emulates the rest of it.
pub(crate) fn describe() -> Outcome<String> {
    let rustc = process::output(Command::new("rustc").arg("-vV"))?;
    let field = |name: &str| {
        let line = rustc.lines().find_map(|line| line.strip_prefix(name));
        line.ok_or_else(|| format!("`rustc -vV` does not contain {name}"))
    };
    let valgrind = process::output(Command::new("valgrind").arg("--version"))?;
    let vectors = if has_avx2() { "avx2" } else { "no avx2" };
    Ok(format!(
        "rustc {}, {}, {}, valgrind {}, {vectors}",
        without_patch(field("release: ")?),
        field("host: ")?,
        c_library(),
        without_patch(valgrind.trim().trim_start_matches("valgrind-")),
    ))
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// Returns the name and version of the C library, if `getconf` prints them.
fn c_library() -> String {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let said = output.ok().filter(|output| output.status.success());
    let said = said.and_then(|output| String::from_utf8(output.stdout).ok());
    said.map_or_else(|| "another C library".to_owned(), |said| said.trim().to_owned())
}

fn without_patch(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::without_patch;

    #[test]
    fn patches_do_not_count() {
        assert_eq!(without_patch("1.95.0"), "1.95");
        assert_eq!(without_patch("3.19.0.GIT"), "3.19");
        assert_eq!(without_patch("4"), "4");
    }
}

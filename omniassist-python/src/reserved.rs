//! Names that a function of a program cannot have.

/// The keywords of Python.
const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except finally for \
     from global if import in is lambda nonlocal not or pass raise return try while with yield";

/// The functions that Python has itself. An interpreter calls its own function of such a name, and not that of the host.
const BUILT_IN: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex \
     delattr dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash help hex id input int \
     isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range repr \
     reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip";

/// Returns the reason for which a tool of this name cannot be a function.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    if !is_name(name) {
        return Some("its name is not the name of a Python function");
    }
    is_one_of(name, BUILT_IN).then_some("Python has a function of this name itself; rename the tool")
}

/// Returns `true` if Python can write the name of a tool or of an argument without quotes.
pub(crate) fn is_name(name: &str) -> bool {
    !name.contains(['-', '.'])
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !is_one_of(name, KEYWORDS)
}

fn is_one_of(name: &str, names: &str) -> bool {
    names.split(' ').any(|one| one == name)
}

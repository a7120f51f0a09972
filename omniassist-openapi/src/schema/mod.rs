//! Schemas of documents as JSON Schemas that all providers take.
//!
//! References stay references: each target becomes an entry of `$defs`, once, also if it contains itself. Nothing is
//! inlined, so the size of a schema is that of its parts.

mod applied;
mod convert;
mod definitions;
mod form;
mod keywords;

pub(crate) use definitions::Definitions;
pub(crate) use keywords::as_object;

/// The parts of a schema that are left out because a provider or the registry refuses the whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail {
    /// Regular expressions are kept.
    pub(crate) patterns: bool,
    /// The number of references that are followed from the arguments to a schema; deeper ones accept every value.
    pub(crate) levels: usize,
}

impl Detail {
    /// The steps from the whole schema to one without details.
    pub(crate) const STEPS: [Self; 5] = [
        Self { patterns: true, levels: usize::MAX },
        Self { patterns: false, levels: usize::MAX },
        Self { patterns: false, levels: 3 },
        Self { patterns: false, levels: 1 },
        Self { patterns: false, levels: 0 },
    ];
}

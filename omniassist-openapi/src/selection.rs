//! The operations that become tools.

use http::Method;

use crate::document::Operation;
use crate::{OpenApiError, glob};

#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) only: Option<Vec<String>>,
    pub(crate) except: Vec<String>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) methods: Option<Vec<Method>>,
}

impl Selection {
    pub(crate) fn holds(&self, operation: &Operation) -> bool {
        let matches = |pattern: &String| glob::matches(pattern, &operation.id);
        self.only.as_ref().is_none_or(|patterns| patterns.iter().any(matches))
            && !self.except.iter().any(matches)
            && self.tags.as_ref().is_none_or(|tags| tags.iter().any(|tag| operation.tags.contains(tag)))
            && self.methods.as_ref().is_none_or(|methods| methods.contains(&operation.method))
    }

    /// Checks that each pattern and tag is of some operation, since a misspelt one would silently leave tools out.
    pub(crate) fn check(&self, operations: &[Operation]) -> Result<(), OpenApiError> {
        for (setting, patterns) in [("only", self.only.as_ref()), ("except", Some(&self.except))] {
            for pattern in patterns.into_iter().flatten() {
                if !operations.iter().any(|operation| glob::matches(pattern, &operation.id)) {
                    return Err(none(setting, pattern));
                }
            }
        }
        for tag in self.tags.iter().flatten() {
            if !operations.iter().any(|operation| operation.tags.contains(tag)) {
                return Err(none("tags", tag));
            }
        }
        Ok(())
    }
}

pub(crate) fn none(setting: &str, name: &str) -> OpenApiError {
    OpenApiError::configuration(format!("`{setting}`: the document has no operation for {name:?}"))
}

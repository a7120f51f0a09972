//! The stored files that a posted conversation names, before its run begins.

use http::Extensions;
use omniassist_core::message::{Part, Role};
use omniassist_core::{Error, RunRequest};

use crate::Assistant;

/// Checks that the stored files of the last message exist for the principal. An assistant without a store refuses them.
///
/// # Errors
///
/// Returns an error that names the part.
pub(in crate::http) async fn check(
    assistant: &Assistant,
    request: &RunRequest,
    extensions: &Extensions,
) -> Result<(), Error> {
    #[cfg(feature = "files")]
    if let Some(library) = assistant.library() {
        let principal = extensions.get::<crate::Principal>().cloned().unwrap_or_default();
        return library.check(&principal, &request.messages).await;
    }
    let _ = (assistant, extensions);
    let Some((index, last)) = request.messages.iter().enumerate().next_back() else { return Ok(()) };
    for (part, file) in last.parts.iter().enumerate() {
        if last.role == Role::User && matches!(file, Part::File(file) if file.url.starts_with('/')) {
            let path = format!("messages[{index}].parts[{part}].url");
            return Err(Error::invalid_field(path, "a data:, https: or http: URL", "another URL"));
        }
    }
    Ok(())
}

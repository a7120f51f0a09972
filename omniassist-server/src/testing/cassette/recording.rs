use std::fs;
use std::path::Path;

use super::error::CassetteError;
use super::file::{self, Interaction};

/// Requests to a provider and its answers, byte for byte. See the [module's documentation](super) for the file
/// format and an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Cassette {
    pub(super) base_path: String,
    pub(super) interactions: Vec<Interaction>,
}

impl Cassette {
    /// Reads a cassette from a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, and the errors of [`parse`](Self::parse).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|error| CassetteError::io("the file cannot be read", error).in_file(path))?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Reads a cassette from its text, for example from `include_str!("hello.jsonl")`.
    ///
    /// # Errors
    ///
    /// [`CassetteError::is_version_mismatch`] if it is in another version of the format,
    /// [`CassetteError::is_truncated`] if it is cut, and others with the [line](CassetteError::line) that is
    /// wrong.
    pub fn parse(text: &str) -> Result<Self, CassetteError> {
        let (base_path, interactions) = file::read(text)?;
        Ok(Self { base_path, interactions })
    }

    /// Returns the text of the cassette. The same cassette has the same text.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of it has no JSON form. No recorded or parsed cassette has such a part.
    pub fn to_text(&self) -> Result<String, CassetteError> {
        file::write(&self.base_path, &self.interactions)
            .map_err(|error| CassetteError::other("a part has no JSON form").with_source(error))
    }

    /// Writes the cassette to a file and replaces an existing one. Missing folders are created.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CassetteError> {
        let path = path.as_ref();
        let text = self.to_text()?;
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| fs::write(path, text))
            .map_err(|error| CassetteError::io("the file cannot be written", error).in_file(path))
    }

    /// Returns the number of interactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.interactions.len()
    }

    /// Returns `true` if it has no interactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interactions.is_empty()
    }
}

use std::fmt;

use omniassist_core::Text;
use omniassist_core::message::stored_file_id;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::FileError;
use crate::Principal;

/// The id of a stored file: `file_` and 32 random hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileId(Text);

impl FileId {
    /// Creates a random id.
    ///
    /// # Errors
    ///
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn random() -> Result<Self, FileError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| FileError::store(error.into()))?;
        Ok(Self(format!("file_{}", hex(&bytes)).into()))
    }

    /// Parses an id. Returns `None` for any other text.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Self::of_url(&format!("/files/{id}")).filter(|parsed| parsed.as_str() == id)
    }

    /// Returns the id in the URL of a stored file.
    pub(crate) fn of_url(url: &str) -> Option<Self> {
        stored_file_id(url).map(|id| Self(id.into()))
    }

    /// Returns the id as text. It is safe as the name of a file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a file in a store: its id, and the principal that it belongs to.
///
/// A store must find a file under exactly this pair. [`path`](Self::path) is a name that ensures it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileKey {
    /// The principal that the file belongs to.
    pub owner: Principal,
    /// The id.
    pub id: FileId,
}

impl FileKey {
    /// Returns the name of a principal's folder: 64 hexadecimal digits, which do not reveal the principal's id.
    #[must_use]
    pub fn folder_of(owner: &Principal) -> String {
        let mut digest = Sha256::new();
        digest.update([u8::from(!owner.is_anonymous())]);
        digest.update(owner.id());
        hex(&digest.finalize())
    }

    /// Returns a name for the file in a store, such as the key of an S3 object: the principal's
    /// [folder](Self::folder_of), `/` and the id. It consists of lowercase letters, digits, `_` and one `/`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", Self::folder_of(&self.owner), self.id)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

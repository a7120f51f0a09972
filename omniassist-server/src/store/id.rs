use std::fmt;

use uuid::Uuid;

/// The id of a run: a version 7 UUID, so that ids sort by the time of their creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(Uuid);

/// The id of a process that drives runs. Each start of a process makes a new one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(Uuid);

macro_rules! id {
    ($name:ident) => {
        impl $name {
            /// Creates a new id.
            #[must_use]
            pub fn random() -> Self {
                Self(Uuid::now_v7())
            }

            /// Returns the id with these bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Returns the bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Parses the form with hyphens that `Display` writes. Returns `None` for any other text.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let id = Uuid::try_parse(text).ok().map(Self)?;
                (id.to_string() == text).then_some(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0.as_hyphenated(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

id!(RunId);
id!(InstanceId);

impl RunId {
    /// Returns the id as a UUID.
    pub(crate) const fn uuid(self) -> Uuid {
        self.0
    }
}

//! Recognition of secrets by name, by form and by value.
//!
//! Application context, the errors of providers, and recordings use these lists.
//!
//! - [`is_secret_name`] checks the name of a field, header or parameter.
//! - [`Secrets`] finds API keys and signed tokens by their form, and further given values.
//!
//! ```
//! use omniassist_core::secret::{Secrets, is_secret_name};
//!
//! assert!(is_secret_name("X-Auth-Token") && is_secret_name("newPassword") && !is_secret_name("shopping"));
//!
//! let secrets = Secrets::new(["hunter2".to_owned()]);
//! let text = "hunter2 is refused, and so is sk-proj-abcDEF123456";
//! assert_eq!(secrets.redact(text), "[redacted] is refused, and so is [redacted]");
//! ```

mod name;
mod values;

pub use name::is_secret_name;
pub(crate) use name::{Names, is_secret_autocomplete, is_secret_kind, squash};
pub use values::Secrets;
pub(crate) use values::{KEY_PREFIXES, KeyForm, MIN_KEY, is_key_char, redacted};

/// The replacement of a secret.
pub const REDACTED: &str = "[redacted]";

//! The history of components, under paths: an agentic file system (AFS).
//!
//! Use it to list and read what a conversation keeps of its components, or to mount an [`AfsModule`] of your own. To read and
//! change the state of one component as a Rust type, [`ComponentState`](crate::ui::ComponentState) is shorter. The
//! conversations themselves are in [`Assistant::conversations`](crate::Assistant::conversations).
//!
//! An [`Afs`] has modules below `/modules/`. Each call takes the [`Scope`](crate::store::Scope) of a principal, and finds
//! nothing that belongs to another one.
//!
//! | path | call | content |
//! |---|---|---|
//! | `/modules/history/by-session/{chat}` | list | the messages that are shown, and the entries of components |
//! | `/modules/history/by-session/{chat}/new` | write | an entry of a component |
//! | `/modules/history/{chat}/messages/{id}` | read | a message, or the entry of a render |
//! | `/modules/history/{chat}/component-state/{instance}` | read | the latest state of an instance |
//! | `/modules/user-profile/`, `/modules/user-profile/{key}` | list, read | what the host knows of the user |
//!
//! The entries are part of the conversation in a [`ConversationStore`](crate::store::ConversationStore), and there is no
//! second database. They are deleted with the conversation, and an encrypting store encrypts them. They are on no
//! branch, so no chat shows them.
//!
//! ```
//! use omniassist_server::Principal;
//! use omniassist_server::store::Scope;
//! use omniassist_server::afs::{Afs, AfsEntry, AfsHistory};
//! use serde_json::json;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let afs = Afs::new().mount(AfsHistory::in_memory());
//! let ada = Scope::of(&Principal::new("ada")).ok_or("a history needs a principal")?;
//!
//! let state = AfsEntry::component_state("cart_1", [("count".to_owned(), json!(3))]);
//! afs.write(&ada, "/modules/history/by-session/chat-1/new", state).await?;
//!
//! let read = afs.read(&ada, "/modules/history/chat-1/component-state/cart_1").await?.ok_or("not written")?;
//! assert_eq!(read.content["state"]["count"], 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chat;
mod entry;
mod history;
mod instance;
mod module;
mod mounted;
mod time;
mod turns;
mod user_profile;

pub(crate) use chat::ChatHistory;
pub use entry::{AfsEntry, AfsEntryKind};
pub use history::AfsHistory;
pub(crate) use instance::{StoredInstance, UpdateError};
pub use module::AfsModule;
pub use mounted::Afs;
pub(crate) use time::iso;
pub use user_profile::AfsUserProfile;

//! Encryption of stored conversations (cargo feature `encryption`).
//!
//! [`Encrypted`] is a layer above a store. What users wrote and what models and tools answered is encrypted before it
//! reaches the store, so neither a copy of the database nor its backups can be read without the [`EncryptionKeys`].
//!
//! ```
//! use omniassist_server::Assistant;
//! use omniassist_server::encryption::{Encrypted, EncryptionKeys};
//! use omniassist_server::store::MemoryStore;
//! # use omniassist_server::testing::ScriptedProvider;
//!
//! // `EncryptionKeys::from_env("ASSISTANT_KEYS")?` reads them from the environment, and is `None` without the variable.
//! let keys = EncryptionKeys::new("2026-11", "at least thirty-two bytes of randomness")?;
//! let store = Encrypted::new(MemoryStore::new(), keys);
//! let assistant = Assistant::builder(ScriptedProvider::new()).store(store).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Keys
//!
//! Each conversation has a random data key. It is stored with the conversation, wrapped by the current one of the
//! [`EncryptionKeys`]. The deletion of a conversation deletes its data key, which makes copies of its content useless,
//! except beside a copy of the wrapped key: a backup from before has both.
//!
//! To rotate the keys, start all servers with the new key as a previous one, then with the new key as the current one, and
//! call [`Encrypted::rewrap`]. It wraps the data keys anew and does not touch the content. Then remove the old key.
//!
//! **Without its key, content is lost.** Keep the keys apart from the database and its backups.
//!
//! # Content
//!
//! | encrypted | readable in the database |
//! |---|---|
//! | messages, titles, content of the application | owners, names of conversations, ids of messages and calls |
//! | journals, input of runs, text on its way to other instances | kinds, times, sizes, and the number of events |
//! | questions, answers and other signals | senders of signals, usage, states |
//!
//! Files are not among them: they are in a store of their own, which encrypts them or not.
//!
//! Titles are encrypted too; a list decrypts those of its page. The digests of posts are replaced by keyed ones. The id of
//! an edited question is a digest of its text, so a guess of that text can be confirmed.
//!
//! The cipher is XChaCha20-Poly1305 with random nonces. Each value is bound to its place: kind, conversation, and message
//! or run, call or position. A value that was changed, cut or moved gives a
//! [corrupt](crate::store::StoreError::is_corrupt) error; a run whose input or answer was changed is interrupted. A row
//! that was deleted, or replaced by an earlier version of itself, is not noticed.
//!
//! # Missing keys
//!
//! If a conversation was encrypted under a key that is not given, or that has another secret, its methods give a
//! [missing key](crate::store::StoreError::is_missing_key) error that names the key. The assistant answers with 503 before
//! a model is asked, and does not claim such runs. A list has these conversations without title and content of the
//! application, and logs an error, so that a lost key does not hide the others.
//!
//! # Conversations that are not encrypted
//!
//! A database with conversations can be opened. Those stay as they are, also their new messages, and all new conversations
//! are encrypted. Therefore, whoever can write to the database can replace a whole conversation by one that is not encrypted.
//!
//! # Stores
//!
//! A store has to keep the wrapped keys, which the trait [`KeyStore`](crate::store::KeyStore) demands. Beside conversations in
//! tables of the application, the layer encrypts the runs and their journals, and the application its tables.

mod blob;
mod content;
mod conversations;
mod encrypted;
mod keys;
mod place;
mod run_keys;
mod runs;
mod tails;

pub use encrypted::Encrypted;
pub use keys::EncryptionKeys;

//! Seals: proof that what a client posts back is what this server wrote.
//!
//! Stateless chat protocols have the client post the whole conversation, and a browser can post anything: results of
//! tools that never ran, approvals of calls that nobody asked about. A seal is a keyed hash over one part of an answer
//! and all that it belongs to. It goes out with the part, the client keeps it and posts it back without knowing, and
//! [`SealVerifier`] tells from it whether the part is genuine. The server keeps nothing but its keys and, for as long as
//! they are valid, which approvals were used.
//!
//! An [`Assistant`](crate::Assistant) seals and verifies by itself; give it [`SealKeys`]. [`Sealer`] and [`SealVerifier`]
//! by themselves are for a host that drives runs or reads conversations in another way. The walk through a request that
//! asks the verifier, and what becomes of what it does not believe, is [`omniassist_core::verify`].
//!
//! ```
//! use omniassist_server::core::run::NoTools;
//! use omniassist_server::core::verify::{self, Poster};
//! use omniassist_server::core::message::MessageCollector;
//! use omniassist_server::core::event::BlockId;
//! use omniassist_server::core::{Message, RunEvent, RunRequest};
//! use omniassist_server::Principal;
//! use omniassist_server::seal::{SealKeys, SealVerifier, Sealer};
//!
//! let keys = SealKeys::random()?;
//! let mut sealer = Sealer::new(&keys, Some("chat-1".into()), &Principal::new("ann"), "msg-2".into());
//! let mut answer = MessageCollector::new();
//! let id = BlockId(0);
//! for mut event in [
//!     RunEvent::Start { message_id: "msg-2".into(), metadata: None },
//!     RunEvent::TextStart { id },
//!     RunEvent::TextDelta { id, delta: "It has shipped.".into() },
//!     RunEvent::TextEnd { id, metadata: None },
//! ] {
//!     let follow_up = sealer.seal(&mut event, &NoTools, || 0);
//!     answer.apply(&event);
//!     follow_up.iter().for_each(|seal| answer.apply(seal));
//! }
//!
//! let verifier = SealVerifier::new(keys).refuse_unsealed_text(true);
//! let mut next = RunRequest::new(vec![answer.into_message(), Message::user("msg-3", "Thanks!")]);
//! next.chat_id = Some("chat-1".into());
//! verify::history(&mut next.clone(), Poster::known("ann", 0), &NoTools, &verifier)?;
//! let refused = verify::history(&mut next, Poster::known("bob", 0), &NoTools, &verifier).unwrap_err();
//! assert_eq!(refused.code().as_str(), "seal_invalid");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is sealed, and where the seal goes
//!
//! | part | the seal proves, beside what it belongs to | carried in |
//! |---|---|---|
//! | text, reasoning | the text, and the provider's state with it | its provider metadata, `omniassist.seal`, at its end |
//! | call | id, tool, arguments, the provider's state, and who is to answer: server or client | its provider metadata, `omniassist.seal` |
//! | call that could not be run | id, tool, the provider's state | the same |
//! | output | call id, tool, arguments, output | the message's metadata, `omniassist.seals[call id]` |
//! | failure | call id, tool, error text | the same |
//! | approval | approval id, call id, tool, arguments, time | `approval.signature` |
//!
//! Each belongs to a chat, a principal, a message, a kind, a key and an expiry, and proves those too. No chat is another
//! chat than the one with the empty id; so with principals. Progress, data, sources, files and denials are not sealed: a
//! model is not sent the former, and whoever can approve can deny.
//!
//! JSON is proved in its [canonical form](omniassist_core::canonical), as whatever a client in JavaScript makes of it.
//! Two integers beyond 2⁵³ that are one double are therefore one value: an id of that size belongs into a string. An
//! approved call runs with the canonical form itself.
//!
//! A client has to post back the message's id and metadata, and the metadata of its parts. The AI SDK's clients do,
//! versions 5, 6 and 7; a schema for messages' metadata on the host's page has to let the key `omniassist` pass. For a
//! format that has no such places, its dialect puts the seals where its clients keep something, and back into the
//! message when it reads. A dialect whose clients cut an answer into several messages gives its parts the id of the one
//! message again.
//!
//! # What becomes of a part
//!
//! | its seal | text | reasoning, state | result of a server's tool | answer of the client's | approval |
//! |---|---|---|---|---|---|
//! | proves it | taken | taken | taken | taken (the call's seal) | taken, once |
//! | is missing, under an unknown key, of another version, or no seal at all | taken as text; refused if the host says so | dropped | "can no longer be verified" | the same | asked again, where the call itself is proved; else an error for model and client, and the model may make the call again |
//! | proved it, and has expired | – | – | – | a form: "too late" | asked again |
//! | is one of ours, and not of this | refused | refused | refused | refused | refused |
//!
//! *Refused* is the whole request, with status 400, code `seal_invalid` and the path of the part. A chat is never stuck
//! because a seal is gone: a rotated key, a restart with a random key, or a client that loses metadata costs what can no
//! longer be proved, and nothing else. That holds for text that only looks like a seal too: whoever posts it could leave
//! it out as well, so to refuse it protects nobody, and a seal of a later version is no attack. A hash that is wrong
//! under a key that is known here is another matter: no honest client makes one.
//!
//! Only approvals and forms expire, after 15 minutes by default, and only while the run would go on with their answer;
//! later they are history. A message that was copied into another chat, or is posted by another user, is refused: seals
//! cannot tell copying from forging. A host that lets its users branch a chat under a new id, or hand it over, sends the
//! copy without metadata.
//!
//! # What is not covered
//!
//! - **Which messages there are, and their order.** A client may leave out, edit or repeat what the user said, go back to
//!   an earlier answer and take another way, and leave out messages or parts of the assistant's: that is what editing,
//!   regenerating and trimming are.
//! - **Text that came without a seal** is taken as the assistant's, unless
//!   [`refuse_unsealed_text`](SealVerifier::refuse_unsealed_text) is set. It has no more weight than the user's words:
//!   never instructions, never a result.
//! - **Calls that have no result.** A client may claim that a call was made; no tool runs on that word, and nobody is asked
//!   about it.
//! - **The client's own answers**: outputs of front-end tools and forms may be posted differently each time, and so may
//!   the arguments that a user changed while approving, where the tool lets them.
//! - **Secrecy.** A seal hides nothing. What a client must not read must not be sent to it.
//! - **One user against themselves in one chat.** Genuine parts of two branches of a chat may be put together where they
//!   carry the same message id.
//!
//! # The seal
//!
//! `v1.KEY.EXPIRY.HASH`: the key's name, the time in seconds since 1970 (0: never), and HMAC-SHA-256 in base64url, cut to
//! 128 bits. Every field that is hashed has its length before it, and kinds are apart, so no two parts share a hash.
//! Hashes are compared in constant time. A seal is about 35 characters long.
//!
//! An approval is good for one execution. Its seal cannot say whether it was used: a [`ReplayGuard`] can.

mod binding;
mod keys;
mod replay;
mod sealer;
mod token;
mod verifier;

pub use keys::{InvalidSealKey, SealKeys};
pub use replay::{ClaimFuture, InMemoryReplayGuard, ReplayGuard, SealClaim};
pub use sealer::Sealer;
pub use verifier::SealVerifier;

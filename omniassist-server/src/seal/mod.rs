//! Seals: proof that a part of a posted conversation was written by this server.
//!
//! In stateless chat protocols the client posts the whole conversation, and a browser can post anything: results of tools
//! that never ran, approvals of calls that no server asked about. A seal is a keyed hash over one part of an answer and
//! its context. It leaves with the part, the client keeps it and posts it back unread, and [`SealVerifier`] checks it. The
//! server stores its keys, and the approved calls that ran, for as long as their approvals count.
//!
//! An [`Assistant`](crate::Assistant) with [`SealKeys`] seals and verifies by itself. Use [`Sealer`] and [`SealVerifier`]
//! directly to drive runs or read conversations in another way. [`omniassist_core::verify`] describes the walk through a
//! request and the treatment of unproved parts.
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
//! # Sealed parts
//!
//! | part | proved beside its context | carried in |
//! |---|---|---|
//! | text, reasoning | the text, and the provider's state with it | its provider metadata, `omniassist.seal`, at its end |
//! | call | id, tool, arguments, the provider's state, and the side that answers: server or client | its provider metadata, `omniassist.seal` |
//! | call that could not run | id, tool, the provider's state | the same |
//! | output | call id, tool, arguments, output | the message's metadata, `omniassist.seals[call id]` |
//! | failure | call id, tool, error text | the same |
//! | note about a long conversation: the rate of its tokens, a summary | both, and a digest of the messages that the summary covers | the message's metadata, `omniassist.history` |
//! | open request for approval | approval id, call id, tool, arguments, time, agent; for a call of an asked agent, the call that asked it | `approval.signature` |
//! | state of an asked agent that waits | the call that asked it; the state is encrypted | the provider metadata of one of its calls, `omniassist.agent` |
//!
//! The context is a chat, a principal, a message, a kind, a key and an expiry. A missing chat id and an empty one are
//! distinct; so are principals. Progress, data, sources, files and denials are not sealed: the model does not read the
//! former, and a client that may approve may also deny.
//!
//! JSON is proved in its [canonical form](omniassist_core::canonical), the form in which a client in JavaScript could
//! write it. Where a client may spell the numbers of a call's arguments in another way (`1.0` as `1`), the model's text
//! travels in the call's metadata under `omniassist.arguments`. The call's seal covers that text, and the tool runs with
//! it. A number that no double holds, such as an id beyond 2⁵³, never passes through a client as a number: see
//! [numbers](#numbers).
//!
//! A client has to post the message's id and metadata, and the metadata of its parts. The AI SDK's clients do, versions
//! 5, 6 and 7; a schema for message metadata on a page has to let the key `omniassist` pass. In a format without such
//! places, the dialect puts the seals where its clients keep data, and back into the message when it reads. A dialect
//! whose clients cut an answer into several messages restores the id of the one message.
//!
//! # Numbers
//!
//! JavaScript reads every number as a double. Therefore:
//!
//! - A call that passes through the client (approval, front-end tool, form) and has a number in its arguments that no
//!   double holds exactly does not run. The model reads an error that names the number and asks for a string.
//! - A server tool without approval runs with the text of the model. The client is sent such a number as a string, and
//!   posts it back exactly.
//! - Such a number in a tool's output becomes a string, for client and model.
//! - Arguments that a user changed must not hold integers from 2⁵³ on, since the client may have rounded them.
//!
//! # Treatment of a part
//!
//! | its seal | text | reasoning, state | result of a server's tool | answer of the client | open request, approval |
//! |---|---|---|---|---|---|
//! | proves it | accepted | accepted | accepted | accepted (the call's seal) | accepted; an approval once |
//! | is missing, under an unknown key, of another version, or no seal | accepted as text, or refused if the host demands it | dropped | "can no longer be verified" | the same | an error for model and client: the model may make the call again, and the user is asked again |
//! | proved it, and has expired | – | – | – | a form: "too late" | the same, with the reason that the time is over |
//! | is one of ours, and belongs to another part | refused | refused | refused | refused | refused |
//!
//! A note about a long conversation is ignored unless its seal proves it.
//!
//! *Refused* is the whole request, with status 400, code `seal_invalid` and the path of the part. A lost seal does not
//! block a chat: after a key rotation, after a restart with a random key, or in a client that loses metadata, its parts
//! count as unproved, and the chat continues. A wrong hash under a known key has no legitimate cause.
//!
//! Only requests for approval and forms expire, after 15 minutes by default
//! ([`approval_lifetime`](omniassist_core::Limits::approval_lifetime)), and only while the run would continue with
//! their answer; later they are history. A request that is sent again keeps its first expiry. A message that was copied
//! into another chat, or is posted by another user, is refused: seals cannot distinguish copies from forgeries. A host
//! that lets users branch a chat under a new id, or share it, sends the copy without metadata.
//!
//! # Approvals
//!
//! Only a call that this server left open can be approved: the request's own seal proves it. The seal of a call that the
//! server ran, or that has its answer, proves no request.
//!
//! A seal stays valid however often it is posted, so a [`ReplayGuard`] records which calls ran. The record is keyed by
//! the call, not by the seal: all approvals of one call count once. [`InMemoryReplayGuard`] records the calls of one
//! process. **With fixed keys, an approval that was used before a restart, or at another server, counts again until it
//! expires**, unless the guard is shared.
//!
//! A call that has asked its user runs again with the answers. Its client keeps its state, encrypted: the tool and the
//! arguments as the server left them, which no post changes. The state belongs to its chat, principal, message and call. It
//! counts for an hour after its questions expire, so that the tool still reads the error of a late answer. If the call
//! needed an approval, each state counts once, in the same record and with the same restriction.
//!
//! # Limits of seals
//!
//! - **The list of messages and its order.** A client may leave out, edit or repeat user messages, go back to an earlier
//!   answer, and leave out messages or parts of the assistant: that is editing, regenerating and trimming.
//! - **Text without a seal** counts as the assistant's, unless
//!   [`refuse_unsealed_text`](SealVerifier::refuse_unsealed_text) is set. It has the weight of user text: it is never
//!   an instruction or a result.
//! - **The OpenAI endpoint.** Its clients carry no seals. All text there is unproved, whatever `refuse_unsealed_text`
//!   says, and a client can post made-up answers and calls of the assistant.
//! - **Calls without a result.** A client may claim that a call was made. No tool runs on that claim, and no user is asked
//!   about it.
//! - **The client's own answers.** Outputs of front-end tools and forms may differ between posts, and so may arguments
//!   that a user changed while approving, where the tool allows it.
//! - **Secrecy.** A seal hides nothing.
//! - **One user within one chat.** Genuine parts of two branches can be combined where they carry the same message id.
//!
//! # Format
//!
//! `v1.KEY.EXPIRY.HASH`: the key's name, the time in seconds since 1970 (0: never), and HMAC-SHA-256 in base64url, cut to
//! 128 bits. Every hashed field has its length before it, and kinds are distinct, so no two parts share a hash. Hashes are
//! compared in constant time. A seal has about 35 characters. The state of a call has a nonce and a ciphertext in the place of
//! the hash.

mod agent_state;
mod binding;
mod history;
mod instance;
mod keys;
mod replay;
mod sealer;
mod token;
mod verifier;

pub(crate) use agent_state::open_state;
pub(crate) use history::HistoryNote;
pub(crate) use instance::proves_instance;
pub use keys::{InvalidSealKey, SealKeys};
pub use replay::{ClaimFuture, ClaimOutcome, InMemoryReplayGuard, ReplayGuard, SealClaim};
pub use sealer::Sealer;
pub use verifier::SealVerifier;

//! The log of a run: its format, its replay for clients, and the recovery of a run from it.
//!
//! A journal is a sequence of segments, and a segment a sequence of [`Record`]s. Most records are [`RunEvent`]s in the
//! order in which they were shown. The others, called consequences, hold what a server needs to continue the run and no
//! client reads: the end of each turn, the start of tools, calls of unknown outcome, and answers that a provider keeps.
//!
//! - [`SegmentWriter`] writes segments. Successive deltas of one block become one record.
//! - [`read`] reads one. Records of unknown kinds are kept, and [`SegmentWriter::record`] writes them back unchanged.
//! - [`fold`] rebuilds the run, so that it goes on after its server has stopped.
//! - [`exact`] returns the events as they were shown, for a client that counts chunks. [`Replay`] returns one delta for
//!   each block, for a client that begins with nothing: it reads 2,000 deltas in half a second and one in 5 ms.
//!
//! The same events always give the same bytes.
//!
//! # Format
//!
//! ```text
//! segment = version (1 byte) record* crc32 (4 bytes, little-endian, of all bytes before it)
//! record  = head (varint: kind × 4 + 2 if required + 1 if it has fields) length (varint) content
//! content = [length of the fields (varint) field*] body
//! field   = key (varint) length (varint) value
//! ```
//!
//! A varint is an unsigned LEB128 number. A reader skips a record of an unknown kind, unless the record is marked as
//! required: then the run cannot be recovered by this version, and only replayed. [`Head`] lists the fields. The body of
//! deltas is the block (or the call, or the agent), their number, their lengths in bytes as varints, and their text. All other
//! bodies are JSON, so a later version can add fields that an earlier one ignores.
//!
//! ```
//! use omniassist_core::event::BlockId;
//! use omniassist_core::journal::{self, Replay, SegmentWriter};
//! use omniassist_core::RunEvent;
//!
//! let mut writer = SegmentWriter::new();
//! let id = BlockId(0);
//! for event in [
//!     RunEvent::TextStart { id },
//!     RunEvent::TextDelta { id, delta: "On its ".into() },
//!     RunEvent::TextDelta { id, delta: "way.".into() },
//! ] {
//!     writer.event(&event)?;
//! }
//! let segment = writer.take().expect("three events were written");
//! assert_eq!(segment.events, 3);
//!
//! let records = journal::read(&segment.bytes)?;
//! assert_eq!(journal::exact(&records).len(), 3);
//! let merged = Replay::new().events(&records);
//! assert_eq!(merged[1], RunEvent::TextDelta { id, delta: "On its way.".into() });
//! # Ok::<(), omniassist_core::journal::JournalError>(())
//! ```
//!
//! [`RunEvent`]: crate::RunEvent

mod buffer;
mod deltas;
mod error;
mod fold;
mod head;
mod merge;
mod reader;
mod rebuild;
mod record;
mod replay;
mod segment;
mod varint;
mod writer;

pub use buffer::RecordBuffer;
pub use deltas::{DeltaOf, Deltas};
pub use error::JournalError;
pub use fold::fold;
pub use head::Head;
pub use reader::read;
pub use rebuild::message_events;
pub use record::{Content, Record, UnknownRecord};
pub use replay::{Replay, exact, of_run};
pub use segment::Segment;
pub use writer::SegmentWriter;

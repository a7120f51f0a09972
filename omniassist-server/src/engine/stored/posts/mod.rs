//! Posts to stored conversations: new messages, answers, and the run that each begins or waits for.

mod answer_call;
mod answer_signal;
mod busy;
mod enqueue;
mod input;
mod open;
mod post;
mod question_order;
mod stored_post;
mod verifier;

pub(crate) use answer_call::Answered;
pub(super) use answer_signal::{answer_signal, is_same_answer, latest_input};
pub(super) use busy::busy;
pub(super) use input::{Input, OF_TREE};
pub(crate) use open::Opened;
pub(super) use stored_post::StoredPost;

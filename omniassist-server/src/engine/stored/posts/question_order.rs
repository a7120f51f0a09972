//! The order of a post that has answers and new messages of the user.

use omniassist_core::message::{Message, Role};
use omniassist_core::{Error, RunRequest};

use super::post::{is_same, is_version};
use crate::engine::stored::chat::branches::{Branches, PreloadedBranches, read};
use crate::store::Branch;

/// Moves new messages of the user behind the answer that a request ends with, and returns the branch of the answer.
///
/// A reader puts an answer last that the user has written after, since a run without a store continues it. In a stored
/// conversation the answer keeps its place, and a message that is new follows it.
///
/// # Errors
///
/// Returns an error if the store cannot be used.
pub(super) async fn put_new_last(
    branches: &Branches<'_>,
    request: &mut RunRequest,
) -> Result<PreloadedBranches, Error> {
    let Some((answer, before)) = request.messages.split_last() else {
        return Ok(PreloadedBranches::default());
    };
    if before.is_empty() {
        return Ok(PreloadedBranches::default());
    }
    let loaded = branches.load_all(vec![Branch::Leaf(answer.id.clone())]).await?;
    let Some(found) = loaded.first() else { return Ok(loaded) };
    let stored = read(found)?;
    let Some((_, earlier)) = stored.split_last() else { return Ok(loaded) };
    // A client may have made another id for the question. If it has the known one, a message with the same text is new.
    let other = earlier.last().filter(|question| !before.iter().any(|posted| is_version(posted, question)));
    let is_new = |posted: &&Message| {
        posted.role == Role::User
            && !other.is_some_and(|question| is_same(question, posted))
            && !earlier.iter().any(|known| is_version(posted, known))
    };
    let new = before.iter().rev().take_while(is_new).count();
    if new == 0 {
        return Ok(loaded);
    }
    let first = before.len().saturating_sub(new);
    if let Some(moved) = request.messages.get_mut(first..) {
        moved.rotate_right(1);
    }
    Ok(PreloadedBranches::default())
}

//! The new part of a post to a stored conversation.
//!
//! Clients post the whole conversation, or its last message. The store has the earlier messages, so only what is new is
//! taken from a post: messages of the user with ids that the store does not have, and answers to open calls. All else is
//! ignored, and needs no proof. A conversation that the store does not have is imported once.
//!
//! Answers are those of the last message, for which a run waits, or of the message before the new ones. The latter are stored
//! with the new messages, since the run that waited ends.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::mem;

use omniassist_core::message::{Message, Part, Role};
use omniassist_core::run::{ToolCatalog, Trigger};
use omniassist_core::{Error, RunRequest, Text};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::engine::stored::chat::branches::{Branches, read};
use crate::engine::stored::chat::{message_id, stored_message};
use crate::engine::stores::answers::{self, PostedAnswers};
use crate::store::{Branch, Change, ConversationStore, RunId, Scope, StoreError};

/// The characters of a title.
const TITLE_CHARS: usize = 80;

/// The new part of a post.
#[derive(Debug)]
pub(super) struct NewPart {
    pub(in crate::engine::stored) kind: PostKind,
    /// The version of the conversation that the post was compared with; 0 if there was none.
    pub(in crate::engine::stored) version: u32,
    /// The index of the first message of the request that the store does not have.
    first_new: usize,
    /// The message before it, if the post has answers to its open calls. It has them.
    answered: Option<Message>,
    has_title: bool,
}

/// The kind of a post.
#[derive(Debug, PartialEq)]
pub(super) enum PostKind {
    /// New messages of the user, or none: an answer is made again.
    New,
    /// A conversation that the store does not have. It is verified like one that no store keeps.
    Import,
    /// Answers to calls of a stored message.
    Answers(PostedAnswers),
}

/// Merges a post with the stored conversation. Afterwards the request has the stored branch and the new messages after it, and
/// [`loaded_messages`](RunRequest::loaded_messages) is the number of those from the store. Answers are written into the
/// last message.
///
/// A question that is posted again with another content under the same id, as the AI SDK edits one, is stored under an id
/// of its own, so that both versions are kept.
///
/// # Errors
///
/// Returns an error if the store does not have the message before the posted one, or cannot be used. The request must not
/// be used then.
pub(super) async fn merge(
    mut store: Branches<'_>,
    request: &mut RunRequest,
    tools: &(dyn ToolCatalog + Sync),
) -> Result<NewPart, Error> {
    let is_last_only = mem::take(&mut request.awaits_history);
    let mut posted = VecDeque::from(mem::take(&mut request.messages));
    let Some(mut last) = posted.pop_back() else { return ask_again(store, request).await };
    if last.id.is_empty() {
        last.id = format!("msg_{}", Uuid::now_v7().simple()).into();
    }
    // A conversation without a head has entries of components at most.
    let found = store.load(Branch::Leaf(last.id.clone())).await?.filter(|found| found.info.head.is_some());
    let Some(found) = found else {
        if is_last_only && last.role == Role::Assistant {
            return Err(Error::unknown_parent());
        }
        let kind = if posted.is_empty() { PostKind::New } else { PostKind::Import };
        posted.push_back(last);
        request.messages = posted.into();
        return Ok(NewPart {
            kind,
            version: store.version(),
            first_new: 0,
            answered: None,
            has_title: false,
        });
    };
    let has_title = found.info.title.is_some();
    let mut branch = read(&found)?;
    if let Some(known) = branch.last() {
        if known.role != last.role {
            return Err(Error::invalid_field(
                "messages",
                "a message with a new id",
                "the id of another message",
            ));
        }
        if last.role == Role::Assistant && request.trigger == Trigger::Submit {
            let answers = PostedAnswers::new(known, &last, tools);
            if let Some(message) = branch.last_mut() {
                answers::apply_answers(message, &answers.open);
            }
            let kind = PostKind::Answers(answers);
            return Ok(finish(&store, request, kind, branch, Vec::new(), has_title));
        }
        if last.role == Role::Assistant {
            branch.pop();
        } else if !is_same(known, &last) {
            last.id = id_of_edit(&last);
            let edited = store.branch(Branch::Leaf(last.id.clone())).await?;
            if edited.is_empty() {
                branch.pop();
                return Ok(finish(&store, request, PostKind::New, branch, vec![last], has_title));
            }
            branch = edited;
        }
        return Ok(finish(&store, request, PostKind::New, branch, Vec::new(), has_title));
    }
    if last.role == Role::Assistant {
        return Err(Error::unknown_parent());
    }
    let (branch, new) = if !is_last_only {
        let parent = parent(&mut store, posted, last, tools).await?;
        let taken = finish(&store, request, PostKind::New, parent.branch, parent.new, has_title);
        return Ok(NewPart { answered: parent.answered, ..taken });
    } else if request.trigger == Trigger::Regenerate && request.message_id.is_some() {
        (store.question(request.message_id.as_ref()).await?, vec![last])
    } else {
        (store.branch(Branch::Head).await?, vec![last])
    };
    Ok(finish(&store, request, PostKind::New, branch, new, has_title))
}

fn finish(
    store: &Branches<'_>,
    request: &mut RunRequest,
    kind: PostKind,
    branch: Vec<Message>,
    new: Vec<Message>,
    has_title: bool,
) -> NewPart {
    let first_new = branch.len();
    request.loaded_messages = first_new;
    request.messages = branch;
    request.messages.extend(new);
    NewPart { kind, version: store.version(), first_new, answered: None, has_title }
}

impl NewPart {
    /// Returns the change that the post makes. `verified` are the messages of the request after their verification.
    ///
    /// # Errors
    ///
    /// Returns an error if a message has no JSON form.
    pub(in crate::engine::stored) fn change(&self, verified: &[Message]) -> Result<Change, StoreError> {
        let mut change = Change::default();
        if let PostKind::Answers(answers) = &self.kind {
            if let Some(message) = verified.last().filter(|_| !answers.open.is_empty()) {
                let before = verified.len().checked_sub(2).and_then(|at| verified.get(at));
                let parent = before.map(|before| before.id.clone());
                change.messages.push(stored_message(message, parent)?);
            }
            return Ok(change);
        }
        let mut parent = None;
        for (index, message) in verified.iter().enumerate() {
            let before = parent.replace(message.id.clone());
            if let Some(answered) = self.answered.as_ref().filter(|_| index + 1 == self.first_new) {
                // Not the verified one, which has no entries of the server.
                change.messages.push(stored_message(answered, before)?);
            } else if index >= self.first_new {
                change.messages.push(stored_message(message, before)?);
            }
        }
        change.head = parent;
        change.title = if self.has_title { None } else { title(verified) };
        Ok(change)
    }
}

/// Returns the branch that ends with a message, or the one that is shown if there is no such message.
///
/// # Errors
///
/// Returns an error if the store cannot be used.
pub(super) async fn branch_of(
    conversations: &dyn ConversationStore,
    scope: &Scope,
    chat: &str,
    leaf: &Text,
) -> Result<Vec<Message>, Error> {
    let mut store = Branches::new(conversations, scope, chat);
    let branch = store.branch(Branch::Leaf(leaf.clone())).await?;
    if branch.is_empty() { store.branch(Branch::Head).await } else { Ok(branch) }
}

/// Returns the last message of the branch that is shown.
///
/// # Errors
///
/// Returns an error if the store cannot be used.
pub(in crate::engine::stored) async fn head(
    conversations: &dyn ConversationStore,
    scope: &Scope,
    chat: &str,
) -> Result<Option<Message>, Error> {
    Ok(Branches::new(conversations, scope, chat).end_of(Branch::Head, 1).await?.pop())
}

/// Returns the question that a run answers. `None` if the conversation does not have it, or its place is not known.
///
/// # Errors
///
/// Returns an error if the store cannot be used.
pub(super) async fn question_of(
    conversations: &dyn ConversationStore,
    scope: &Scope,
    chat: &str,
    run: RunId,
    is_latest: bool,
) -> Result<Option<Message>, Error> {
    let store = Branches::new(conversations, scope, chat);
    let mut branch = store.end_of(Branch::Leaf(message_id(run)), 2).await?;
    match branch.pop() {
        Some(_) => {}
        // The run has written nothing yet.
        None if is_latest => branch = store.end_of(Branch::Head, 1).await?,
        None => return Ok(None),
    }
    Ok(branch.pop().filter(|question| question.role == Role::User))
}

/// Returns `true` if the conversation has a message with this id.
///
/// # Errors
///
/// Returns an error if the store cannot be used.
pub(in crate::engine::stored) async fn has(
    conversations: &dyn ConversationStore,
    scope: &Scope,
    chat: &str,
    id: &Text,
) -> Result<bool, Error> {
    Ok(!Branches::new(conversations, scope, chat).end_of(Branch::Leaf(id.clone()), 1).await?.is_empty())
}

/// Returns `true` if a message is stored as this one, which has an id of its own after an edit.
pub(super) fn is_version(posted: &Message, stored: &Message) -> bool {
    posted.id == stored.id || (posted.role == Role::User && id_of_edit(posted) == stored.id)
}

/// Takes a post without messages: the answer to a stored question is made again.
async fn ask_again(mut store: Branches<'_>, request: &mut RunRequest) -> Result<NewPart, Error> {
    let branch = store.question(request.message_id.as_ref()).await?;
    if branch.is_empty() {
        return Err(Error::invalid_field("messageId", "the id of a message of the chat", "another id"));
    }
    Ok(finish(&store, request, PostKind::New, branch, Vec::new(), true))
}

/// The place of new messages in a conversation.
#[derive(Default)]
struct Parent {
    /// The stored branch before them, with the answers that came with them.
    branch: Vec<Message>,
    /// The last message of the branch, if there are such answers.
    answered: Option<Message>,
    new: Vec<Message>,
}

/// Returns the place of a new message. Earlier questions and edits that the store does not have are new too: their posts were
/// refused or lost.
///
/// Answers count for the last message that is shown only. What follows another message was written without them.
async fn parent(
    store: &mut Branches<'_>,
    mut posted: VecDeque<Message>,
    last: Message,
    tools: &(dyn ToolCatalog + Sync),
) -> Result<Parent, Error> {
    let mut new = VecDeque::from([last]);
    let mut shown: Option<Vec<Message>> = None;
    while let Some(mut before) = posted.pop_back() {
        let (mut branch, is_shown) = match &shown {
            None => store.shown_up_to(&before.id).await?,
            Some(shown) => (up_to(shown, &before.id), shown.last().is_some_and(|last| last.id == before.id)),
        };
        if branch.last().is_some_and(|known| known.role == Role::User && !is_same(known, &before)) {
            before.id = id_of_edit(&before);
            let edited = store.branch(Branch::Leaf(before.id.clone())).await?;
            if edited.is_empty() {
                // The post of the edit was lost.
                branch.pop();
                new.push_front(before);
                return Ok(Parent { branch, answered: None, new: new.into() });
            }
            branch = edited;
        }
        if !branch.is_empty() {
            let mut answered = None;
            if is_shown && let Some(known) = branch.last_mut() {
                let answers = answers::owed_before(known, &before, tools);
                answers::apply_answers(known, &answers);
                answered = (!answers.is_empty()).then(|| known.clone());
            }
            return Ok(Parent { branch, answered, new: new.into() });
        }
        if shown.is_none() {
            shown = Some(store.branch(Branch::Head).await?);
        }
        match before.role {
            Role::Assistant if has_content(&before) => return Err(Error::unknown_parent()),
            // A run that failed before its first word left an empty message on the page.
            Role::Assistant => {}
            Role::User | Role::System => new.push_front(before),
        }
    }
    Ok(Parent { new: new.into(), ..Parent::default() })
}

fn up_to(branch: &[Message], id: &Text) -> Vec<Message> {
    let at = branch.iter().position(|message| message.id == *id);
    at.and_then(|at| branch.get(..=at)).unwrap_or_default().to_vec()
}

fn has_content(message: &Message) -> bool {
    message.parts.iter().any(|part| match part {
        Part::StepStart => false,
        Part::Text(text) => !text.text.trim().is_empty(),
        _ => true,
    })
}

/// Returns `true` if two messages of the user say the same. State of the client does not count.
pub(super) fn is_same(one: &Message, other: &Message) -> bool {
    one.parts.len() == other.parts.len()
        && one.parts.iter().zip(&other.parts).all(|parts| match parts {
            (Part::Text(one), Part::Text(other)) => one.text == other.text,
            (Part::File(one), Part::File(other)) => {
                (&one.url, &one.media_type) == (&other.url, &other.media_type)
            }
            (one, other) => one == other,
        })
}

/// Returns the id under which an edited question is stored. The same edit always has the same id.
pub(super) fn id_of_edit(message: &Message) -> Text {
    let mut digest = Sha256::new();
    digest.update(message.id.as_bytes());
    for part in &message.parts {
        let (kind, text) = match part {
            Part::Text(part) => (0, &part.text),
            Part::File(part) => (1, &part.url),
            _ => continue,
        };
        digest.update([kind]);
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text.as_bytes());
    }
    let hash = digest.finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    format!("edit_{}", Uuid::from_bytes(bytes).simple()).into()
}

/// Returns the first line of the first question that has text, cut at a word.
fn title(messages: &[Message]) -> Option<Text> {
    let mut questions = messages.iter().filter(|message| message.role == Role::User).map(Message::text);
    let question = questions.find(|question| !question.trim().is_empty())?;
    let line = question.trim_start().lines().next()?.trim_end();
    let Some((end, _)) = line.char_indices().nth(TITLE_CHARS) else { return Some(line.into()) };
    let cut = line.get(..end)?;
    let is_whole = line.get(end..)?.starts_with(char::is_whitespace);
    let words =
        if is_whole { Some(cut) } else { cut.rsplit_once(char::is_whitespace).map(|(words, _)| words) };
    Some(format!("{}…", words.unwrap_or(cut).trim_end()).into())
}

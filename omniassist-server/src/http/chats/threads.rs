//! The routes below `/threads`: the stored conversations of a principal.

use std::slice;

use http::{Extensions, Method, Request, Response, StatusCode, Uri};
use http_body::Body;
use omniassist_core::message::read::check_id;
use omniassist_core::{Error, Limits, Message, Text};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::posted::client_version;
use crate::engine::{Conversations, store_failed};
use crate::http::AssistantBody;
use crate::http::request::{decoded, query_value, receive};
use crate::http::response::{Rejection, reply};
use crate::store::{
    Branch, Change, ConversationInfo, Listing, NotSaved, OpenRun, Page, Saved, StoreError, Window,
};
use crate::{Assistant, Principal};

/// The conversations and the messages of an answer, and the most that a client may ask for.
const THREADS: (usize, usize) = (50, 100);
const MESSAGES: (usize, usize) = (100, 1_000);

/// The body of a change.
const CHANGE: &str = "an object with `title` or `head`, and optionally `version`";

/// The bytes of a title that a client sets.
const MAX_TITLE_BYTES: usize = 256;

/// A request for stored conversations.
pub(in crate::http) struct ThreadsRequest<'a> {
    pub(in crate::http) conversations: Conversations,
    pub(in crate::http) principal: Principal,
    uri: &'a Uri,
}

impl<'a> ThreadsRequest<'a> {
    /// An anonymous principal has no conversations, so that the routes are unknown to it.
    pub(in crate::http) fn new(
        assistant: &Assistant,
        extensions: &Extensions,
        uri: &'a Uri,
    ) -> Result<Self, Rejection> {
        let principal = extensions.get::<Principal>().filter(|principal| !principal.is_anonymous());
        let (Some(conversations), Some(principal)) = (assistant.conversations(), principal) else {
            return Err(Rejection::not_found());
        };
        Ok(Self { conversations, principal: principal.clone(), uri })
    }

    /// Describes conversations and their runs, which are one question for the store.
    async fn described(&self, infos: &[ConversationInfo]) -> Result<Vec<Value>, Rejection> {
        let chats: Vec<Text> = infos.iter().map(|info| info.chat.clone()).collect();
        let runs = self.conversations.open_runs(&self.principal, &chats).await.map_err(failed)?;
        let run_of = |info: &ConversationInfo| runs.iter().find(|run| run.chat == info.chat);
        Ok(infos.iter().map(|info| described(info, run_of(info))).collect())
    }

    /// Answers with the description of a chat.
    async fn one(&self, chat: &str) -> Result<Response<AssistantBody>, Rejection> {
        let info = self.info(chat).await?;
        let described = self.described(slice::from_ref(&info)).await?;
        Ok(reply::json(StatusCode::OK, &described.into_iter().next().unwrap_or_default()))
    }

    /// Returns the conversations of the page that the query names.
    pub(in crate::http) async fn page(&self) -> Result<Listing, Rejection> {
        let mut page = Page::first(limit(self.uri, THREADS)?);
        page.cursor = parameter(self.uri, "cursor")?;
        self.conversations.list(&self.principal, &page).await.map_err(|error| {
            if !error.is_invalid() {
                return failed(error);
            }
            Error::invalid_field("?cursor", "the `nextCursor` of an answer", "another value").into()
        })
    }

    /// Checks that the chat has the message that a window without messages names. The first message of a chat has none
    /// before it.
    async fn check_known(&self, chat: &str, window: &Window) -> Result<(), Rejection> {
        let (name, message) = match (&window.before, &window.branch) {
            (Some(before), _) => ("?before", before),
            (None, Branch::Leaf(leaf)) => ("?branch", leaf),
            _ => return Ok(()),
        };
        let own = Window { branch: Branch::Leaf(message.clone()), before: None, at_most: 1 };
        let loaded = self.conversations.before_stream(&self.principal, chat, &own).await.map_err(failed)?;
        if loaded.is_some_and(|loaded| !loaded.messages.is_empty()) {
            return Ok(());
        }
        Err(Error::invalid_field(name, "the id of a message of the chat", "another id").into())
    }

    pub(in crate::http) async fn info(&self, chat: &str) -> Result<ConversationInfo, Rejection> {
        let info = self.conversations.info(&self.principal, chat).await.map_err(failed)?;
        info.ok_or_else(Rejection::not_found)
    }
}

/// Answers `GET /threads`.
pub(in crate::http) async fn list<B>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (parts, _) = request.into_parts();
    let asked = ThreadsRequest::new(assistant, &parts.extensions, &parts.uri)?;
    let listing = asked.page().await?;
    let threads = asked.described(&listing.conversations).await?;
    Ok(reply::json(StatusCode::OK, &json!({ "threads": threads, "nextCursor": listing.next })))
}

/// Answers `GET`, `PATCH` and `DELETE /threads/{chat}`.
pub(in crate::http) async fn one<B: Body>(
    assistant: &Assistant,
    chat: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    match parts.method {
        Method::PATCH => {
            let body = receive::posted(assistant, &mut parts, body).await?;
            let asked = ThreadsRequest::new(assistant, &parts.extensions, &parts.uri)?;
            let change = change(&body.bytes, assistant.limits())?;
            let saved = asked.conversations.change(&asked.principal, chat, change).await.map_err(failed)?;
            match saved {
                None => return Err(Rejection::not_found()),
                Some(Saved::Version(_)) => {}
                Some(Saved::Refused(NotSaved::UnknownMessage(_))) => {
                    return Err(Error::invalid_field(
                        "head",
                        "the id of a message of the chat",
                        "another id",
                    )
                    .into());
                }
                Some(Saved::Refused(reason)) => return Err(conflict(&reason)),
            }
            asked.one(chat).await
        }
        Method::DELETE => {
            let asked = ThreadsRequest::new(assistant, &parts.extensions, &parts.uri)?;
            match asked.conversations.delete(&asked.principal, chat).await.map_err(failed)? {
                true => Ok(reply::no_content()),
                false => Err(Rejection::not_found()),
            }
        }
        _ => {
            let asked = ThreadsRequest::new(assistant, &parts.extensions, &parts.uri)?;
            asked.one(chat).await
        }
    }
}

/// Answers `GET /threads/{chat}/messages`.
pub(in crate::http) async fn messages<B>(
    assistant: &Assistant,
    chat: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (parts, _) = request.into_parts();
    let asked = ThreadsRequest::new(assistant, &parts.extensions, &parts.uri)?;
    let version = client_version(asked.uri)?;
    let window = Window {
        branch: parameter(asked.uri, "branch")?.map_or(Branch::Head, Branch::Leaf),
        before: parameter(asked.uri, "before")?,
        at_most: limit(asked.uri, MESSAGES)?,
    };
    let loaded = asked.conversations.before_stream(&asked.principal, chat, &window).await;
    let mut loaded = loaded.map_err(failed)?.ok_or_else(Rejection::not_found)?;
    if loaded.messages.is_empty() {
        asked.check_known(chat, &window).await?;
    }
    let shown = loaded.messages.iter_mut().map(|loaded| &mut loaded.message);
    assistant.refresh_states(&asked.principal, &chat.into(), shown).await?;
    loaded.messages.iter_mut().for_each(|loaded| version.complete(&mut loaded.message));
    let messages = loaded.messages.iter().map(|loaded| &loaded.message).collect();
    let page = MessagePage { messages, more: loaded.more, head: &loaded.info.head };
    let page = serde_json::to_string(&page).map_err(|error| failed(StoreError::other(error)))?;
    Ok(reply::text(StatusCode::OK, "application/json", page))
}

/// Messages of a conversation. They are not trees of values, which cannot hold all numbers of their JSON.
#[derive(Serialize)]
struct MessagePage<'a> {
    messages: Vec<&'a Message>,
    more: bool,
    head: &'a Option<Text>,
}

fn described(info: &ConversationInfo, run: Option<&OpenRun>) -> Value {
    json!({
        "id": info.chat,
        "title": info.title,
        "head": info.head,
        "version": info.version,
        "createdAt": info.created_ms,
        "updatedAt": info.updated_ms,
        "run": run.map(|run| json!({ "id": run.run.to_string(), "state": run.state.as_str() })),
    })
}

/// Reads a change: an object with `title`, `head` or both, and optionally the `version` that is changed.
fn change(body: &[u8], limits: &Limits) -> Result<Change, Error> {
    let object: Map<String, Value> = receive::object(body, limits, CHANGE)?;
    let mut change = Change::default();
    for (key, value) in &object {
        match (key.as_str(), value) {
            ("title", Value::String(title)) => change.title = Some(self::title(title, "title")?),
            ("title", _) => return Err(Error::invalid_field("title", "a string", "something else")),
            ("head", Value::String(head)) => {
                check_id(head, "head", limits)?;
                change.head = Some(head.as_str().into());
            }
            ("head", _) => return Err(Error::invalid_field("head", "a string", "something else")),
            ("version", version) => {
                let number = version.as_u64().and_then(|version| u32::try_from(version).ok());
                let expected = "the `version` of the chat";
                change.version =
                    Some(number.ok_or_else(|| Error::invalid_field("version", expected, "something else"))?);
            }
            _ => return Err(nothing_to_change("another key")),
        }
    }
    if change.title.is_none() && change.head.is_none() {
        return Err(nothing_to_change("neither"));
    }
    Ok(change)
}

fn nothing_to_change(found: &'static str) -> Error {
    Error::invalid_field("body", CHANGE, found)
}

/// Checks a title that a client sets.
pub(in crate::http) fn title(title: &str, path: &'static str) -> Result<Text, Error> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Error::invalid_field(path, "a string that is not blank", "a blank string"));
    }
    if title.len() > MAX_TITLE_BYTES {
        let expected = format!("at most {MAX_TITLE_BYTES} bytes");
        return Err(Error::invalid_field(path, expected, "a longer string"));
    }
    Ok(title.into())
}

fn conflict(reason: &NotSaved) -> Rejection {
    let message = "The chat was changed meanwhile.";
    let rejection = Rejection::new(StatusCode::CONFLICT, "version_conflict", message);
    match reason {
        NotSaved::Conflict(version) => rejection.with_detail("version", *version),
        _ => rejection,
    }
}

/// Reads `?limit=`.
fn limit(uri: &Uri, (default, most): (usize, usize)) -> Result<usize, Error> {
    let Some(value) = query_value(uri, "limit") else { return Ok(default) };
    let number = value.parse().ok().filter(|number| (1..=most).contains(number));
    number
        .ok_or_else(|| Error::invalid_field("?limit", format!("a number from 1 to {most}"), "another value"))
}

/// Reads a parameter of the query.
pub(in crate::http) fn parameter(uri: &Uri, name: &str) -> Result<Option<Text>, Error> {
    let Some(value) = query_value(uri, name) else { return Ok(None) };
    let found = match String::from_utf8(decoded(value)) {
        Ok(value) if !value.is_empty() => return Ok(Some(value.into())),
        Ok(_) => "an empty value",
        Err(_) => "other bytes",
    };
    Err(Error::invalid_field(format!("?{name}"), "text in UTF-8", found))
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the value")]
pub(in crate::http) fn failed(error: StoreError) -> Rejection {
    store_failed(&error).into()
}

//! Streams of stored runs for clients that come back.
//!
//! A page that has nothing gets the message as far as it is written, with one delta for each block, and then what follows.
//! A client that counts chunks gets the rest only. A stream that ends before its run is broken off, so that the client
//! comes back.

use http::Response;
use http::request::Parts;
use omniassist_core::dialect::ai_sdk::{ClientVersion, Encoder, Framing};
use omniassist_core::dialect::{Cursor, DialectEncoder as _, Numbered};
use omniassist_core::{Error, RunEvent};

use super::position::{Position, not_a_cursor};
use super::posted;
use super::question::is_approval;
use crate::engine::{LegEvents, store_failed};
use crate::http::request::receive::wants_ndjson;
use crate::http::response::{Rejection, RunName, reply, run_headers};
use crate::http::{AssistantBody, event_stream};
use crate::store::{Obligation, RunHead, RunId, RunState, Scope, Which};
use crate::{Assistant, Principal, clock};

/// A request for the stream of a run.
struct Client {
    position: Position,
    framing: Framing,
    version: ClientVersion,
}

/// The place in a leg of a run from which its exact events are wanted.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// After this number of chunks.
    Chunk(u64),
    /// After this number of chunks, for a client that waits for the end of the message. A negative number counts from the
    /// end.
    Index(i64),
}

/// Answers `GET /{chat_id}/stream`: by the id of the chat, or by the name of the run that a response had in its
/// `x-workflow-run-id`.
pub(in crate::http) async fn stream(
    assistant: &Assistant,
    name: Option<&str>,
    parts: &Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let Some(name) = name.filter(|_| assistant.stores().is_some()) else { return Ok(reply::no_content()) };
    let client = Client::of(parts)?;
    let Some(scope) = scope_of(parts) else { return Ok(client.nothing()) };
    let run = RunName::parse(name);
    let mut head = None;
    if let Some(run) = run {
        head = assistant.find_run(&scope, Which::Run(run.id)).await?;
    }
    let epoch = run.filter(|_| head.is_some()).and_then(|run| run.epoch);
    let is_named = head.is_some();
    let head = match head {
        Some(head) => Some(head),
        None => assistant.find_run(&scope, Which::Chat(name)).await?,
    };
    let Some(head) = head else { return Ok(client.nothing()) };
    if head.state == RunState::Queued {
        return client.queued(assistant, &scope, &head).await;
    }
    let answer = match client.position {
        // The page would show the message below another question.
        Position::Message if !is_named && !shows(assistant, &head).await? => None,
        Position::Message => client.message(assistant, &scope, &head).await?,
        Position::After { cursor, field } => client.after(assistant, &scope, &head, cursor, field).await?,
        // A client that names no epoch has nothing of the message.
        Position::Index(0) if epoch.is_none() && head.state != RunState::Running => {
            client.message(assistant, &scope, &head).await?
        }
        Position::Index(index) => client.rest(assistant, &scope, &head, epoch, Place::Index(index)).await?,
    };
    Ok(answer.unwrap_or_else(|| client.nothing()))
}

/// Answers `GET /runs/{run}/events`: from the beginning of the run, or from a cursor on. The answer after the last event is
/// 204, at which an `EventSource` stops.
pub(in crate::http) async fn events(
    assistant: &Assistant,
    run: Option<RunId>,
    parts: &Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let client = Client::of(parts)?;
    let (scope, head) = find(assistant, run, parts).await?;
    if head.state == RunState::Queued {
        return client.queued(assistant, &scope, &head).await;
    }
    let answer = match client.position {
        Position::Message => client.rest(assistant, &scope, &head, Some(1), Place::Chunk(0)).await?,
        Position::After { cursor, field } => client.after(assistant, &scope, &head, cursor, field).await?,
        Position::Index(index) => client.rest(assistant, &scope, &head, None, Place::Index(index)).await?,
    };
    Ok(answer.unwrap_or_else(|| client.nothing()))
}

/// Returns the run with this id of the sender of a request.
///
/// # Errors
///
/// Returns the answer to an unknown path if the sender has no such run.
pub(in crate::http) async fn find(
    assistant: &Assistant,
    run: Option<RunId>,
    parts: &Parts,
) -> Result<(Scope, RunHead), Rejection> {
    if let (Some(run), Some(scope)) = (run, scope_of(parts))
        && let Some(head) = assistant.find_run(&scope, Which::Run(run)).await?
    {
        return Ok((scope, head));
    }
    Err(Rejection::not_found())
}

/// Returns the owner of the runs that the sender of a request may read. Anonymous senders own none.
pub(super) fn scope_of(parts: &Parts) -> Option<Scope> {
    parts.extensions.get().and_then(|principal: &Principal| Scope::of(principal))
}

impl Client {
    fn of(parts: &Parts) -> Result<Self, Rejection> {
        let framing = if wants_ndjson(&parts.headers) { Framing::Ndjson } else { Framing::Sse };
        Ok(Self { position: Position::of(parts)?, framing, version: posted::client_version(&parts.uri)? })
    }

    fn encoder(&self, version: ClientVersion) -> Box<Encoder> {
        Box::new(Encoder::new(self.framing).version(version))
    }

    /// Returns the answer where there is nothing to resume. A `WorkflowChatTransport` takes 204 for an error.
    fn nothing(&self) -> Response<AssistantBody> {
        if !matches!(self.position, Position::Index(_)) {
            return reply::no_content();
        }
        let text = match self.framing {
            Framing::Sse => "data: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n",
            Framing::Ndjson => "{\"type\":\"finish\"}\n",
        };
        event_stream::events(AssistantBody::whole(text), self.framing.headers())
    }

    /// Streams a message from its start, with one delta for each block that is written already.
    async fn message(
        &self,
        assistant: &Assistant,
        scope: &Scope,
        head: &RunHead,
    ) -> Result<Option<Response<AssistantBody>>, Rejection> {
        let may_lack_it = match head.state {
            RunState::Running => true,
            // A replay would take front-end calls back that the page can execute, and answers that it has given.
            RunState::Waiting => head.obligations.iter().all(is_open_approval),
            _ => is_recent(assistant, head) && is_shown(assistant, scope, head).await?,
        };
        if !may_lack_it {
            return Ok(None);
        }
        let Some(mut view) = assistant.view_message(scope, head.run).await? else { return Ok(None) };
        if self.version >= ClientVersion::V7 {
            view = view.across_epochs();
        }
        let encoder = Numbered::new(self.encoder(self.version), Cursor { epoch: 0, chunk: 0 }).ids(false);
        let encoder = encoder.always_finishes(matches!(self.position, Position::Index(_)));
        let name = RunName { id: head.run, epoch: view.epoch() };
        let body = AssistantBody::view(view, Box::new(encoder), assistant.limits().keep_alive);
        Ok(Some(self.response(name, body)))
    }

    /// Streams a run that waits in a queue, from its first event on. Until then, the stream has comments only.
    async fn queued(
        &self,
        assistant: &Assistant,
        scope: &Scope,
        head: &RunHead,
    ) -> Result<Response<AssistantBody>, Rejection> {
        let Some(view) = assistant.view_message(scope, head.run).await? else { return Ok(self.nothing()) };
        let always_finishes = matches!(self.position, Position::Index(_));
        let encoder = Numbered::new(self.encoder(self.version), Cursor { epoch: 1, chunk: 0 });
        let name = RunName { id: head.run, epoch: Some(1) };
        let encoder = Box::new(encoder.always_finishes(always_finishes));
        Ok(self.response(name, AssistantBody::view(view, encoder, assistant.limits().keep_alive)))
    }

    async fn after(
        &self,
        assistant: &Assistant,
        scope: &Scope,
        head: &RunHead,
        cursor: Cursor,
        field: &'static str,
    ) -> Result<Option<Response<AssistantBody>>, Rejection> {
        if cursor.epoch == 0 || cursor.epoch > head.epoch {
            return Err(not_a_cursor(field).into());
        }
        self.rest(assistant, scope, head, Some(cursor.epoch), Place::Chunk(cursor.chunk)).await
    }

    /// Streams the exact events of a leg after a place: of the leg with this epoch, or the last one. Returns `None` if there
    /// are none.
    async fn rest(
        &self,
        assistant: &Assistant,
        scope: &Scope,
        head: &RunHead,
        mut epoch: Option<u32>,
        mut place: Place,
    ) -> Result<Option<Response<AssistantBody>>, Rejection> {
        if head.head == 0 {
            return Err(Error::events_expired().into());
        }
        loop {
            let Some(mut rest) = assistant.leg_events(scope, head.run, epoch).await? else { return Ok(None) };
            let is_old = epoch.is_some_and(|epoch| epoch < rest.epoch);
            let mut version = self.version;
            if epoch.is_none() && matches!(place, Place::Index(_)) {
                // The transport that counts is of version 7. Its client has chosen no other version for this response.
                version = ClientVersion::V7;
            }
            if is_old {
                self.withdraw_step(version, place, &mut rest);
            }
            let loses_text = is_old && rest.withdraws_text();
            if loses_text && version < ClientVersion::V7 {
                match place {
                    // This client cannot take back the text that was lost, so it gets the whole message.
                    Place::Chunk(_) => return self.message(assistant, scope, head).await,
                    Place::Index(_) => version = ClientVersion::V7,
                }
            }
            let chunk = self.chunk(version, place, &rest, is_old);
            if rest.is_over && matches!(place, Place::Chunk(_)) && chunk >= self.count(version, &rest.events)
            {
                let Some(next) = rest.next else { return Ok(None) };
                (epoch, place) = (Some(next), Place::Chunk(0));
                continue;
            }
            let after = Cursor { epoch: rest.epoch, chunk };
            let always_finishes = matches!(place, Place::Index(_));
            let encoder = Numbered::new(self.encoder(version), after).always_finishes(always_finishes);
            let name = RunName { id: head.run, epoch: Some(rest.epoch) };
            let total = self.count(version, &rest.events);
            let body =
                AssistantBody::view(rest.into_view(), Box::new(encoder), assistant.limits().keep_alive);
            let mut response = self.response(name, body);
            if let Place::Index(..0) = place {
                run_headers::add_tail_index(&mut response, total);
            }
            return Ok(Some(response));
        }
    }

    /// Withdraws a step of which the client has more than the journal: its text was shown and never written. The reset is
    /// sent in place of the start of the step, so chunks are counted as before.
    fn withdraw_step(&self, version: ClientVersion, place: Place, rest: &mut LegEvents) {
        let shown = match place {
            Place::Chunk(chunk) => Some(chunk),
            Place::Index(index) => u64::try_from(index).ok(),
        };
        let before = self.count(version, rest.events.get(..rest.kept).unwrap_or(&rest.events));
        // The first chunk is the start of the message, which is no part of a step.
        if shown.is_some_and(|shown| shown > before.max(1)) {
            rest.withdraw_step();
        }
    }

    /// Returns the number of chunks that a client has.
    fn chunk(&self, version: ClientVersion, place: Place, rest: &LegEvents, is_old: bool) -> u64 {
        let total = || self.count(version, &rest.events);
        let chunk = match place {
            Place::Chunk(chunk) => chunk,
            Place::Index(index) => {
                u64::try_from(index).unwrap_or_else(|_| total().saturating_sub(index.unsigned_abs()))
            }
        };
        if is_old {
            // Text that was shown and not stored is not in the journal.
            return chunk.min(self.count(version, rest.events.get(..rest.kept).unwrap_or(&rest.events)));
        }
        match place {
            Place::Chunk(_) => chunk,
            // The client waits for the last one, even if it should have it.
            Place::Index(_) if matches!(rest.events.last(), Some(RunEvent::Finish { .. })) => {
                chunk.min(total().saturating_sub(1))
            }
            Place::Index(_) if rest.is_over => chunk.min(total()),
            Place::Index(_) => chunk,
        }
    }

    /// Returns the number of chunks of events.
    fn count(&self, version: ClientVersion, events: &[RunEvent]) -> u64 {
        let mut encoder = Numbered::new(self.encoder(version), Cursor { epoch: 0, chunk: u64::MAX });
        let mut none = bytes::BytesMut::new();
        events.iter().for_each(|event| encoder.encode(event, &mut none));
        encoder.position().chunk
    }

    fn response(&self, name: RunName, body: AssistantBody) -> Response<AssistantBody> {
        let mut response = event_stream::events(body, self.framing.headers());
        run_headers::add(&mut response, name);
        response
    }
}

/// Returns `true` if the branch of the chat that is shown is that of a run.
async fn shows(assistant: &Assistant, head: &RunHead) -> Result<bool, Rejection> {
    let Some(conversations) = assistant.conversations() else { return Ok(false) };
    Ok(conversations.shows(head).await.map_err(|error| store_failed(&error))?)
}

/// Returns `true` if a run has ended so recently that its client may have missed the end.
fn is_recent(assistant: &Assistant, head: &RunHead) -> bool {
    let window = u64::try_from(assistant.resume_window().as_millis()).unwrap_or(u64::MAX);
    head.ended_ms.is_some_and(|ended| clock::now_ms().saturating_sub(ended) <= window)
}

/// Returns `true` if no later run of the chat has begun.
async fn is_shown(assistant: &Assistant, scope: &Scope, head: &RunHead) -> Result<bool, Rejection> {
    let last = assistant.find_run(scope, Which::Chat(&head.chat)).await?;
    Ok(last.is_some_and(|last| last.run == head.run))
}

fn is_open_approval(asked: &Obligation) -> bool {
    asked.answer.is_none() && is_approval(asked)
}

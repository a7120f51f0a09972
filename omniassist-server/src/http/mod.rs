//! The assistant over HTTP, without a web framework: a [`tower_service::Service`] over [`http`] types.
//!
//! The adapter crates mount this service in a framework. It looks at the path below its mount point only.
//!
//! | route | description |
//! |---|---|
//! | `POST /` | Runs the assistant. The answer is an AI SDK UI message stream: server-sent events, one JSON value a line with `Accept: application/x-ndjson`, or plain text with `?protocol=text`. The body has the conversation (`messages`), or its last message for a [history loader](crate::AssistantBuilder::history_loader) |
//! | `POST /completion` | The same for `useCompletion` of the AI SDK, whose body is `{"prompt": …}` |
//! | `POST /object/{name}` | Makes an [object](crate::ObjectEndpoint) for `useObject`. The body is the input, any JSON value; the answer is the object's JSON text, as it grows. `POST /object` makes the only object |
//! | `POST /ag-ui` | Runs the assistant for an AG-UI client of 1.0 or 0.0.59, over server-sent events |
//! | `POST /ag-ui/connect` | A [stored](#stored-runs) thread for an AG-UI client: a snapshot of its messages, then what its run still writes. Unknown without a store |
//! | `POST /{chat_id}/stop` | Stops the run of a chat of the same principal: `{"stopped": true}`, or `false` if none was under way. With a [store](crate::store), the body may name the run (`{"runId"}`), and the answer has its `state` as well |
//! | `GET /{chat_id}/agents` | The agents that work, or have worked, for the latest run of a chat: `{"agents": [state]}`, parents first, with the latest [state](omniassist_core::event::AgentState) of each. Any server of the store answers, with states that are up to 100 ms old. 410 `events_expired` after the journal of the run is deleted. Unknown without a store |
//! | `POST /{chat_id}/agents/{agent}/stop` | Stops one of them, and those that work for it: `{"stopped": true}`, or `false` if no such agent works. Its run goes on. 404 if the chat has no run |
//! | `GET /{chat_id}/stream` | The stream of a [stored run](#stored-runs), for a client that comes back. 204 if there is nothing to resume, and always without a store |
//! | `GET /runs/{run}` | A stored run: `{"id", "chatId", "state", "createdAt", "endedAt", "usage", "obligations"}` |
//! | `GET /runs/{run}/events` | The events of a stored run, for an `EventSource` |
//! | `POST /runs/{run}/stop` | Stops a stored run: `{"stopped", "state"}` |
//! | `POST /runs/{run}/obligations/{call}` | Answers a question of a waiting run: `{"approved"}` with an optional `reason`, `{"output"}` or `{"error"}` |
//! | `POST /ui/{instance}/{action}` | Calls an action of a [component](crate::component), without a model call. The body is `{"chatId", "component", "rev", "state", "server", "seal", "payload"}`: the data of the `data-ui-state` part, the chat and the arguments. The answer is a stream of data parts: states, and the result as a `data-ui-event` of the type `result` or `error` |
//! | `GET /components.js` | The built-in components and `mount`, as a module for web pages (feature `components`). It needs no credentials |
//! | `GET /widget.js` | The chat [widget](crate::widget), as a module for web pages (feature `widget`). It needs no credentials |
//! | `GET /w/{folder}/{module}` | The modules that it loads, compressed as `Accept-Encoding` says. Another `folder` than the current one is 404 |
//! | `GET /playground` | The [playground](crate::playground), a page for developers (feature `playground`). Unknown unless the builder [enables](crate::AssistantBuilder::playground) it, and 403 `playground_not_admitted` for other machines |
//! | `GET /playground/page.js` | Its script |
//! | `PUT /ui/{instance}/state` | Stores what the user has changed in the state of a component, from the same body. The answer is the new state, or 409 `state_conflict` with the newest one. Unknown without a store |
//! | `GET /manifest.json` | The tools and components with their JSON Schemas, and the dialects. The tool of a component is in both lists: clients of tools need not know components |
//! | `GET /types.d.ts` | TypeScript types of messages, tools and components |
//! | `POST /v1/chat/completions` | The assistant as a model for [OpenAI's clients](crate::OpenAiEndpoint), streamed or not |
//! | `GET /v1/models` | Lists that model, and the agents that the caller sees as `omniassist/{name}` |
//! | `GET /v1/models/{model}` | Describes that model |
//! | `GET /agents` | The named [agents](crate::Agent) that the caller sees: `{"agents": [{"id", "name", "description"}]}`, with a `name` for [those that have one](crate::agent_config) |
//! | `/agents/{name}/…` | The routes above for an agent: `POST /agents/{name}` runs it, `POST /agents/{name}/ag-ui`, `GET /agents/{name}/{chat_id}/stream` and so on. Unknown names and agents that the caller does not see get the same 404 `agent_not_found` |
//! | `/api/run/{name}/…` | The same as `/agents/{name}/…` |
//! | `GET /ws` | [Agents over a WebSocket](#agents-over-a-websocket), with the feature `ws`. `?agent=` names an agent, and `?chat=` a stored chat |
//! | `POST /mcp` | The Model Context Protocol, if the builder has an [endpoint](crate::AssistantBuilder::mcp_server) for it. Otherwise its routes are unknown |
//! | `GET /mcp/.well-known/oauth-protected-resource` | The [description](crate::ProtectedResource) of `/mcp` for OAuth clients, without authentication |
//! | `GET /apps/{server}/{resource}` | The document of an [app](#apps): `resource` is its address without `ui://` |
//! | `POST /apps/{server}/call` | A call of a tool by an [app](#apps): `{"name", "arguments", "chatId"}` |
//! | `POST /apps/{server}/read` | A resource of the same server for its [app](#apps): `{"uri"}` |
//! | `POST /files` | Stores files, if the builder has a store of `files` (feature `files`). Otherwise the routes of files are unknown |
//! | `GET /files/{id}` | The content of a stored file |
//! | `DELETE /files/{id}` | Deletes a stored file: 204 |
//! | `GET /threads` | The stored conversations of the principal, if the builder has a [store](crate::AssistantBuilder::store): `{"threads": [{"id", "title", "head", "version", "createdAt", "updatedAt", "run"}], "nextCursor"}`, with `?cursor=` and `?limit=`. `run` has the id and the state of a run that has not ended. Otherwise, and for anonymous principals, the routes are unknown |
//! | `GET /threads/{chat_id}` | One of them |
//! | `PATCH /threads/{chat_id}` | Sets the `title` or the `head`, the message at the end of the branch that is shown. A run that ends afterwards shows the branch of its own message. With `version`, only if the conversation still has it; else 409 `version_conflict` |
//! | `DELETE /threads/{chat_id}` | Deletes a conversation and ends its run: 204 |
//! | `GET /threads/{chat_id}/messages` | The messages of the branch that is shown, or of `?branch=` with the id of its last one: `{"messages", "more", "head"}`, with `?before=` and `?limit=`. `?ai-sdk=7` puts the questions of approvals into their parts, as in a stream. A message that a run is writing is left out: `GET /{chat_id}/stream` has it |
//! | `POST /copilotkit` | CopilotKit's runtime: the single route, which combines those below |
//! | `/copilotkit/…` | `GET /info`, `POST /agent/{agent}/run`, `/connect`, `/suggest` and `/stop/{thread}`, which ends no other run than that of a `runId`; with a store `GET /threads`, `PATCH` and `DELETE /threads/{thread}` |
//!
//! Every response has `X-Content-Type-Options: nosniff`. Complete responses have `Cache-Control: no-store`, apart from scripts.
//! Streams have `Cache-Control: no-cache, no-store, no-transform` and `X-Accel-Buffering: no`, so that proxies do not hold them
//! back.
//!
//! # Errors
//!
//! A request is refused before the model is called. The format of the body depends on the route:
//!
//! | routes | body |
//! |---|---|
//! | below `/v1` | `{"error": {"message", "type", "param", "code"}}`, as OpenAI's API |
//! | below `/copilotkit` | `{"error", "message", "code", "details"}`, as CopilotKit's runtime |
//! | `/mcp` | `{"jsonrpc", "id", "error": {"code", "message", "data"}}`, as JSON-RPC; `data` has the members below |
//! | all others | `{"error": {"code", "message", …}}`, with `path`, `expected`, `found` and `limit` where they apply |
//!
//! The AI SDK's hooks put the body into `error.message` as text: parse it as JSON to get `code`.
//!
//! These errors are answered before the body is read:
//!
//! | status | code | reason |
//! |---|---|---|
//! | 400 | `invalid_host` | The request names no host where one is required, several, or one that cannot be parsed |
//! | 421 | `host_not_allowed` | The request names a host that the server [does not answer to](crate::access) |
//! | 403 | `origin_not_allowed` | The request, or its CORS preflight, comes from a page of another origin |
//! | 401 | `unauthenticated` | There is no principal, or the hook refuses the credentials; with `WWW-Authenticate` |
//! | 403 | `forbidden` | The hook recognises the sender but does not allow the use of the assistant |
//! | 503 | `authentication_unavailable` | The hook cannot check the credentials right now |
//! | 404 | `not_found`, `object_not_found`, `agent_not_found` | There is nothing of this name |
//! | 405 | `method_not_allowed` | The route takes other methods; with `Allow` |
//! | 404 | `app_not_found` | The source has no app at this address |
//! | 404, 403 | `tool_not_found`, `tool_not_for_apps` | An app calls a tool that its source does not have, or that is not for apps |
//! | 409 | `approval_needed` | The user has to approve the call of an app |
//! | 502 | `app_unavailable` | The source of an app cannot be reached, or its answer cannot be used |
//! | 422 | `not_supported` | CopilotKit asks to archive a thread |
//! | 426 | `upgrade_required` | `GET /ws` is no request for a WebSocket, or comes over HTTP/2 |
//! | 415 | `unsupported_media_type` | The body is not declared as JSON. A stop without a body needs no content type |
//! | 415 | `unsupported_content_encoding` | The body has a `Content-Encoding` other than `identity` |
//!
//! The body of a run is JSON. These are answered while it is received or read:
//!
//! | status | code | reason |
//! |---|---|---|
//! | 413 | `body_too_large` | The body is larger than [`max_body_bytes`](Limits::max_body_bytes) |
//! | 408 | `body_timeout` | The body is slower than [`body_timeout`](Limits::body_timeout) and [`min_body_rate`](Limits::min_body_rate) allow; the connection is closed |
//! | 429 | `too_many_uploads` | The principal's bodies take more than [`max_body_bytes_per_principal`](Limits::max_body_bytes_per_principal); with `Retry-After` |
//! | 503 | `overloaded` | All bodies take more than [`max_body_bytes_in_flight`](Limits::max_body_bytes_in_flight); with `Retry-After` |
//! | 400 | `incomplete_body` | The body breaks off |
//! | 404 | `model_not_found` | The body names another model |
//! | 400 | `file_not_fetched` | A file of the last message cannot be downloaded, if `AssistantBuilder::fetch_files` is set |
//! | 400, 409, 422 | that of an [`ErrorCode`](omniassist_core::ErrorCode) | The content of the body is not acceptable |
//! | 403 or the host's | the host's | The [history loader](crate::AssistantBuilder::history_loader) refuses the request; 500 if it fails |
//!
//! Uploads of files have these errors, `body_timeout` and `incomplete_body`:
//!
//! | status | code | reason |
//! |---|---|---|
//! | 413 | `file_too_large` | A file has more than `FileLimits::max_file_bytes` |
//! | 415 | `file_type_not_allowed` | The content has another type than `FileLimits::media_types` lists; with `found` |
//! | 403 | `file_quota_exceeded` | The principal has stored as much as it may |
//! | 429 | `too_many_uploads` | The principal has `FileLimits::max_uploads_per_principal` uploads under way; with `Retry-After` |
//! | 400 | `empty_file`, `too_many_files`, `invalid_multipart` | There is no content, or the form is not acceptable |
//! | 503 | `overloaded`, `files_unavailable` | `FileLimits::max_uploads` uploads are under way, or the store fails; with `Retry-After` |
//!
//! With a store of conversations, these answers are added:
//!
//! | status | code | reason |
//! |---|---|---|
//! | 409 | `unknown_parent` | The stored chat does not have the message before the posted one; the client loads the chat again |
//! | 422 | `idempotency_key_reused` | The `Idempotency-Key` belongs to a post with another message |
//! | 410 | `chat_deleted` | The chat was deleted |
//! | 410 | `events_expired` | The events of the run are no longer kept |
//! | 409 | `queue_full` | As many posts of the chat as may wait for their run, with [`WhenBusy::Enqueue`](crate::WhenBusy) |
//! | 409 | `already_answered`, `not_waiting` | The question has another answer, or no run waits for one |
//!
//! The remaining errors are temporary. All but the first two have `Retry-After`:
//!
//! | status | code | reason |
//! |---|---|---|
//! | 409 | `duplicate_run` | The same message of the same chat is being answered |
//! | 409 | `chat_busy` | The chat has a run under way, and [`WhenBusy::Reject`](crate::WhenBusy) is set; with the stored run in `runId` and `x-omniassist-run` |
//! | 429 | `too_many_runs` | The principal has [`max_runs_per_principal`](Limits::max_runs_per_principal) runs under way |
//! | 429 | `rate_limited`; below `/v1` `rate_limit_exceeded` | The [rate limit](crate::throttle) refuses the run |
//! | 429 | `token_budget_exceeded` | The principal has no [tokens](crate::throttle) left |
//! | 503 | `limits_unavailable` | A [rate limit or token budget](crate::throttle) cannot be checked |
//! | 503 | `agents_unavailable` | The host's [loader of agents](crate::agent_config) fails, and no version of the agent from before is known |
//! | 503 | `agent_invalid` | The configuration of the agent has an error, and no version from before is known |
//! | 503 | `tool_source_unavailable` | A [source of tools](crate::tool::source) has no tools for the run, and the run must not begin without them |
//! | 503 | `store_unavailable` | The store of conversations cannot be used |
//! | 429 | `too_many_sockets` | The principal has [`max_sockets_per_principal`](Limits::max_sockets_per_principal) WebSockets open |
//! | 503 | `overloaded` | [`max_runs`](Limits::max_runs) runs are under way, or [`max_sockets`](Limits::max_sockets) WebSockets are open |
//! | 503 | `shutting_down` | The assistant is [draining](crate::Assistant::drain); over HTTP/1 with `Connection: close` |
//!
//! # Stored runs
//!
//! With a [store](crate::AssistantBuilder::store), a run goes on when its client leaves. Its response has the id of the run
//! in `x-omniassist-run`. A response that ends before its run breaks off, so that the client comes back.
//!
//! - **A page** that asks for `GET /{chat_id}/stream`, as the AI SDK does with `resume: true`, gets the message from its
//!   start, with one delta for each block that is written already, and then what follows. Calls that are complete are
//!   written in a form that the page does not execute again. A run that has ended is sent again within the
//!   [`resume_window`](crate::AssistantBuilder::resume_window). Version 5 of the AI SDK adds such a replay to the text that the
//!   page still has. There, make a new chat with the loaded messages before you call `resumeStream`, as a reload does.
//! - **A client that counts** gets the rest only. The `id:` of each server-sent event is a
//!   [cursor](omniassist_core::dialect::Cursor), to be returned as `Last-Event-ID` or `?after=`. A cursor belongs to its run,
//!   so prefer `GET /runs/{run}/events`: the chat may have another run since. Its answer after the last event is 204.
//! - **`WorkflowChatTransport`** of `@ai-sdk/workflow` comes back by itself, with the `x-workflow-run-id` of the response and
//!   `?startIndex=`. Let its `prepareSendMessagesRequest` add the id of the chat and the content type. After an error, or on
//!   another page, `resumeStream` names the chat and gets the whole message; set `resumeStreamIsReplay: true` on the
//!   transport, so that it replaces what the page has.
//! - **An AG-UI client** posts to `/ag-ui/connect` in `connect()` of its subclass of `HttpAgent`, and CopilotKit to its own
//!   `connect` by itself. The answer has all messages as `MESSAGES_SNAPSHOT`, and then what the run still writes. The open
//!   questions of a run that waits are in its `RUN_FINISHED`. Clear `agent.pendingInterrupts` before `connectAgent()`, because
//!   a client does not connect while it has open questions.
//!
//!   ```ts
//!   class StoredAgent extends HttpAgent {
//!     protected connect(input: RunAgentInput) {
//!       return transformHttpEventStream(runHttpRequest(() => fetch(`${this.url}/connect`, this.requestInit(input))));
//!     }
//!   }
//!   ```
//!
//! - **A background run** is one whose post has `Prefer: respond-async`: the answer is 202 with the run's URL in `Location`.
//! - **A post with an `Idempotency-Key`** that is repeated gets the response of the run that it began, also if the client
//!   has made other ids for the same message, and while the first post is still under way. After the journal of the run is
//!   deleted, the answer is 410 `events_expired`. Another message with the key is refused with 422. It is not compared with a
//!   message whose run waits in a queue, or has stored nothing.
//! - **An answer to an approval, a form or a front-end tool** that is posted again gets what followed it, also after the end
//!   of the run, as long as its events are kept. Another answer to the same question is refused. A post with answers brings the
//!   context, tools, components, state and fields of the body that the run has from then on, also after a restart. With an
//!   answer to `/runs/{run}/obligations/{call}`, the run has those of the post before.
//! - **A new message of the user in a post with answers** follows them: that of AG-UI's `resume`, or after the answers. The run
//!   that waits ends, and an approved call does not run; with [`WhenBusy::Enqueue`](crate::WhenBusy), it goes on first.
//! - **A post to a chat that is busy** is treated as [`WhenBusy`](crate::WhenBusy) says. A client can choose in
//!   `X-Omniassist-When-Busy` what [`client_when_busy`](crate::AssistantBuilder::client_when_busy) lists. The stream of a
//!   queued run has comments only until the run begins, and breaks off if another process begins it.
//!
//! The runs of other principals cannot be distinguished from runs that do not exist.
//!
//! # Agents over a WebSocket
//!
//! A connection to `GET /ws` is an [`AgentSession`](crate::agents::AgentSession) of its principal, and its messages are
//! [frames](omniassist_core::agent_tree). It has one tree of agents: `start-agent` ends the one before, and the end of the
//! connection ends all of its agents. While the client does not read, its agents wait.
//!
//! The request passes the same checks as every other one. A page cannot send an `Authorization` with a WebSocket; it offers
//! the subprotocol `omniassist.bearer.{token}` instead, with the token in base64url, and the hook of
//! [`authenticate`](crate::AssistantBuilder::authenticate) sees it as `Authorization: Bearer`. The answer does not repeat the
//! token, and a browser closes a connection whose answer names no subprotocol. The page therefore offers another one as well:
//! `omniassist.agents` for the frames as they are, or `omniassist.agents.v1`, which numbers them and adds fields.
//!
//! With `?chat=` and a [store](crate::AssistantBuilder::store), each tree is a run of this chat of a known principal, and takes
//! the place of the chat's run in progress. Another server then answers `get-agent-tree` with the states: a change of step or
//! status is up to 100 ms late there, and other changes about a second. `user-intervention` with the status `cancelled`,
//! `POST /{chat_id}/agents/{agent}/stop` and `POST /{chat_id}/stop` reach the tree from there. Other interventions and answers
//! to questions are taken by the connection of the tree only. When the tree has ended, with its connection or its server,
//! agents that were at work are `cancelled`. The last states stay readable until the journal is deleted
//! ([`Retention::journals`](crate::store::Retention::journals), 1 h by default). After that, `GET /{chat_id}/agents` is 410
//! `events_expired`, and `get-agent-tree` returns no agents. It also returns none while the chat's latest run is no tree. Use a
//! chat for trees alone: a message takes the place of a tree. A page that resumes the chat shows a tree as a message with
//! agents, and the stored conversation does not have this message.
//!
//! A tree occupies one of the [`max_runs_per_principal`](Limits::max_runs_per_principal), and passes rate limits and budgets,
//! as a run does.
//!
//! | limit | value | at the limit |
//! |---|---|---|
//! | open connections | [`Limits::max_sockets_per_principal`], [`Limits::max_sockets`] | refused with 429 or 503 |
//! | frames of a client | [`Limits::max_socket_frames_per_second`], twice as many at once | closed with 1008 |
//! | message, in one frame or in several | 1 MiB | closed with 1009 |
//! | prompt, answer, task | 256 KiB | an `error` |
//! | remark | 64 KiB | an `error` |
//! | remarks of an agent that its model calls have | 32, and 64 KiB of them | the oldest ones are left out |
//! | frames of a client that does not read | 64, and 1 MiB of them | closed with 1008 |
//! | frames in a row that cannot be used | 32 | closed with 1008 |
//! | frames for a client that does not read | 64, and 256 KiB of them | the agents wait. A state takes the place of one of the same agent and step, and text is joined |
//! | text that the store does not have yet | 256 KiB | the agents wait |
//! | whole states that a tree of a chat writes | [`Limits::max_written_state_bytes`] | other servers have earlier states, until the tree ends |
//! | a write of a tree of a chat | 6 s | the tree ends |
//! | a client that does not read | [`Limits::write_timeout`] | closed |
//! | no message and no agents at work | [`Limits::socket_idle_timeout`] | closed with 1001 |
//! | a connection | [`Limits::socket_lifetime`] | closed with 1001, once there are no agents, or at the next `start-agent` |
//! | a tree, pauses and questions included | [`Limits::run_timeout`], [`Limits::write_timeout`] and [`Limits::tool_cancel_grace`] together | an `error` with the code `timeout` |
//! | a ping each 20 s without an answer | 10 s | closed |
//! | [`drain`](crate::Assistant::drain) | | closed with 1001, once there are no agents |
//!
//! # Apps
//!
//! An app is a document of a [source of tools](crate::tool::source::SourceApps), such as that of an MCP server, which a page
//! shows for a call of a tool. Its code is that of another party. The document has a `Content-Security-Policy` with
//! `sandbox allow-scripts allow-forms`, so it has no origin, also if a user opens its URL. Its requests reach the hosts that
//! its server declares ([`AppOrigin`](crate::tool::source::AppOrigin)), and nothing of the page or of this server. No policy of
//! a document prevents that it opens another page in its own frame, with data in the address. That of your page does, with
//! `frame-src 'self'`. The page passes its messages on. Its requests carry the credentials of the chat in a cookie: a frame
//! cannot send an `Authorization`.
//!
//! `POST /apps/{server}/call` runs a tool of the same source in the name of the user, as a call of a model runs: arguments,
//! hooks, approvals, limits and audit are the same. The `chatId` is for hooks ([`AppCall`](crate::tool::source::AppCall)); the
//! run of the chat goes on. The answer is `{"output"}`, or `{"errorText"}` if the call failed. A user who has to approve the
//! call gets 409 `approval_needed` with the `approval` and a `pending` message. The page asks, sets `state` of the tool part of
//! this message to `approval-responded` with `approval.approved`, and posts it as `{"message", "chatId"}`. A tool that apps may
//! not call is 403 `tool_not_for_apps`; any other name is 404 `tool_not_found`.
//!
//! # Failed runs
//!
//! A run that fails reports the error in its stream, with status 200. Plain text has no representation for errors: a
//! run that fails before its first output is answered with a status and one sentence, and a run that fails later has a
//! response that [breaks off](CutAnswer). OpenAI's clients get a status in the first case as well. They repeat some
//! requests on their own; `x-should-retry: false` forbids that for a run that has executed tools or cannot succeed.
//! A response is opened after [`Limits::keep_alive`] at the latest, with status 200.
//!
//! # Limits of the server
//!
//! This service limits bodies and responses. Only the server can limit slow request heads, idle connections and clients
//! that stop reading. Each adapter's documentation shows how to set these timeouts.
//!
//! ```
//! use http::{Request, StatusCode};
//! use http_body_util::Full;
//! use omniassist_server::http::AssistantService;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::Assistant;
//! use tower_service::Service;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let assistant = Assistant::builder(ScriptedProvider::new()).allow_anonymous().build()?;
//! let mut service = AssistantService::new(assistant);
//!
//! let request = Request::get("/manifest.json").body(Full::<bytes::Bytes>::default())?;
//! assert_eq!(service.call(request).await?.status(), StatusCode::OK);
//! # Ok(())
//! # }
//! ```

mod agents;
#[cfg(any(feature = "components", feature = "widget"))]
mod assets;
mod chats;
mod dialects;
mod event_stream;
#[cfg(feature = "files")]
mod files;
mod manifest;
mod options;
mod request;
mod response;
mod routing;
mod service;
#[cfg(feature = "ws")]
mod socket;
mod types;
mod ui;

#[cfg(doc)]
use omniassist_core::Limits;

pub use crate::mount_path::MountPath;
pub use chats::PostedRun;
pub use response::{AssistantBody, CutAnswer};
pub use routing::strip_prefix;
pub use service::{AssistantService, ServiceFuture};
#[cfg(feature = "ws")]
pub use socket::SocketUpgrade;

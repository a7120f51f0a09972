//! A guide to the features that most applications meet after their first tool.
//!
//! # Context
//!
//! Context messages tell the model what the user is doing, such as the page that is open. The application adds them for
//! all runs with [`Assistant::add_context`](crate::Assistant::add_context):
//!
//! ```
//! use omniassist_server::Assistant;
//! use omniassist_server::core::ContextMessage;
//!
//! fn announce(assistant: &Assistant) {
//!     assistant.add_context(ContextMessage::new("sale", "announcement", "Tea is 20 % off today.".into()));
//! }
//! ```
//!
//! A page sends its own in the field `context` of the request body. With `useChat` of the AI SDK:
//!
//! ```js
//! new DefaultChatTransport({
//!   api: '/assistant?ai-sdk=7',
//!   body: () => ({
//!     context: [{ id: 'page', type: 'navigation', data: { path: location.pathname, title: document.title } }],
//!   }),
//! });
//! ```
//!
//! The model receives context as data, not as instructions. It is shortened when it grows; see
//! [`ContextCompressor`](omniassist_core::context::ContextCompressor).
//!
//! # Long conversations
//!
//! A client posts the whole conversation, and by default the model reads all of it. [`History`](crate::History) sends the
//! newest part that fits a number of tokens, and a summary of the rest:
//!
//! ```
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::{Assistant, History};
//!
//! // In an application, both are providers such as `OpenAiProvider`, the second with a small model.
//! let (model, small_model) = (ScriptedProvider::new(), ScriptedProvider::new());
//! let assistant = Assistant::builder(model).history(History::fit(8_000).summarise(small_model)).build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! The number of messages has no limit of its own. The size of a request body has
//! ([`max_body_bytes`](omniassist_core::Limits::max_body_bytes), 8 MiB), which is 10,000 messages of 800 bytes.
//!
//! # The current user in the system prompt
//!
//! A system prompt may be a closure over the [`RunContext`](crate::RunContext), whose
//! [`extensions`](crate::RunContext::extensions) are those of the HTTP request:
//!
//! ```
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::{Assistant, RunContext};
//!
//! #[derive(Clone)]
//! struct User {
//!     first_name: String,
//! }
//!
//! let assistant = Assistant::builder(ScriptedProvider::new()).system_prompt(|run: &RunContext| {
//!     let user = run.extensions().get::<User>().map_or("a guest", |user| &user.first_name);
//!     format!("You help {user} with orders.")
//! });
//! # let _ = assistant;
//! ```
//!
//! # Progress of a tool
//!
//! A tool that takes a [`ToolContext`](crate::ToolContext) can report its progress. The page receives each value as a
//! preliminary output, which the next one replaces; the model does not see it.
//!
//! ```
//! use omniassist_server::{ToolContext, ToolError};
//!
//! async fn import(context: ToolContext) -> Result<String, ToolError> {
//!     for percent in [0, 50, 100] {
//!         context.progress(serde_json::json!({ "percent": percent }));
//!     }
//!     Ok("Imported 120 orders.".into())
//! }
//! ```
//!
//! # The question of an approval
//!
//! [`Approval::message`](crate::Approval::message) sets the question that the user is asked before a tool runs. With
//! `?ai-sdk=7` in the URL, it arrives as the `reason` of the `tool-approval-request` chunk. The chunk has no such field
//! before version 7 of the AI SDK. There the question arrives in the message's metadata:
//!
//! ```js
//! message.metadata.omniassist.approvals[part.toolCallId].message
//! ```
//!
//! The value of `ai-sdk` is the major version of the page's `ai` package: `5`, `6` (the default) or `7`.
//!
//! # Errors in a page
//!
//! A refused request is answered with a status and a JSON body. `useChat` puts that body into `error.message` as text:
//!
//! ```js
//! const { error } = useChat({ transport });
//! let code; // for example `rate_limited`
//! try { code = JSON.parse(error?.message).error.code; } catch { /* the network failed */ }
//! ```
//!
//! [`http`](crate::http) lists the codes.
//!
//! # Files
//!
//! With the cargo feature `files` and `AssistantBuilder::files`, a page uploads files before it sends a message. Each entry
//! of the answer is a `FileUIPart`:
//!
//! ```js
//! const body = new FormData();
//! for (const file of input.files) body.append('file', file);
//! const answer = await fetch('/assistant/files', { method: 'POST', body });
//! if (!answer.ok) throw new Error((await answer.json()).error.message);
//! const { files } = await answer.json();
//! chat.sendMessage({ text: 'What does the chart show?', files });
//! ```
//!
//! The module `files` explains the store, the limits, and the form in which each provider gets a file.
//!
//! # Stored chats
//!
//! With a [store](crate::store), the conversations and runs of known users are kept. An answer then goes on when its page is
//! closed and after a restart of the server, an approval can wait for days, and `GET /threads` lists the chats of a user:
//!
//! ```
//! use omniassist_server::Assistant;
//! use omniassist_server::store::MemoryStore;
//! use omniassist_server::testing::ScriptedProvider;
//!
//! // In an application, the store is a `SqliteStore` or a `PostgresStore`. A `MemoryStore` is for tests.
//! let assistant = Assistant::builder(ScriptedProvider::new()).store(MemoryStore::new()).build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! A request is stored if it has a chat id and a [`Principal`](crate::Principal) that is not anonymous.
//! [Stored runs](crate::http#stored-runs) explains how each kind of client comes back to its answer, and
//! [`AssistantBuilder::retention`](crate::AssistantBuilder::retention) sets for how long data is kept.
//!
//! # Limits and budgets
//!
//! The concurrent runs of a principal are limited by default. [`throttle`](crate::throttle) adds rate limits and token
//! budgets:
//!
//! ```
//! use std::time::Duration;
//!
//! use omniassist_server::Assistant;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::throttle::InMemoryTokenBudget;
//!
//! let day = Duration::from_secs(24 * 60 * 60);
//! let budget = InMemoryTokenBudget::new(200_000, day); // for each principal
//! let assistant = Assistant::builder(ScriptedProvider::new()).token_budget(budget).build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! A budget in memory counts in one process. `SqliteStore::token_budget`, `PostgresStore::token_budget` and
//! `RedisTokenBudget` count for all processes that share the file, the database or the Redis.
//! [`Assistant::usage`](crate::Assistant::usage) lists what stored runs have used.
//!
//! # Agents
//!
//! An [`Agent`](crate::Agent) has a prompt, tools and a model of its own. Clients reach it below `/agents/{name}`, and the
//! model can ask it or hand the conversation off to it:
//!
//! ```
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::{Agent, Assistant};
//!
//! let researcher = Agent::new("researcher", "Answers one question from the handbook.").system_prompt("Be brief.");
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .agent(researcher)
//!     .delegates(["researcher"]) // the model of the assistant may ask it
//!     .build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! Tools ask agents with the extractor [`Agents`](crate::Agents). [`agent_config`](crate::agent_config) loads agents from
//! files or tables, and [`agents`](crate::agents) has trees of agents that work at the same time.
//!
//! # Components
//!
//! A [component](crate::component) is a part of the page that the model shows, such as a card, a table or a cart. It is
//! registered with the type of its props. The model writes the props, and they stream to the page as the input of a call:
//!
//! ```
//! use omniassist_server::component::{Component, ComponentContext};
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::{Args, Assistant, ToolError};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Cart {
//!     articles: Vec<String>,
//! }
//!
//! /// What the user ticks in the page.
//! #[derive(Default, Serialize, Deserialize, JsonSchema)]
//! struct Ticked {
//!     ticked: Vec<String>,
//! }
//!
//! /// What only the server may change.
//! #[derive(Default, Serialize, Deserialize, JsonSchema)]
//! struct Paid {
//!     cents: u64,
//! }
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Pay {
//!     cents: u64,
//! }
//!
//! async fn pay(Args(order): Args<Pay>, cart: ComponentContext) -> Result<u64, ToolError> {
//!     cart.update_server_state(|paid: &mut Paid| paid.cents += order.cents).await?;
//!     Ok(order.cents)
//! }
//!
//! let cart = Component::new::<Cart>("cart", "Shows the user's cart")
//!     .state::<Ticked>()
//!     .server_state::<Paid>()
//!     .on_action("pay", pay)
//!     .cli(|cart: &Cart, _| format!("Cart: {}", cart.articles.join(", ")));
//! let assistant = Assistant::builder(ScriptedProvider::new()).component(cart).build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! - **State.** The page changes `state` freely, and posts the part `data-ui-state` back with the conversation, as `useChat`
//!   does by itself. The model reads the states of the newest instances. With a [store](crate::AssistantBuilder::store),
//!   `PUT /ui/{instance}/state` stores the change at once.
//! - **Actions.** The page calls one with `POST /ui/{instance}/{action}`: the data of the part `data-ui-state`, the `chatId`
//!   and the `payload`. No model is called, and an answer of the same chat streams on. The arguments are checked. Check the
//!   permission yourself: an action is as public as a route of your application.
//! - **Tools.** A tool shows a component with the extractor [`Ui`](crate::component::Ui), and the model does not write its
//!   props.
//! - **Answers.** [`Component::awaiting`](crate::component::Component::awaiting) ends the run until the user answers.
//!
//! Each client gets what it can display:
//!
//! | client | component | state | events |
//! |---|---|---|---|
//! | `useChat` of the AI SDK | the tool part `tool-ui_cart`, or `data-ui` from a tool | `data-ui-state`, with the id of the instance | transient `data-ui-event` |
//! | AG-UI, CopilotKit | the call, or an activity `omniassist-ui` from a tool | `/ui/{instance}` in the shared state | a custom event |
//! | plain text, clients of OpenAI and of MCP | the text of [`cli`](crate::component::Component::cli); without it, the component is not offered | none | none |
//!
//! `GET /types.d.ts` has types of the props, states and actions, and `GET /manifest.json` their schemas:
//!
//! ```ts
//! // For `<omniassist-chat>`. A page with another chat imports it from `/assistant/components.js`.
//! import { registerComponent } from '/assistant/widget.js';
//!
//! registerComponent('cart', {
//!   schema, // `propsSchema` of the manifest
//!   render(root, cart) {
//!     root.textContent = (cart.props.articles ?? []).join(', ');
//!     root.onclick = () => cart.dispatch('pay', { cents: 250 });
//!   },
//! });
//! ```
//!
//!
//! # Tools from other systems
//!
//! A [source of tools](crate::tool::source) offers the tools of another system, and can change them while the assistant
//! serves. It is attached with [`AssistantBuilder::tool_source`](crate::AssistantBuilder::tool_source),
//! [`Agent::tool_source`](crate::Agent::tool_source) or [`Tools::attach`](crate::tool::Tools::attach).
//!
//! # Middleware around the assistant
//!
//! The assistant answers CORS preflights itself, before it authenticates. Browsers send preflights (`OPTIONS`) without
//! credentials, so an authentication middleware of the application must let them pass. Otherwise pages of listed origins
//! get a CORS error instead of an answer.

use super::AssistantBuilder;
use crate::engine::plan::PlanParameters;
use crate::engine::settings::{HistoryLoader, LoaderHook};

impl AssistantBuilder {
    /// Sets the function that loads a stored conversation for clients that post its last message only. Default: none, and
    /// such a request is answered with 400.
    ///
    /// The AI SDK posts the last message with `prepareSendMessagesRequest`:
    ///
    /// ```js
    /// new DefaultChatTransport({
    ///   api: '/assistant',
    ///   prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) =>
    ///     ({ body: { id, message: messages.at(-1), trigger, messageId } }),
    /// })
    /// ```
    ///
    /// The function takes extractors ([`FromRun`](crate::tool::FromRun)) and returns the messages of the chat, oldest first:
    /// [`Message`](crate::core::Message), or [`ChatMessage`](crate::core::message::ChatMessage) for plain text. The
    /// messages of [`FinishedRun::messages`](crate::observe::FinishedRun::messages) can be stored as JSON. They are
    /// restored without loss, including tool calls, the provider's state and seals.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use omniassist_server::core::message::{Message, read};
    /// use omniassist_server::core::{Limits, Text};
    /// use omniassist_server::observe::FinishedRun;
    /// use omniassist_server::testing::{ScriptedProvider, text};
    /// use omniassist_server::tool::ChatId;
    /// use omniassist_server::{Assistant, Principal, Refusal, State};
    ///
    /// /// Stands for a table of chats, with the messages in a column of JSON. A chat id is no credential, so the user is
    /// /// part of the key.
    /// type Table = Arc<Mutex<HashMap<(String, Text), String>>>;
    ///
    /// async fn load(
    ///     ChatId(chat): ChatId,
    ///     user: Principal,
    ///     State(table): State<Table>,
    /// ) -> Result<Vec<Message>, Refusal> {
    ///     let row = table.lock().unwrap().get(&(user.id().to_owned(), chat)).cloned();
    ///     // A chat without a row begins with the posted message.
    ///     Ok(read::messages(&row.unwrap_or_else(|| "[]".to_owned()).into(), &Limits::default())?)
    /// }
    ///
    /// let table = Table::default();
    /// let save = {
    ///     let table = Arc::clone(&table);
    ///     move |run: FinishedRun| {
    ///         let table = Arc::clone(&table);
    ///         async move {
    ///             let json = serde_json::to_string(&run.messages())?;
    ///             if let Some(chat) = run.report.run.chat_id {
    ///                 table.lock().unwrap().insert((run.context.principal().id().to_owned(), chat), json);
    ///             }
    ///             Ok::<_, serde_json::Error>(())
    ///         }
    ///     }
    /// };
    /// let assistant = Assistant::builder(ScriptedProvider::new().turn(text("Hello")))
    ///     .state(table)
    ///     .history_loader(load)
    ///     .on_finish(save)
    ///     .build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    ///
    /// - The function is called for requests with `message` in place of `messages` (`POST /`, and
    ///   [`PostedRun::read_for`](crate::http::PostedRun::read_for)). A client that posts the whole conversation is served
    ///   without it; so are AG-UI, CopilotKit and OpenAI's clients, which always do.
    /// - The posted message replaces a stored one with the same id, and the messages after it are left out. Clients
    ///   edit a question, answer an approval and return the output of a front-end tool in this way.
    ///   `regenerate-message` leaves out the answer that `messageId` names. See
    ///   [`RunRequest::add_history`](crate::core::RunRequest::add_history). The store itself is not changed.
    /// - The function is called after the run in progress of the chat has ended, and after the functions of
    ///   [`on_finish`](Self::on_finish) of its earlier runs in this process, at the latest after
    ///   [`Limits::keep_alive`](crate::core::Limits::keep_alive). [Rate limits and
    ///   budgets](crate::throttle) are checked before that, so a refused post stops no run; [`prepare`](Self::prepare) comes
    ///   later.
    /// - A [`Refusal`](crate::Refusal) is the whole HTTP response, with its status. An error (`?`) is a 500 whose reason
    ///   goes to the log. The model is not called. If the client leaves, the function is dropped at an await.
    /// - Loaded messages are verified as posted ones: results of server tools, approvals and the provider's state count with
    ///   their seals only. Plain text of the assistant is the host's word, and counts even where
    ///   [`refuse_unsealed_text`](Self::refuse_unsealed_text) is set.
    pub fn history_loader<P, F>(mut self, loader: F) -> Self
    where
        P: PlanParameters,
        F: HistoryLoader<P>,
    {
        self.config.history_loader = Some(LoaderHook::new(loader));
        self.config.on_finish.track_chats();
        self
    }
}

//! Answers of a Rust type, in process.

use std::error::Error as StdError;
use std::fmt;

use omniassist_core::RunRequest;
use omniassist_core::message::Message;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::handle::Assistant;
use crate::engine::RunFailure;
use crate::engine::settings::JsonType;
use crate::{BoxError, Error};

impl Assistant {
    /// Runs to the end, and returns the answer as a `T`.
    ///
    /// The model gets the JSON Schema of `T`, whose doc comments it reads. An answer that is no JSON, or does not fit the
    /// schema or the type, is sent back to the model with the reason, at most
    /// [`Limits::max_invalid_turns`](omniassist_core::Limits::max_invalid_turns) times. Each repetition is a run like
    /// [`Assistant::run`]. The model may call the tools of the server before it answers; turn them off with
    /// [`ToolUse::without_server_tools`](omniassist_core::run::ToolUse::without_server_tools).
    ///
    /// Must be called within a tokio runtime. Dropping the future stops the run.
    ///
    /// ```
    /// use omniassist_server::core::RunRequest;
    /// use omniassist_server::testing::{ScriptedProvider, text};
    /// use omniassist_server::Assistant;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Ticket {
    ///     /// One sentence.
    ///     summary: String,
    ///     #[schemars(range(min = 1, max = 5))]
    ///     urgency: u8,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedProvider::new().turn(text(r#"{"summary": "The lamp is broken.", "urgency": 2}"#));
    /// let assistant = Assistant::builder(model).build()?;
    /// let mail = "The lamp that I got on Monday is broken …";
    /// let ticket: Ticket = assistant.object(RunRequest::prompt(format!("Make a ticket of this mail: {mail}"))).await?;
    /// assert_eq!(ticket.urgency, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a run fails, if no answer fits, if the model refuses to answer or its answer is filtered, or if
    /// providers cannot take the schema of `T`, which must be of type `object`.
    pub async fn object<T: DeserializeOwned + JsonSchema>(
        &self,
        mut request: RunRequest,
    ) -> Result<T, ObjectFailure> {
        let unusable = |reason| ObjectFailure::new(None, Error::configuration(reason));
        let json_type = JsonType::of::<T>().checked("answer", self.limits()).map_err(unusable)?;
        let options = request.options.as_deref().unwrap_or(self.model_options());
        request.options = Some(json_type.with_schema(options));
        let mut repetitions = self.limits().max_invalid_turns;
        loop {
            let outcome = self.run(request.clone()).outcome().await;
            let outcome = outcome.map_err(|failure| ObjectFailure::new(None, failure))?;
            let withheld = outcome.is_withheld();
            let answer = outcome.written_text();
            let invalid = match json_type.read(&answer) {
                Ok(value) => return Ok(value),
                Err(invalid) => invalid,
            };
            if repetitions == 0 || withheld {
                return Err(ObjectFailure::new(Some(answer), invalid));
            }
            repetitions -= 1;
            let count = request.messages.len();
            request.messages.push(Message::assistant(format!("answer-{count}"), answer));
            request.messages.push(Message::user(format!("correction-{count}"), invalid.correction()));
        }
    }
}

/// An error that occurs when [`Assistant::object`] gets no object.
#[derive(Debug)]
pub struct ObjectFailure {
    answer: Option<String>,
    source: BoxError,
}

impl ObjectFailure {
    fn new(answer: Option<String>, source: impl StdError + Send + Sync + 'static) -> Self {
        Self { answer, source: Box::new(source) }
    }

    /// Returns the last answer, if the run succeeded and its answer does not fit the type.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// Returns the failure of the run, if it failed or was stopped.
    #[must_use]
    pub fn run(&self) -> Option<&RunFailure> {
        self.source.downcast_ref()
    }
}

impl fmt::Display for ObjectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (&self.answer, self.run()) {
            (Some(_), _) => "the model's answer does not fit the type",
            (None, Some(_)) => "the run that makes the object failed",
            (None, None) => "the type cannot be the answer of a model",
        })
    }
}

impl StdError for ObjectFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

//! Answers of a Rust type, in process.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use omniassist_core::message::Message;
use omniassist_core::{RunRequest, Text};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Assistant, RunFailure};
use crate::Error;
use crate::tool::schema::{self, ArgumentCheck};

/// The maximum number of characters of a schema's name.
const MAX_NAME: usize = 64;

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
    /// Returns an error if a run fails, if no answer fits, or if providers cannot take the schema of `T`, which must be of
    /// type `object`.
    pub async fn object<T: DeserializeOwned + JsonSchema>(
        &self,
        mut request: RunRequest,
    ) -> Result<T, ObjectFailure> {
        let limits = self.limits().into();
        let unusable = |reason: String| {
            let name = T::schema_name();
            ObjectFailure::new(None, Error::configuration(format!("the schema of `{name}`: {reason}")))
        };
        let schema = schema::of_answer(schema::generate::<T>(), limits).map_err(unusable)?;
        let check = ArgumentCheck::new(&schema, limits).map_err(unusable)?;
        let mut options = request.options.as_deref().unwrap_or_else(|| self.model_options()).clone();
        options.response_schema = Some((name::<T>(), schema.clone()));
        request.options = Some(Arc::new(options));
        let mut repetitions = self.limits().max_invalid_turns;
        loop {
            let answer = self.run(request.clone()).text().await;
            let answer = answer.map_err(|failure| ObjectFailure::new(None, failure))?;
            let invalid = match read(&answer, &schema, &check) {
                Ok(value) => return Ok(value),
                Err(invalid) => invalid,
            };
            if repetitions == 0 {
                return Err(ObjectFailure::new(Some(answer), invalid));
            }
            repetitions -= 1;
            let count = request.messages.len();
            let correction = format!("{invalid} Answer again, with the corrected JSON object only.");
            request.messages.push(Message::assistant(format!("answer-{count}"), answer));
            request.messages.push(Message::user(format!("correction-{count}"), correction));
        }
    }
}

/// Reads an answer.
///
/// # Errors
///
/// Returns the fault of the object as a text for the model.
fn read<T: DeserializeOwned>(
    answer: &str,
    schema: &Value,
    check: &ArgumentCheck,
) -> Result<T, InvalidAnswer> {
    let no_json =
        |error: serde_json::Error| InvalidAnswer(format!("The answer is not valid JSON: {error}.").into());
    let value: Value = serde_json::from_str(answer).map_err(no_json)?;
    if let Some(faults) = check.faults(schema, &value) {
        return Err(InvalidAnswer(format!("The answer does not fit the schema: {faults}.").into()));
    }
    serde_json::from_value(value)
        .map_err(|error| InvalidAnswer(format!("The answer does not fit: {error}.").into()))
}

/// Returns the name of a type as a name of a schema.
fn name<T: JsonSchema>() -> Text {
    let name = T::schema_name();
    let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let name: String = name.chars().filter(is_allowed).take(MAX_NAME).collect();
    if name.is_empty() { Text::from_static("answer") } else { name.into() }
}

#[derive(Debug)]
struct InvalidAnswer(Text);

impl fmt::Display for InvalidAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for InvalidAnswer {}

/// An error that occurs when [`Assistant::object`] gets no object.
#[derive(Debug)]
pub struct ObjectFailure {
    answer: Option<String>,
    source: Box<dyn StdError + Send + Sync>,
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

//! The decisions of the program: a model call with a schema, or a rule.

use std::sync::Arc;

use omniassist_core::Text;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::tree::Tree;
use super::turn::{Purpose, turn};
use crate::engine::tree::LedgerNode;
use crate::tool::schema;

/// A question to the user, or none.
#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// One short question, or null.
    ask: Option<String>,
}

/// The parts of a task.
#[derive(Deserialize, JsonSchema)]
struct Questions {
    /// At most four questions.
    #[schemars(length(max = 4))]
    questions: Vec<String>,
}

/// Returns the question that the model wants to ask the user. `rule` decides if its answer does not fit.
pub(super) async fn question(
    tree: &Arc<Tree>,
    node: &LedgerNode,
    prompt: String,
    rule: impl FnOnce() -> Option<String>,
) -> Option<Text> {
    let asked = match decide::<Ask>(tree, node, "question", prompt).await {
        Decision::Made(Ask { ask }) => ask,
        Decision::Unusable => rule(),
        Decision::Impossible => None,
    };
    asked.filter(|question| !question.trim().is_empty()).map(Text::from)
}

/// Returns the parts into which the model divides the task. `rule` decides if its answer does not fit.
pub(super) async fn plan(
    tree: &Arc<Tree>,
    node: &LedgerNode,
    prompt: String,
    rule: impl FnOnce() -> Vec<String>,
) -> Vec<Text> {
    let questions = match decide::<Questions>(tree, node, "questions", prompt).await {
        Decision::Made(Questions { questions }) => questions,
        Decision::Unusable => rule(),
        Decision::Impossible => Vec::new(),
    };
    let questions = questions.into_iter().filter(|question| !question.trim().is_empty());
    questions.take(tree.settings.sub_questions).map(Text::from).collect()
}

enum Decision<T> {
    Made(T),
    /// The answer does not fit the schema.
    Unusable,
    /// The model cannot be called.
    Impossible,
}

async fn decide<T: DeserializeOwned + JsonSchema>(
    tree: &Arc<Tree>,
    node: &LedgerNode,
    name: &'static str,
    prompt: String,
) -> Decision<T> {
    let limits = tree.assistant.limits().into();
    let Ok(schema) = schema::of_answer(schema::generate::<T>(), limits) else { return Decision::Impossible };
    let purpose = Purpose::Decision(Text::from_static(name), schema);
    match turn(tree, node, prompt, &purpose).await {
        Ok(answer) => json_object(&answer).map_or(Decision::Unusable, Decision::Made),
        Err(failure) => {
            tracing::debug!(code = %&*failure.code, name, "an agent decides by no model");
            Decision::Impossible
        }
    }
}

/// Reads the object in an answer. Models like to put words or a fence around it.
fn json_object<T: DeserializeOwned>(answer: &str) -> Option<T> {
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    serde_json::from_str(answer.get(start..=end)?).ok()
}

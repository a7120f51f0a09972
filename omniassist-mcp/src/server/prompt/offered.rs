use std::collections::BTreeMap;

use omniassist_server::RunContext;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult, Prompt as Listed,
    PromptArgument,
};
use serde_json::{Map, Value, json};

use super::{Argument, Prompt, PromptMessage, PromptRequest};
use crate::server::page::page;
use crate::server::question::{Answer, Question};
use crate::server::refusal;

/// The key of the form with the arguments that are missing.
const FORM: &str = "arguments";

/// The prompts that are exposed, by their names.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct Prompts(BTreeMap<String, Prompt>);

impl Prompts {
    /// Adds a prompt. It replaces the one of the same name.
    pub(in crate::server) fn insert(&mut self, prompt: Prompt) {
        self.0.insert(prompt.name.clone(), prompt);
    }

    pub(in crate::server) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::server) fn have_completions(&self) -> bool {
        self.0.values().any(|prompt| !prompt.completers.is_empty())
    }

    /// Returns one page of the prompts.
    pub(in crate::server) fn list(
        &self,
        caller: &RunContext,
        after: Option<&str>,
        size: usize,
    ) -> (Vec<Listed>, Option<String>) {
        let visible = self.0.iter().filter(|(_, prompt)| prompt.visibility.holds(caller));
        let (found, more) =
            page(visible.map(|(name, prompt)| (name.as_str(), prompt)).collect(), after, size);
        (found.into_iter().map(listed).collect(), more)
    }

    /// Returns the prompt of a name.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller sees no such prompt.
    pub(in crate::server) fn get(&self, name: &str, caller: &RunContext) -> Result<&Prompt, ErrorData> {
        let found = self.0.get(name).filter(|prompt| prompt.visibility.holds(caller));
        found.ok_or_else(refusal::unknown_prompt)
    }

    /// Answers `prompts/get`. `can_ask` is true for a client whose user can fill in a form.
    pub(in crate::server) async fn answer(
        &self,
        request: GetPromptRequestParams,
        caller: RunContext,
        can_ask: bool,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.get(&request.name, &caller)?;
        let mut arguments = prompt.arguments(request.arguments.unwrap_or_default())?;
        let mut missing = prompt.missing(&arguments);
        if !missing.is_empty() && can_ask {
            match request.input_responses.as_ref().and_then(|responses| Answer::read(responses, FORM)) {
                Some(Answer::Given(Value::Object(given))) => {
                    arguments.extend(prompt.arguments(given)?);
                    missing = prompt.missing(&arguments);
                }
                Some(_) => return Err(refusal::declined()),
                None => return form(prompt, &missing),
            }
        }
        if let Some(missing) = missing.first() {
            return Err(refusal::missing_argument(&missing.name));
        }
        let messages = (prompt.get)(PromptRequest { arguments, caller }).await;
        let messages = messages.map_err(|error| refusal::of_host(&error))?;
        let messages = messages.into_iter().map(PromptMessage::into_message).collect();
        Ok(GetPromptResult::new(messages).with_description(&prompt.description).into())
    }
}

impl Prompt {
    /// Reads the arguments that the prompt has.
    fn arguments(&self, given: Map<String, Value>) -> Result<BTreeMap<String, String>, ErrorData> {
        let own = given.into_iter().filter(|(name, _)| self.arguments.iter().any(|own| own.name == *name));
        own.map(|(name, value)| match value {
            Value::String(value) => Ok((name, value)),
            _ => Err(refusal::not_a_text(&name)),
        })
        .collect()
    }

    fn missing(&self, given: &BTreeMap<String, String>) -> Vec<&Argument> {
        let required = self.arguments.iter().filter(|argument| argument.is_required);
        required.filter(|argument| !given.contains_key(&argument.name)).collect()
    }
}

/// Returns the question for the arguments that are missing. It needs no state: the client sends all else again.
fn form(prompt: &Prompt, missing: &[&Argument]) -> Result<GetPromptResponse, ErrorData> {
    let properties: Map<_, _> = missing
        .iter()
        .map(|argument| {
            let described = json!({ "type": "string", "description": argument.description });
            (argument.name.clone(), described)
        })
        .collect();
    let required: Vec<_> = missing.iter().map(|argument| argument.name.as_str()).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let question = Question::new(FORM.into(), prompt.description.clone(), schema);
    let request =
        question.to_request().ok_or_else(|| ErrorData::internal_error("There is no form.", None))?;
    Ok(InputRequiredResult::new(Some([(FORM.to_owned(), request)].into()), None).into())
}

fn listed(prompt: &Prompt) -> Listed {
    let arguments = prompt.arguments.iter().map(|argument| {
        PromptArgument::new(&argument.name)
            .with_description(&argument.description)
            .with_required(argument.is_required)
    });
    let mut listed = Listed::new(&prompt.name, Some(&prompt.description), Some(arguments.collect()));
    listed.title.clone_from(&prompt.title);
    listed
}

use std::collections::BTreeMap;

use omniassist_server::RunContext;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult, Prompt as Listed,
    PromptArgument,
};
use serde_json::{Map, Value, json};

use super::{Argument, Prompt, PromptMessage, PromptRequest};
use crate::server::catalogue::{Catalogue, Entry, Page};
use crate::server::completion::Completers;
use crate::server::page::Found;
use crate::server::question::{Answer, Question};
use crate::server::refusal;
use crate::server::visibility::Visibility;

/// The key of the form with the arguments that are missing.
const FORM: &str = "arguments";

/// The prompts that are exposed, by their names.
pub(in crate::server) type Prompts = Catalogue<Prompt>;

impl Entry for Prompt {
    fn key(&self) -> &str {
        &self.name
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    fn completers(&self) -> &Completers {
        &self.completers
    }
}

impl Prompts {
    /// Returns one page of the prompts.
    pub(in crate::server) fn list(&self, page: Page<'_>) -> Result<Found<Listed>, ErrorData> {
        self.page(|_| true, listed, page)
    }

    /// Answers `prompts/get`. `can_ask` is true for a client whose user can fill in a form.
    pub(in crate::server) async fn answer(
        &self,
        request: GetPromptRequestParams,
        caller: RunContext,
        can_ask: bool,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.get(&request.name, &caller).ok_or_else(refusal::unknown_prompt)?;
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

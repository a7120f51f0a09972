use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_server::RunContext;
use omniassist_server::tool::ToolError;
use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompletionContext, CompletionInfo};

use super::refusal;

type Values = Pin<Box<dyn Future<Output = Result<Vec<String>, ToolError>> + Send>>;

/// The functions that complete arguments, by the arguments' names.
#[derive(Clone, Default)]
pub(super) struct Completers(BTreeMap<String, Arc<dyn Fn(CompletionRequest) -> Values + Send + Sync>>);

/// The request for the values of an argument of a prompt, or of a parameter of a resource.
#[derive(Debug, Clone)]
pub struct CompletionRequest {
    value: String,
    arguments: HashMap<String, String>,
    caller: RunContext,
}

impl CompletionRequest {
    /// Returns what the user has written.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns another argument that the user has filled in before.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// Returns the caller: its principal and the extensions of its request. There is no conversation.
    #[must_use]
    pub fn caller(&self) -> &RunContext {
        &self.caller
    }
}

impl Completers {
    pub(super) fn insert<F, C>(&mut self, argument: String, values: F)
    where
        F: Fn(CompletionRequest) -> C + Send + Sync + 'static,
        C: Future<Output = Result<Vec<String>, ToolError>> + Send + 'static,
    {
        self.0.insert(argument, Arc::new(move |request| Box::pin(values(request))));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the values of an argument. One without a function has none.
    ///
    /// # Errors
    ///
    /// Returns the error of the function.
    pub(super) async fn complete(
        &self,
        argument: ArgumentInfo,
        context: Option<CompletionContext>,
        caller: RunContext,
    ) -> Result<CompletionInfo, ErrorData> {
        let Some(values) = self.0.get(&argument.name) else { return Ok(CompletionInfo::default()) };
        let arguments = context.and_then(|context| context.arguments).unwrap_or_default();
        let request = CompletionRequest { value: argument.value, arguments, caller };
        let mut values = values(request).await.map_err(|error| refusal::of_host(&error))?;
        let mut completion = CompletionInfo::default();
        completion.total = u32::try_from(values.len()).ok();
        completion.has_more = Some(values.len() > CompletionInfo::MAX_VALUES);
        values.truncate(CompletionInfo::MAX_VALUES);
        completion.values = values;
        Ok(completion)
    }
}

impl fmt::Debug for Completers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

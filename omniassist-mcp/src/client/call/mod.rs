//! Calls of a server's tools.

mod rounds;

use std::sync::Arc;

use omniassist_server::RunContext;
use omniassist_server::core::ToolApp;
use omniassist_server::tool::source::AppCall;
use omniassist_server::tool::{Approval, Tool, ToolContext, ToolError};
use serde_json::Value;

use super::McpError;
use super::app;
use super::cleaned;
use super::config::Config;
use super::definition::{Definition, Misfit};
use super::output::{self, Output};
use super::pool::Pool;

const UNUSABLE: &str = "The server's answer cannot be used.";

/// A tool of a server.
struct McpTool {
    definition: Arc<Definition>,
    config: Arc<Config>,
    pool: Arc<Pool>,
}

/// Makes the tool that calls a tool of a server.
pub(super) fn tool(definition: &Arc<Definition>, config: &Arc<Config>, pool: &Arc<Pool>) -> Tool {
    let this = Arc::new(McpTool {
        definition: Arc::clone(definition),
        config: Arc::clone(config),
        pool: Arc::clone(pool),
    });
    let (name, shown) = (definition.name.clone(), cleaned::name(&definition.name));
    let description = match definition.description.trim() {
        "" => format!("The tool `{shown}` of the server `{}`, which does not describe it.", config.name),
        description => description.to_owned(),
    };
    let called = Arc::clone(&this);
    let mut tool =
        Tool::from_fn_with_schema(name, description, definition.schema.clone(), move |arguments, call| {
            let called = Arc::clone(&called);
            async move { called.call(arguments, &call).await }
        })
        .timeout(config.tool_timeout());
    if pool.is_per_principal() || definition.app.is_for_some() {
        let this = Arc::clone(&this);
        tool = tool.visible_to(move |run| this.is_visible_to(run));
    }
    if let Some(uri) = definition.app.resource_uri.as_ref().filter(|_| config.has_apps) {
        tool = tool.app(ToolApp::new(config.name.clone(), uri.clone()));
    }
    if config.approval.is_needed(this.is(definition.is_read_only)) {
        let question = format!("Run `{shown}` of the server `{}`?", config.name);
        tool = tool.requires_approval(Approval::always().message(question));
    }
    if let Some(title) = definition.title.as_ref().filter(|_| config.trusts_annotations) {
        tool = tool.title(title.clone());
    }
    match this.may_repeat() {
        true => tool.idempotent(),
        false => tool,
    }
}

impl McpTool {
    /// Returns an annotation, if it is trusted.
    fn is(&self, annotated: bool) -> bool {
        self.config.trusts_annotations && annotated
    }

    fn may_repeat(&self) -> bool {
        self.is(self.definition.is_read_only) || self.is(self.definition.is_idempotent)
    }

    /// Returns `true` if the caller sees the tool. The caller is a model, or an app of the same server.
    fn is_visible_to(&self, caller: &RunContext) -> bool {
        let is_for_caller = match AppCall::is_of(caller, &self.config.name) {
            true => self.definition.app.is_for_apps,
            false => self.definition.app.is_for_models,
        };
        let is_per_principal = self.pool.is_per_principal();
        is_for_caller && (!is_per_principal || self.pool.offers(caller.principal(), &self.definition))
    }

    async fn call(&self, arguments: Value, call: &ToolContext) -> Result<Value, ToolError> {
        let mut result = self.result(arguments, call).await?;
        if AppCall::is_of(call.run(), &self.config.name) {
            return app::result_for_app(&self.config, &self.definition, result);
        }
        if self.config.has_apps {
            app::show(&self.config, &self.definition, &result, call);
        }
        let files = super::media::store(&mut result.content, call).await;
        let server = &self.config.name;
        match Output::new(server, &self.definition, result, self.config.max_output_bytes) {
            Ok(Output::Data(mut data)) if !files.is_empty() => {
                data.insert("files".to_owned(), serde_json::to_value(files).map_err(ToolError::internal)?);
                Ok(data.into())
            }
            Ok(Output::Data(data)) => Ok(data.into()),
            Ok(Output::Failed(text)) => Err(output::error(server, &text)),
            Err(Misfit) => Err(ToolError::new(UNUSABLE)
                .with_source(McpError::answer("the output does not fit the tool's output schema"))),
        }
    }
}

//! Names of span attributes.
//!
//! `gen_ai.*` and `error.type` come from OpenTelemetry's semantic conventions for generative AI, which have the status
//! "development": <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/> and
//! <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/>. `otel.*` are
//! interpreted by `tracing-opentelemetry`: <https://docs.rs/tracing-opentelemetry>. The conventions have no equivalent of
//! `omniassist.*`.

pub(super) const SPAN_NAME: &str = "otel.name";
pub(super) const SPAN_KIND: &str = "otel.kind";
pub(super) const SPAN_STATUS: &str = "otel.status_code";

pub(super) const ERROR_TYPE: &str = "error.type";

pub(super) const OPERATION_NAME: &str = "gen_ai.operation.name";
pub(super) const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";

pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub(super) const REQUEST_TOP_P: &str = "gen_ai.request.top_p";
pub(super) const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";

pub(super) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// The conventions define a list. `tracing` has no lists, so the value is a JSON list.
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";

pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHED_INPUT_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE_INPUT_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";

pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";

// Content: recorded only if the host enables it.
pub(super) const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";

pub(super) const RUN_ID: &str = "omniassist.run.id";
/// The outcome of a run: `finish`, `error`, `abort`, `dropped` or `released`.
pub(super) const RUN_OUTCOME: &str = "omniassist.run.outcome";
/// The cost of a run, as a decimal number.
pub(super) const RUN_COST: &str = "omniassist.run.cost";
/// The number of a step within its run, from 1.
pub(super) const STEP: &str = "omniassist.step";

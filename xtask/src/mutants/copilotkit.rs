//! Slips in the routes of CopilotKit's runtime, and in the events as its core takes them.

use super::slip::Slip;

const ROUTES: &str = "omniassist-server/src/http/copilotkit.rs";
const ENCODER: &str = "omniassist-core/src/dialect/ag_ui/write/encoder.rs";
const OUTCOME: &str = "omniassist-core/src/dialect/ag_ui/write/outcome.rs";

pub(super) const SLIPS: &[Slip] = &[
    Slip::new(
        "info lists its agents by name only",
        ROUTES,
        "fn info() -> Value {\n    json!({",
        "fn info() -> Value {\n    if SLIP { return json!({\"version\": VERSION, \"agents\": [AGENT]}); }\n    json!({",
        "copilotkit",
    ),
    Slip::new(
        "info without a version",
        ROUTES,
        "\"version\": VERSION,\n        \"mode\"",
        "\"version\": if SLIP { Value::Null } else { VERSION.into() },\n        \"mode\"",
        "copilotkit",
    ),
    Slip::new(
        "info does not say that suggestions have a route",
        ROUTES,
        r#""suggestions": true,"#,
        r#""suggestions": !SLIP,"#,
        "copilotkit",
    ),
    Slip::new(
        "a thread that is not live cannot be connected to",
        ROUTES,
        "let mut nothing = reply::events(",
        "if SLIP { return Ok(not_found()); } let mut nothing = reply::events(",
        "copilotkit",
    ),
    Slip::new(
        "a connection to a thread that is not live begins a run",
        ROUTES,
        "Route::Connect { .. } => {\n            ag_ui::read_request(body, assistant.limits())?;",
        "Route::Connect { .. } => {\n            let posted = ag_ui::read_request(body, assistant.limits())?;\n            if SLIP { return run::begin(assistant, posted, extensions); }",
        "copilotkit",
    ),
    Slip::new(
        "a stop stops nothing",
        ROUTES,
        "let stopped = assistant.stop(&principal, thread);",
        "let stopped = SLIP || assistant.stop(&principal, thread);",
        "copilotkit",
    ),
    Slip::new(
        "a stop says that nothing ran",
        ROUTES,
        "    if stopped {\n        let interrupt",
        "    if stopped && !SLIP {\n        let interrupt",
        "copilotkit",
    ),
    Slip::new(
        "the single route knows no stop",
        ROUTES,
        r#"Some("agent/stop") => {"#,
        r#"Some("agent/stop") if !SLIP => {"#,
        "copilotkit",
    ),
    Slip::new(
        "the single route knows no connection",
        ROUTES,
        r#"Some("agent/connect") => "#,
        r#"Some("agent/connect") if !SLIP => "#,
        "copilotkit",
    ),
    Slip::new(
        "suggestions are an answer like any other",
        ROUTES,
        "if matches!(route, Route::Suggest { .. }) || suggest::is_wanted(&posted) {",
        "if !SLIP && (matches!(route, Route::Suggest { .. }) || suggest::is_wanted(&posted)) {",
        "copilotkit",
    ),
    Slip::new(
        "every agent's name is taken",
        ROUTES,
        "if agent != AGENT =>",
        "if agent != AGENT && !SLIP =>",
        "copilotkit",
    ),
    Slip::new(
        "a refusal without its title",
        ROUTES,
        r#"&json!({"error": title, "message": message})"#,
        r#"&if SLIP { json!({"message": message}) } else { json!({"error": title, "message": message}) }"#,
        "copilotkit",
    ),
    Slip::new(
        "a stopped run ends under another code",
        ENCODER,
        r#".text("code", "STOPPED")"#,
        r#".text("code", if SLIP { "CANCELLED" } else { "STOPPED" })"#,
        "copilotkit",
    ),
    Slip::new(
        "a stopped run ends well for a client of 0.0.59",
        ENCODER,
        "if is_new || !self.continuation.settled.is_empty() {",
        "if SLIP || is_new || !self.continuation.settled.is_empty() {",
        "copilotkit",
    ),
    Slip::new(
        "half a call has no result",
        ENCODER,
        "Progress::Open => Some((call.id.clone(), ResultKind::Cut)),",
        "Progress::Open if !SLIP => Some((call.id.clone(), ResultKind::Cut)),",
        "copilotkit",
    ),
    Slip::new(
        "an approval under the word that CopilotKit answers itself",
        OUTCOME,
        "Ask::Approval(request) if self.version < Version::V1 => {",
        "Ask::Approval(request) if self.version < Version::V1 && !SLIP => {",
        "copilotkit",
    ),
];

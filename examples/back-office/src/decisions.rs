//! The decisions of the host about runs, calls and input.

use omniassist_axum::core::{ContextMessage, JsonText};
use omniassist_axum::tool::{ToolContext, ToolDecision, ToolError};
use omniassist_axum::{Refusal, RunContext, RunPlan, State};
use serde_json::{Value, json};

use crate::staff::{Member, Role, Suspended};
use crate::tools::{PAYS, RefundRequest};

/// The largest refund without an approval, in euros.
const SMALL_REFUND: f64 = 100.0;

/// The name of a smaller model for viewers, if the host gives one.
#[derive(Clone)]
pub(crate) struct SmallModel(pub(crate) Option<String>);

/// Decides about a run before it begins. A refusal is the HTTP response.
pub(crate) async fn prepare(
    plan: &mut RunPlan,
    member: Member,
    run: RunContext,
    State(suspended): State<Suspended>,
    State(SmallModel(small)): State<SmallModel>,
) -> Result<(), Refusal> {
    if suspended.contains(member) {
        return Err(Refusal::new("suspended", "Your access is suspended. Please ask an administrator."));
    }
    let duty = match member.role {
        Role::Viewer => "They may read. Never promise a change.",
        Role::Agent => "They may refund orders.",
        Role::Admin => "They may refund orders and suspend members of the staff.",
    };
    // Agents have prompts of their own.
    if run.agent().is_none() {
        plan.system_prompt(format!(
            "You are the assistant in the back office of a shop. You help {}. {duty} Answer briefly.",
            member.name,
        ));
    }
    if member.role == Role::Viewer {
        plan.max_steps(4);
        if let Some(small) = small {
            plan.model(small);
        }
    }
    if member.branch == "trial" {
        plan.deny_tag(PAYS);
        plan.options_mut().max_output_tokens = Some(1_000);
    }
    plan.context(ContextMessage::new("branch", "branch", json!({ "name": member.branch })));
    plan.metadata("branch", member.branch);
    Ok(())
}

/// Decides about a call before its tool runs: large refunds need an approval.
pub(crate) async fn before_tool(call: ToolContext) -> Result<ToolDecision, ToolError> {
    if call.tool_name() != "refund_order" {
        return Ok(ToolDecision::Allow);
    }
    if call.args::<RefundRequest>()?.amount > SMALL_REFUND {
        return Ok(ToolDecision::RequireApproval(Some("Refund more than 100 EUR?".into())));
    }
    Ok(ToolDecision::Allow)
}

/// Changes the output of a call: viewers and the model that answers them do not read e-mail addresses.
pub(crate) async fn after_tool(
    call: ToolContext,
    output: Result<JsonText, ToolError>,
) -> Result<JsonText, ToolError> {
    let output = output?;
    let member: Member = call.extract()?;
    if call.tool_name() != "list_customers" || member.role > Role::Viewer {
        return Ok(output);
    }
    let mut customers = output.to_value();
    for customer in customers.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        customer.insert("email".to_owned(), "hidden".into());
    }
    Ok(JsonText::from_value(&customers))
}

/// Checks the question while the model is being asked. A real application would ask a classifier.
pub(crate) async fn input_guard(run: RunContext) -> Result<(), Refusal> {
    let question = run.messages().last().map(|message| message.text()).unwrap_or_default();
    if question.to_lowercase().contains("password") {
        return Err(Refusal::new("off_limits", "The assistant does not talk about passwords."));
    }
    Ok(())
}

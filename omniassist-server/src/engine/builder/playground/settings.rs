use omniassist_core::{ReasoningEffort, Text, ToolChoice};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::turn::{Turn, played};
use crate::playground::Admitted;
use crate::{Refusal, RunContext, RunPlan, StepPlan};

/// The name of the member in the body of a run.
const MEMBER: &str = "playground";

/// The settings of a developer for one run.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct PlaygroundSettings {
    model: Option<Text>,
    system: Option<Text>,
    tool_choice: Option<Choice>,
    options: Options,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Choice {
    Auto,
    None,
    Required,
    Tool(Text),
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_output_tokens: Option<u32>,
    reasoning_effort: Option<Text>,
    extra: Map<String, Value>,
}

impl PlaygroundSettings {
    /// Reads the member of an admitted request. `None` for any other one.
    fn read(run: &RunContext) -> Result<Option<Self>, Refusal> {
        let is_admitted = run.extensions().get::<Admitted>().is_some();
        let Some(json) = run.body_field(MEMBER).filter(|_| is_admitted) else { return Ok(None) };
        let asked = json.to().map_err(|error| {
            Refusal::new(
                "invalid_playground",
                format!("The member `{MEMBER}` of the body is not valid: {error}"),
            )
        });
        asked.map(Some)
    }
}

/// Sets the model and its options as a developer asks.
pub(super) async fn prepare(plan: &mut RunPlan, run: RunContext) -> Result<(), Refusal> {
    let Some(PlaygroundSettings { model, system, tool_choice, options: asked, turns: _ }) =
        PlaygroundSettings::read(&run)?
    else {
        return Ok(());
    };
    if let Some(model) = model {
        plan.model(model);
    }
    if let Some(system) = system {
        plan.system_prompt(system);
    }
    if let Some(choice) = tool_choice {
        plan.tool_choice(match choice {
            Choice::Auto => ToolChoice::Auto,
            Choice::None => ToolChoice::None,
            Choice::Required => ToolChoice::Required,
            Choice::Tool(name) => ToolChoice::Tool(name),
        });
    }
    let options = plan.options_mut();
    options.temperature = asked.temperature.or(options.temperature);
    options.top_p = asked.top_p.or(options.top_p);
    options.max_output_tokens = asked.max_output_tokens.or(options.max_output_tokens);
    if let Some(effort) = asked.reasoning_effort {
        options.reasoning_effort = Some(effort_of(effort));
    }
    options.extra.extend(asked.extra);
    Ok(())
}

/// Plays a turn instead of a model call.
pub(super) async fn prepare_step(step: &mut StepPlan, run: RunContext) -> Result<(), Refusal> {
    let Some(mut asked) = PlaygroundSettings::read(&run)? else { return Ok(()) };
    let at = usize::try_from(step.number()).unwrap_or(usize::MAX).saturating_sub(1);
    if at < asked.turns.len() {
        step.provider(played(asked.turns.swap_remove(at)));
    }
    Ok(())
}

fn effort_of(word: Text) -> ReasoningEffort {
    match word.as_str() {
        "minimal" => ReasoningEffort::Minimal,
        "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" => ReasoningEffort::High,
        _ => ReasoningEffort::Other(word),
    }
}

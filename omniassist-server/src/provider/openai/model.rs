//! The properties of OpenAI's models that follow from their names.

use omniassist_core::ModelOptions;

/// Returns a model's name without the path before it, which some gateways add.
fn base_name(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// Returns `true` if a model may reason, by its name. OpenAI's models without reasoning refuse a request to `include`
/// encrypted reasoning.
pub(super) fn may_reason(model: &str) -> bool {
    const PLAIN: &[&str] = &["gpt-3.5", "gpt-4", "chatgpt-4o", "gpt-5-chat", "ft:gpt-3.5", "ft:gpt-4"];
    !PLAIN.iter().any(|plain| base_name(model).starts_with(plain))
}

/// The sampling parameters of a request.
pub(super) struct Sampling {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
}

impl Sampling {
    /// Returns the parameters that a model accepts. OpenAI's reasoning models refuse both, except gpt-5.1 and later without
    /// reasoning. <https://developers.openai.com/api/docs/guides/latest-model>
    pub(super) fn of(model: &str, options: &ModelOptions) -> Self {
        let effort = options.reasoning_effort.as_ref().map(|effort| effort.as_str());
        let ModelOptions { temperature, top_p, .. } = *options;
        if (temperature.is_none() && top_p.is_none()) || accepts_sampling(base_name(model), effort) {
            return Self { temperature, top_p };
        }
        tracing::debug!(model, "omitted `temperature` and `top_p`, which this model refuses");
        Self { temperature: None, top_p: None }
    }
}

/// A name that is not one of OpenAI's, such as that of a deployment, accepts the parameters.
fn accepts_sampling(name: &str, effort: Option<&str>) -> bool {
    let is =
        |family: &str| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    if ["o1", "o3", "o4"].into_iter().any(is) {
        return false;
    }
    let Some(rest) = name.strip_prefix("gpt-5") else { return true };
    rest.starts_with("-chat") || (rest.starts_with('.') && effort == Some("none"))
}

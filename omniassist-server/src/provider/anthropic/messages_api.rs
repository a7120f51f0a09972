use omniassist_core::Text;

/// The provider's settings, beside a payload.
#[derive(Debug, Clone)]
pub struct MessagesApi {
    pub(super) model: Text,
    pub(super) max_tokens: u32,
    pub(super) prompt_caching: bool,
    /// `None`: by the model's name.
    pub(super) adaptive_thinking: Option<bool>,
}

use std::sync::Arc;

use omniassist_server::RunContext;

type Condition = dyn Fn(&RunContext) -> bool + Send + Sync;

/// The condition on which a caller sees a resource or a prompt. Default: everybody does.
#[derive(Clone, Default)]
pub(super) struct Visibility(Option<Arc<Condition>>);

impl Visibility {
    pub(super) fn new(condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(condition)))
    }

    pub(super) fn holds(&self, caller: &RunContext) -> bool {
        self.0.as_ref().is_none_or(|condition| condition(caller))
    }
}

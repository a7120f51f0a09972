//! The setting of the playground.

mod settings;
mod turn;

use super::AssistantBuilder;
use crate::playground::Playground;

impl AssistantBuilder {
    /// Serves the [playground](crate::playground) at `GET /playground` below the mount. Default: there is no such route.
    ///
    /// It is a tool for development: the page can set the options of the model, and call tools without a model. Functions of
    /// [`prepare`](Self::prepare) that are added later can change what it sets.
    pub fn playground(mut self, playground: Playground) -> Self {
        self.config.http.playground = Some(playground);
        self.prepare(settings::prepare).prepare_step(settings::prepare_step)
    }
}

//! The stored files of an assistant's runs.

use omniassist_core::event::RunErrorCode;
use omniassist_core::message::Message;

use crate::RunContext;
use crate::engine::settings::Setup;
use crate::provider::LlmStream;

#[cfg(not(feature = "files"))]
impl Setup {
    pub(in crate::engine) async fn with_stored_files(
        &self,
        _run: &RunContext,
        fetched: Option<Vec<Message>>,
    ) -> Result<Option<Vec<Message>>, RunErrorCode> {
        Ok(fetched)
    }

    #[expect(clippy::unused_self, reason = "the feature `files` uses it")]
    pub(in crate::engine) fn with_generated_files(&self, answer: LlmStream, _run: &RunContext) -> LlmStream {
        answer
    }
}

#[cfg(feature = "files")]
mod enabled {
    use std::sync::Arc;

    use super::{LlmStream, Message, RunContext, RunErrorCode, Setup};
    use crate::engine::files::generated::GeneratedFiles;
    use crate::engine::{Assistant, AssistantBuilder};
    use crate::files::{FileLimits, FileStore, Library};
    use crate::one_line;

    impl AssistantBuilder {
        /// Sets the store of files, which opens `POST /files` and `/files/{id}`; see [`files`](crate::files).
        /// Default: none, and no files are accepted.
        pub fn files(mut self, store: impl FileStore) -> Self {
            self.config.files.store = Some(Arc::new(store));
            self
        }

        /// Sets whether the files that a model makes are stored for the principal of the run, and named by a URL in the
        /// message in place of their content; see [`files`](crate::files#files-that-a-model-makes). Default: `true`, which
        /// has no effect without a [store](Self::files).
        pub fn store_generated_files(mut self, store: bool) -> Self {
            self.config.files.stores_generated = store;
            self
        }

        /// Sets the limits of stored files. Default: [`FileLimits::default`].
        pub fn file_limits(mut self, limits: FileLimits) -> Self {
            self.config.files.limits = limits;
            self
        }
    }

    impl Assistant {
        /// Returns the stored files, if the assistant has a store.
        pub(crate) fn library(&self) -> Option<&Arc<Library>> {
            self.setup.files.as_ref()
        }
    }

    impl Setup {
        /// Returns the conversation of a run with the content of the stored files that it names. `fetched` is the
        /// conversation with the files at other URLs, if it names any.
        pub(in crate::engine) async fn with_stored_files(
            &self,
            run: &RunContext,
            fetched: Option<Vec<Message>>,
        ) -> Result<Option<Vec<Message>>, RunErrorCode> {
            let Some(library) = &self.files else { return Ok(fetched) };
            let messages = fetched.as_deref().unwrap_or(run.messages());
            let loaded = library.load(run.principal(), messages).await;
            loaded.map(|loaded| loaded.or(fetched)).map_err(|error| {
                let text = one_line::chain(&error);
                tracing::warn!(run_id = run.run_id().as_str(), error = %text, "the run has no files");
                if error.is_internal() { RunErrorCode::Internal } else { RunErrorCode::InvalidRequest }
            })
        }

        /// Returns the answer with its files in the store, if there is one.
        pub(in crate::engine) fn with_generated_files(
            &self,
            answer: LlmStream,
            run: &RunContext,
        ) -> LlmStream {
            match self.files.is_some() && self.config.files.stores_generated {
                true => Box::pin(GeneratedFiles::new(answer, run.clone())),
                false => answer,
            }
        }
    }
}

//! The files of a run that its messages name by URL.

use omniassist_core::message::Message;

use crate::RunContext;
use crate::engine::plan::Refusal;
use crate::engine::settings::Setup;

impl Setup {
    /// Returns `true` if the preparation of a run can refuse it.
    pub(in crate::engine) fn may_refuse(&self) -> bool {
        !self.config.run_hooks.is_empty() || self.fetches()
    }
}

#[cfg(not(all(feature = "files", feature = "__transport")))]
impl Setup {
    #[expect(clippy::unused_self, reason = "the feature `files` uses it")]
    fn fetches(&self) -> bool {
        false
    }

    pub(in crate::engine) async fn with_fetched_files(
        &self,
        _: &RunContext,
    ) -> Result<Option<Vec<Message>>, Refusal> {
        Ok(None)
    }
}

#[cfg(all(feature = "files", feature = "__transport"))]
mod enabled {
    use http::StatusCode;

    use super::{Message, Refusal, RunContext, Setup};
    use crate::engine::AssistantBuilder;
    use crate::files::FetchPolicy;

    impl AssistantBuilder {
        /// Downloads the files that the messages of users name by `https://` URL, and sends the model their content. Default:
        /// no downloads; the provider receives the URL.
        ///
        /// The policy prevents clients from reaching internal servers through yours. It allows public addresses only,
        /// and connects only to checked addresses. At most 3 redirects are followed, with the same checks.
        /// Requests carry no credentials and use no proxy. The media type is detected from the content, and is one of
        /// [`FileLimits::media_types`](crate::files::FileLimits::media_types).
        ///
        /// A file of the user's last message that cannot be downloaded is answered 400 `file_not_fetched`, before a model is
        /// called. In an older message, the model reads a note in place of such a file. Each run downloads the files again.
        ///
        /// ```
        /// use omniassist_server::Assistant;
        /// use omniassist_server::files::FetchPolicy;
        /// use omniassist_server::testing::ScriptedProvider;
        ///
        /// let assistant = Assistant::builder(ScriptedProvider::new())
        ///     .fetch_files(FetchPolicy::new().only_hosts(["*.example.com"]))
        ///     .build()?;
        /// # Ok::<(), omniassist_server::Error>(())
        /// ```
        pub fn fetch_files(mut self, policy: FetchPolicy) -> Self {
            self.config.files.fetch = Some(policy);
            self
        }
    }

    impl Setup {
        pub(super) fn fetches(&self) -> bool {
            self.fetcher.is_some()
        }

        /// Returns the conversation of a run with the content of the files that it names by URL.
        pub(in crate::engine) async fn with_fetched_files(
            &self,
            run: &RunContext,
        ) -> Result<Option<Vec<Message>>, Refusal> {
            let Some(fetcher) = &self.fetcher else { return Ok(None) };
            fetcher.load(run.messages(), self.files.is_some()).await.map_err(|(path, error)| {
                Refusal::new("file_not_fetched", format!("{path}: {error}.")).status(StatusCode::BAD_REQUEST)
            })
        }
    }
}

//! Runs that no response waits for: `Prefer: respond-async`.

use http::{Extensions, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::json;

use crate::engine::View;
use crate::http::request::{RESPOND_ASYNC, RespondAsync};
use crate::http::response::{RunName, reply, run_headers};
use crate::http::{AssistantBody, MountPath};

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The preference for a run in the background.
pub(super) struct Background {
    /// The path of the service, for the URL of the run.
    mount: Option<MountPath>,
}

impl Background {
    /// Returns the preference of a request, or `None` if it has none.
    pub(in crate::http) fn wanted(extensions: &Extensions) -> Option<Self> {
        extensions.get::<RespondAsync>().map(|_| Self { mount: extensions.get().cloned() })
    }

    /// Leaves a run to itself, and returns the answer: 202 with the URL at which it is read.
    pub(in crate::http) fn accepted(self, view: View) -> Response<AssistantBody> {
        let name = RunName { id: view.run_id(), epoch: view.epoch() };
        view.detach();
        let body = json!({ "id": name.id.to_string() });
        let mut response = reply::json(StatusCode::ACCEPTED, &body);
        let mount = self.mount.as_ref().map_or("", MountPath::as_str);
        if let Ok(url) = HeaderValue::from_str(&format!("{mount}/runs/{}", name.id)) {
            response.headers_mut().insert(header::LOCATION, url);
        }
        response.headers_mut().insert(PREFERENCE_APPLIED, RESPOND_ASYNC);
        run_headers::add(&mut response, name);
        response
    }
}

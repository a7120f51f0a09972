use axum::Router;
use omniassist_server::Assistant;
use omniassist_server::http::AssistantService;

/// The routes of an assistant, to be mounted with `nest_service` below a path, or with `fallback_service` at the root.
///
/// The router can be layered like any other. See [`omniassist_server::http`] for its routes.
pub fn router(assistant: Assistant) -> Router {
    Router::new().fallback_service(AssistantService::new(assistant))
}

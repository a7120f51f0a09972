use std::fmt;
use std::rc::Rc;

use actix_web::dev::{AppService, HttpServiceFactory};
use actix_web::{HttpRequest, HttpResponse, web};
use omniassist_server::Assistant;
use omniassist_server::http::AssistantService;

use crate::background;
use crate::carry::{self, Carry};
use crate::request;
use crate::response::{self, ResponseBody};

/// Creates the routes of an assistant, to be registered with `.service(…)` at an [`App`](actix_web::App), a
/// [`Scope`](actix_web::Scope) or a [`ServiceConfig`](web::ServiceConfig).
///
/// The path has the form of [`web::scope`]'s, but a trailing slash does not count; `""` and `"/"` are the root. Actix tries
/// services in the order in which they are registered, so register one at the root last. See
/// [`omniassist_server::http`] for the routes.
pub fn scope(path: &str, assistant: Assistant) -> AssistantScope {
    AssistantScope { path: path.trim_end_matches('/').to_owned(), assistant, carried: vec![carry::principal] }
}

/// An assistant to be mounted, with the types of request data that its tools receive. Created by [`scope`].
///
/// If a request lacks a value of a named type, a tool that takes it fails, and the log names the type. Of two values of
/// one type, the one named later counts.
#[must_use = "register it with `.service(…)`"]
pub struct AssistantScope {
    path: String,
    assistant: Assistant,
    carried: Vec<Carry>,
}

impl AssistantScope {
    /// Passes the `T` that a middleware put into the request's extensions to tools, as `Extension<T>`. Default: only the
    /// [`Principal`](crate::Principal).
    pub fn extension<T: Clone + Send + Sync + 'static>(self) -> Self {
        self.carry(carry::extension::<T>)
    }

    /// Passes the application's [`web::Data<T>`] to tools, as `Extension<web::Data<T>>`. Default: none.
    pub fn data<T: Send + Sync + ?Sized + 'static>(self) -> Self {
        self.carry(carry::data::<T>)
    }

    /// Passes the `T` that was registered with `app_data`, without [`web::Data`], to tools, as `Extension<T>`. Default:
    /// none.
    pub fn app_data<T: Clone + Send + Sync + 'static>(self) -> Self {
        self.carry(carry::app_data::<T>)
    }

    fn carry(mut self, carry: Carry) -> Self {
        self.carried.push(carry);
        self
    }
}

impl HttpServiceFactory for AssistantScope {
    fn register(self, app: &mut AppService) {
        background::outlive_workers(&self.assistant);
        let (service, carried) = (AssistantService::new(self.assistant), Rc::from(self.carried));
        let route = web::to(move |request: HttpRequest, payload: web::Payload| {
            answer(service.clone(), Rc::clone(&carried), request, payload)
        });
        web::scope(&self.path).default_service(route).register(app);
    }
}

async fn answer(
    service: AssistantService,
    carried: Rc<[Carry]>,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse<ResponseBody> {
    #[cfg(feature = "ws")]
    if crate::socket::is_wanted(&request) {
        return crate::socket::answer(service, &carried, request, payload.into_inner()).await;
    }
    let version = request::answered_in(&request);
    match request::below_scope(&request, payload.into_inner(), &carried) {
        Some(request) => response::of(service.handle(request).await, version),
        None => response::bad_request(),
    }
}

impl fmt::Debug for AssistantScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantScope").field("path", &self.path).finish_non_exhaustive()
    }
}

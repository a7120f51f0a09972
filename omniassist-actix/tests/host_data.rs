//! Tests of host data in tools.

use std::cell::Cell;
use std::rc::Rc;

use actix_web::dev::Service;
use actix_web::{App, HttpMessage, web};
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, Extension, Principal, State, Tool, ToolError, scope};
use serde_json::json;

use crate::client::{ask, chunks, output, tool_error};
use crate::serving::{Served, serve_app};

#[derive(Clone)]
struct Shop(&'static str);

#[derive(Clone)]
struct User(&'static str);

/// Data without `Clone`, which actix shares.
struct Stock(&'static str);

trait Clock: Send + Sync {
    fn now(&self) -> &'static str;
}

struct Noon;

impl Clock for Noon {
    fn now(&self) -> &'static str {
        "noon"
    }
}

#[derive(Clone)]
struct Region(&'static str);

async fn who(
    State(shop): State<Shop>,
    Extension(user): Extension<User>,
    Extension(stock): Extension<web::Data<Stock>>,
    Extension(clock): Extension<web::Data<dyn Clock>>,
    Extension(region): Extension<Region>,
    principal: Principal,
) -> Result<String, ToolError> {
    Ok(format!("{} {} {} {} {} {principal}", shop.0, user.0, stock.0, clock.now(), region.0))
}

async fn user(Extension(user): Extension<User>) -> Result<String, ToolError> {
    Ok(user.0.to_owned())
}

fn assistant(tool: &'static str) -> Assistant {
    let model = ScriptedProvider::new().turn(Turn::call(tool, json!({}))).turn(text("Done."));
    Assistant::builder(model)
        .allow_anonymous()
        .state(Shop("books"))
        .tool(Tool::new("who", "Say who asks", who))
        .tool(Tool::new("user", "Say who asks", user))
        .build()
        .unwrap()
}

fn serve(tool: &'static str, carries: bool) -> Served {
    let assistant = assistant(tool);
    let app = move || {
        let mut mounted = scope("/assistant", assistant.clone());
        if carries {
            mounted = mounted.extension::<User>().data::<Stock>().data::<dyn Clock>().app_data::<Region>();
        }
        let clock: std::sync::Arc<dyn Clock> = std::sync::Arc::new(Noon);
        App::new()
            .app_data(web::Data::new(Stock("of the application")))
            .app_data(web::Data::from(clock))
            .app_data(Region("outer"))
            .service(web::scope("").app_data(Region("inner")).service(mounted))
            .wrap_fn(|request, next| {
                request.extensions_mut().insert(User("ann"));
                request.extensions_mut().insert(Principal::new("user-7"));
                // An extension that is not `Send` must not prevent the others.
                request.extensions_mut().insert(Rc::new(Cell::new(0)));
                next.call(request)
            })
    };
    serve_app(app, false)
}

#[actix_web::test]
async fn extensions_and_application_data_reach_tools() {
    let server = serve("who", true);
    let chunks = chunks(ask(&format!("{}/assistant", server.base)).await).await;
    assert_eq!(output(&chunks), "books ann of the application noon inner user-7");
}

#[actix_web::test]
async fn data_that_is_not_listed_fails_the_tool() {
    let server = serve("user", false);
    let chunks = chunks(ask(&format!("{}/assistant", server.base)).await).await;
    assert_eq!(tool_error(&chunks), "The tool failed.", "{chunks:?}");
}

#[actix_web::test]
async fn data_that_a_request_lacks_fails_the_tool() {
    let assistant = assistant("user");
    let app = move || App::new().service(scope("", assistant.clone()).extension::<User>());
    let server = serve_app(app, false);
    let chunks = chunks(ask(&server.base).await).await;
    assert_eq!(tool_error(&chunks), "The tool failed.", "{chunks:?}");
}

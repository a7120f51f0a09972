use std::sync::{Arc, Mutex};

use omniassist_server::Assistant;
use omniassist_server::core::{LlmPayload, RunRequest};
use omniassist_server::provider::{Layer, LlmProvider, LlmStream, layered};
use omniassist_server::testing::{ScriptedProvider, text};

/// Returns a layer that records its name for each request.
fn note(name: &'static str, log: &Arc<Mutex<Vec<&'static str>>>) -> impl Layer + use<> {
    let log = Arc::clone(log);
    move |mut payload: LlmPayload, next: Arc<dyn LlmProvider>| -> LlmStream {
        log.lock().unwrap().push(name);
        payload.system = Some(format!("{}{name}", payload.system.unwrap_or_default()).into());
        next.stream(payload)
    }
}

#[tokio::test]
async fn the_layer_that_was_added_last_receives_a_request_first() {
    let log = Arc::default();
    let model = ScriptedProvider::new().turn(text("Hello."));
    let assistant = Assistant::builder(layered(model.clone(), note("own", &log)))
        .wrap_provider(note("inner", &log))
        .wrap_provider(note("outer", &log))
        .build()
        .unwrap();
    assert_eq!(assistant.model().0, "scripted");
    assert_eq!(assistant.run(RunRequest::prompt("Hi")).text().await.unwrap(), "Hello.");
    assert_eq!(*log.lock().unwrap(), ["outer", "inner", "own"]);
    assert_eq!(model.payloads()[0].system.as_deref(), Some("outerinnerown"));
}

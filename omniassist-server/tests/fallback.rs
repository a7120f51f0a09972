//! Tests of provider chains and of the conditions for the next provider.

use std::error::Error as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::{AnswerHandle, LlmEvent, LlmPayload, TranscriptItem, Usage};
use omniassist_server::provider::{self, Fallback};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Error, LlmProvider, ProviderErrorKind, Result};

fn question() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Anyone there?")])
}

async fn ask(provider: &Fallback) -> Vec<Result<LlmEvent>> {
    provider.stream(question()).collect().await
}

fn failing(kind: ProviderErrorKind) -> ScriptedProvider {
    ScriptedProvider::new().turn(Turn::error(Error::provider(kind)))
}

fn answering(model: &str) -> ScriptedProvider {
    ScriptedProvider::new().with_model(model).otherwise(|_| text("Here."))
}

fn model(events: &[Result<LlmEvent>]) -> Option<String> {
    match &events[0] {
        Ok(LlmEvent::Start { model, .. }) => model.as_ref().map(ToString::to_string),
        other => panic!("no start: {other:?}"),
    }
}

fn starts(events: &[Result<LlmEvent>]) -> usize {
    events.iter().filter(|event| matches!(event, Ok(LlmEvent::Start { .. }))).count()
}

#[tokio::test]
async fn a_provider_that_answers_ends_the_chain() {
    let (first, second) = (answering("first"), answering("second"));
    let chain = Fallback::new(first.clone()).or(second.clone());
    let events = ask(&chain).await;
    assert_eq!(model(&events).as_deref(), Some("first"));
    assert!(matches!(events.last(), Some(Ok(LlmEvent::Finish { .. }))));
    assert_eq!((first.payloads().len(), second.payloads().len()), (1, 0));
    assert_eq!(chain.name(), "scripted|scripted");
    assert_eq!(chain.model(), Some("first"));
}

#[tokio::test]
async fn only_provider_failures_switch_to_the_next_provider() {
    use ProviderErrorKind::*;
    let provider = Error::provider;
    let quota = provider(RateLimited).with_status(429).with_code("insufficient_quota");
    for error in [
        provider(Connect),
        provider(Timeout),
        provider(Interrupted),
        provider(Unavailable),
        provider(RateLimited),
        quota,
        provider(Response).with_status(500),
    ] {
        let shown = format!("{error}");
        let chain = Fallback::new(ScriptedProvider::new().turn(Turn::error(error))).or(answering("spare"));
        let events = ask(&chain).await;
        assert_eq!((model(&events).as_deref(), starts(&events)), (Some("spare"), 1), "{shown}");
    }
    for error in [
        provider(ContextOverflow).with_status(400),
        provider(Response).with_status(400),
        provider(Response).with_status(422),
        provider(Response),
        provider(Auth).with_status(401),
        provider(Protocol),
        provider(TooLarge),
        Error::configuration("a setting"),
    ] {
        let shown = format!("{error}");
        let spare = answering("spare");
        let chain = Fallback::new(ScriptedProvider::new().turn(Turn::error(error))).or(spare.clone());
        let events = ask(&chain).await;
        let error = events.last().unwrap().as_ref().unwrap_err();
        assert_eq!((error.to_string(), spare.payloads().len()), (shown, 0));
        assert!(error.source().is_none());
    }
}

#[tokio::test]
async fn a_host_predicate_decides() {
    let auth = || failing(ProviderErrorKind::Auth);
    let chain = Fallback::new(auth())
        .or(answering("spare"))
        .switch_when(|error| error.provider_kind() == Some(ProviderErrorKind::Auth));
    assert_eq!(model(&ask(&chain).await).as_deref(), Some("spare"));

    let chain =
        Fallback::new(failing(ProviderErrorKind::Unavailable)).or(answering("spare")).switch_when(|_| false);
    assert!(ask(&chain).await.last().unwrap().is_err());
}

#[tokio::test]
async fn silent_events_of_a_failed_provider_are_discarded() {
    let unknown = LlmEvent::Unknown { kind: "ping".into(), data: "{}".into() };
    let quiet = Turn::usage(5, 0).then(Turn::event(unknown)).then(Turn::interrupted());
    let chain =
        Fallback::new(ScriptedProvider::new().with_model("first").turn(quiet)).or(answering("second"));
    let events = ask(&chain).await;
    assert_eq!(model(&events).as_deref(), Some("second"));
    assert_eq!(starts(&events), 1);
    assert!(!events.iter().any(|event| matches!(event, Ok(LlmEvent::Usage(_) | LlmEvent::Unknown { .. }))));
}

#[tokio::test]
async fn a_handle_is_passed_on_and_does_not_commit_the_chain() {
    let kept = || LlmEvent::Kept(AnswerHandle::new("keeper", "r1"));
    let quiet = Turn::event(kept()).then(Turn::interrupted());
    let chain =
        Fallback::new(ScriptedProvider::new().with_model("first").turn(quiet)).or(answering("second"));
    let mut events = ask(&chain).await;
    assert_eq!(events.remove(0).unwrap(), kept());
    assert_eq!((model(&events).as_deref(), starts(&events)), (Some("second"), 1));

    // The handle does not wait for the first text.
    let thinking = ScriptedProvider::new().turn(Turn::event(kept()).then(Turn::pending()));
    let mut answer = Fallback::new(thinking).or(answering("second")).stream(question());
    let first = tokio::time::timeout(Duration::from_secs(5), answer.next()).await.unwrap();
    assert_eq!(first.unwrap().unwrap(), kept());
}

#[tokio::test]
async fn after_a_visible_event_the_chain_does_not_switch() {
    for visible in [
        text("I was say"),
        Turn::reasoning("Hm"),
        Turn::truncated_call("look", "{"),
        Turn::finish(omniassist_server::core::FinishReason::Stop).then(text("")),
    ] {
        let spare = answering("spare");
        let first = ScriptedProvider::new().with_model("first").turn(visible.then(Turn::interrupted()));
        let events = ask(&Fallback::new(first).or(spare.clone())).await;
        assert_eq!(model(&events).as_deref(), Some("first"));
        let error = events.last().unwrap().as_ref().unwrap_err();
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Interrupted));
        assert_eq!(spare.payloads().len(), 0);
    }
}

#[tokio::test]
async fn the_last_error_contains_the_earlier_errors() {
    let io = std::io::Error::other("the wire is cut");
    let last = Error::provider(ProviderErrorKind::Connect).with_source(io).with_status(503);
    let switches = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&switches);
    let chain = Fallback::new(failing(ProviderErrorKind::RateLimited))
        .or(failing(ProviderErrorKind::Timeout))
        .or(ScriptedProvider::new().turn(Turn::error(last)))
        .on_switch(move |switch| {
            let (from, to) = (switch.from().to_owned(), switch.to().to_owned());
            heard.lock().unwrap().push((from, to, switch.error().provider_kind().unwrap()));
        });
    let events = ask(&chain).await;
    let error = events.last().unwrap().as_ref().unwrap_err();
    assert_eq!((error.provider_kind(), error.status()), (Some(ProviderErrorKind::Connect), Some(503)));
    let earlier = error.source().unwrap();
    assert_eq!(
        earlier.to_string(),
        "providers asked before failed too: scripted: the model provider's rate limit or quota is used up; \
         scripted: the model provider took too long"
    );
    assert_eq!(earlier.source().unwrap().to_string(), "the wire is cut");
    let name = || "scripted".to_owned();
    assert_eq!(
        *switches.lock().unwrap(),
        [(name(), name(), ProviderErrorKind::RateLimited), (name(), name(), ProviderErrorKind::Timeout)]
    );
    assert_eq!(events.iter().filter(|event| event.is_err()).count(), 1);
}

#[tokio::test]
async fn every_provider_receives_the_same_payload() {
    let (first, second) = (failing(ProviderErrorKind::Unavailable), answering("second"));
    let mut payload = question();
    payload.system = Some("Be brief.".into());
    let chain = Fallback::new(first.clone()).or(second.clone());
    let _: Vec<_> = chain.stream(payload.clone()).collect().await;
    for provider in [first, second] {
        let asked = provider.payloads();
        assert_eq!(format!("{:?}", asked[0]), format!("{payload:?}"));
        assert!(Arc::ptr_eq(&asked[0].transcript, &payload.transcript));
    }
}

#[tokio::test]
async fn a_start_without_a_model_names_the_model_of_its_provider() {
    struct Nameless;
    impl LlmProvider for Nameless {
        fn name(&self) -> &str {
            "nameless"
        }
        fn model(&self) -> Option<&str> {
            Some("house-model")
        }
        fn stream(&self, _: LlmPayload) -> omniassist_server::LlmStream {
            Box::pin(futures_util::stream::iter([
                Ok(LlmEvent::Start { id: None, model: None }),
                Ok(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }),
            ]))
        }
    }
    let chain = Fallback::new(failing(ProviderErrorKind::Connect)).or(Nameless);
    assert_eq!(chain.name(), "scripted|nameless");
    assert_eq!(model(&ask(&chain).await).as_deref(), Some("house-model"));
}

#[tokio::test]
async fn a_bounded_number_of_silent_events_is_held_back() {
    let usage = || Ok(LlmEvent::Usage(Usage::default()));
    let chatty = provider::from_fn("chatty", move |_| {
        futures_util::stream::iter((0..200).map(move |_| usage())).chain(futures_util::stream::pending())
    });
    let mut stream = Fallback::new(chatty).or(answering("spare")).stream(question());
    assert!(tokio::time::timeout(Duration::from_secs(5), stream.next()).await.unwrap().unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_closes_the_active_provider() {
    let (silent, spare) = (ScriptedProvider::new().turn(Turn::pending()), answering("spare"));
    let chain = Fallback::new(failing(ProviderErrorKind::Connect)).or(silent.clone()).or(spare.clone());
    let mut stream = chain.stream(question());
    assert_eq!(silent.payloads().len(), 0, "no request may be sent before the stream is polled");
    assert!(tokio::time::timeout(Duration::from_millis(50), stream.next()).await.is_err());
    drop(stream);
    assert_eq!((silent.drops(), spare.payloads().len()), (1, 0));
}

#[tokio::test]
async fn chains_can_be_nested() {
    let inner =
        Fallback::new(failing(ProviderErrorKind::Connect)).or(failing(ProviderErrorKind::Unavailable));
    let outer = Fallback::new(inner).or(answering("outer"));
    assert_eq!(outer.name(), "scripted|scripted|scripted");
    assert_eq!(model(&ask(&outer).await).as_deref(), Some("outer"));
}

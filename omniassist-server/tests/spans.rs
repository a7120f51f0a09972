//! A subscriber that keeps every span and event, for tests to look at.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The subscriber's id, unique while the span is open.
    id: u64,
    pub(crate) parent: Option<usize>,
    pub(crate) name: &'static str,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) closed: bool,
}

impl Seen {
    pub(crate) fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }
}

#[derive(Debug, Default)]
struct State {
    spans: Vec<Seen>,
    events: Vec<(Option<usize>, BTreeMap<String, String>)>,
    calls: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<State>>);

impl Recorder {
    /// Records all spans and events of this thread until the guard is dropped.
    pub(crate) fn install() -> (Self, DefaultGuard) {
        // While there is only one subscriber, `tracing` caches the interest of the current thread's subscriber in a
        // call site for all threads, so a test on another thread could disable the call site.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(tracing_subscriber::registry()));
        let recorder = Self::default();
        let subscriber = tracing_subscriber::registry().with(recorder.clone());
        (recorder, tracing::subscriber::set_default(subscriber))
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the spans, oldest first.
    pub(crate) fn spans(&self) -> Vec<Seen> {
        self.with(|state| state.spans.clone())
    }

    /// Returns the spans with this name and their indices.
    pub(crate) fn named(&self, name: &str) -> Vec<(usize, Seen)> {
        self.spans().into_iter().enumerate().filter(|(_, span)| span.name == name).collect()
    }

    /// Returns the index of the span that contains the event with this message.
    pub(crate) fn span_of_event(&self, message: &str) -> Option<usize> {
        self.with(|state| {
            let event = state
                .events
                .iter()
                .find(|(_, fields)| fields.get("message").is_some_and(|found| found.contains(message)));
            event.and_then(|(span, _)| *span)
        })
    }

    /// Returns the fields of the events whose message contains this text.
    pub(crate) fn events_saying(&self, message: &str) -> Vec<BTreeMap<String, String>> {
        let says = |fields: &BTreeMap<String, String>| {
            fields.get("message").is_some_and(|found| found.contains(message))
        };
        self.with(|state| {
            state.events.iter().map(|(_, fields)| fields).filter(|fields| says(fields)).cloned().collect()
        })
    }

    /// Returns the number of spans, events and records. Entering a span does not count.
    pub(crate) fn calls(&self) -> usize {
        self.with(|state| state.calls)
    }

    /// Returns the whole recording as text.
    pub(crate) fn text(&self) -> String {
        self.with(|state| format!("{:?} {:?}", state.spans, state.events))
    }
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = format!("{value} {value:?}");
        let mut source = value.source();
        while let Some(error) = source {
            text.push_str(&format!(": {error} {error:?}"));
            source = error.source();
        }
        self.0.insert(field.name().to_owned(), text);
    }
}

impl State {
    fn open(&self, id: &Id) -> Option<usize> {
        self.spans.iter().rposition(|span| span.id == id.into_u64() && !span.closed)
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.id());
        self.with(|state| {
            let parent = parent.and_then(|parent| state.open(&parent));
            let mut fields = BTreeMap::new();
            attributes.record(&mut Fields(&mut fields));
            let name = attributes.metadata().name();
            state.spans.push(Seen { id: id.into_u64(), parent, name, fields, closed: false });
            state.calls += 1;
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.with(|state| {
            let index = state.open(id).expect("an open span");
            values.record(&mut Fields(&mut state.spans[index].fields));
            state.calls += 1;
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let span = context.event_span(event).map(|span| span.id());
        self.with(|state| {
            let span = span.and_then(|span| state.open(&span));
            let mut fields = BTreeMap::new();
            event.record(&mut Fields(&mut fields));
            state.events.push((span, fields));
            state.calls += 1;
        });
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.with(|state| {
            let index = state.open(&id).expect("an open span");
            state.spans[index].closed = true;
        });
    }
}

//! From `tracing` spans to an OTLP collector.

use std::error::Error;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// The way of spans to the collector. Spans are collected and sent from a thread of the exporter's own.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Sends to this URL, or to where the `OTEL_EXPORTER_OTLP_*` variables say.
    pub(crate) fn new(url: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let mut exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
        if let Some(url) = url {
            exporter = exporter.with_endpoint(url);
        }
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter.build()?).build();
        Ok(Self { provider })
    }

    /// The layer that turns spans of `tracing` into spans of OpenTelemetry. The exporter's own HTTP client is kept
    /// out: its spans would be exported, by requests that make spans.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let targets = tracing_subscriber::filter::Targets::new()
            .with_default(LevelFilter::INFO)
            .with_target("hyper", LevelFilter::OFF)
            .with_target("reqwest", LevelFilter::OFF)
            .with_target("opentelemetry", LevelFilter::OFF);
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("otlp-example")).with_filter(targets)
    }

    /// Sends what is left. Blocks until the collector has it.
    pub(crate) fn shutdown(&self) -> OTelSdkResult {
        self.provider.shutdown()
    }
}

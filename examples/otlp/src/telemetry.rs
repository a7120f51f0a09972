//! Exports `tracing` spans to an OTLP collector.

use std::error::Error;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// The exporter of spans. It collects and sends them on its own thread.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Sends to this URL, or to the URL of the `OTEL_EXPORTER_OTLP_*` variables.
    pub(crate) fn new(url: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let mut exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
        if let Some(url) = url {
            exporter = exporter.with_endpoint(url);
        }
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter.build()?).build();
        Ok(Self { provider })
    }

    /// Returns the layer that turns spans of `tracing` into spans of OpenTelemetry. It ignores the HTTP client of the
    /// exporter: exporting its spans would create new spans.
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

    /// Sends the remaining spans. Blocks until the collector has them.
    pub(crate) fn shutdown(&self) -> OTelSdkResult {
        self.provider.shutdown()
    }
}

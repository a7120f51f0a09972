//! The TLS of connections.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Failure;

/// Returns a connector that verifies certificates as the system does.
pub(super) fn connector() -> Result<MakeRustlsConnect, Failure> {
    let provider = CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(provider()));
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| Failure::Invalid(format!("the settings of TLS: {error}")))?;
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

#[cfg(feature = "tls-aws-lc")]
fn provider() -> CryptoProvider {
    rustls::crypto::aws_lc_rs::default_provider()
}

#[cfg(not(feature = "tls-aws-lc"))]
fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

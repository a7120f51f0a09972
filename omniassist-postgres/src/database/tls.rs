//! The TLS of connections.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Failure;

/// Returns a connector that verifies certificates as the system does. The certificates of the PEM texts are trusted too.
pub(super) fn connector(pems: &[Vec<u8>]) -> Result<MakeRustlsConnect, Failure> {
    let provider = CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(provider()));
    let unusable = |error| Failure::Invalid(format!("the settings of TLS: {error}"));
    let verifier =
        Verifier::new_with_extra_roots(certificates(pems)?, Arc::clone(&provider)).map_err(unusable)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        // The method checks chains and names as rustls does. It is called dangerous because others may not.
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// Reads PEM texts. Each must hold at least one certificate.
fn certificates(pems: &[Vec<u8>]) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let mut all = Vec::new();
    for pem in pems {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        match read {
            Ok(read) if !read.is_empty() => all.extend(read),
            _ => {
                let reason = "`root_certificate`: the text has no certificate in PEM form";
                return Err(Failure::Invalid(reason.to_owned()));
            }
        }
    }
    Ok(all)
}

#[cfg(feature = "tls-aws-lc")]
fn provider() -> CryptoProvider {
    rustls::crypto::aws_lc_rs::default_provider()
}

#[cfg(not(feature = "tls-aws-lc"))]
fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

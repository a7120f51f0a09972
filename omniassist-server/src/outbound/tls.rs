//! The TLS of connections to other servers. The crate's features `tls-aws-lc`, `tls-ring` and `native-tls` choose it.

#[cfg(feature = "__tls")]
pub(crate) use self::with_tls::Roots;
#[cfg(not(feature = "__tls"))]
pub(crate) use self::without_tls::Roots;

#[cfg(feature = "__tls")]
mod with_tls {
    use crate::{Error, Result};

    /// Root certificates that are trusted in addition to those of the system.
    #[derive(Clone)]
    pub(crate) struct Roots(Vec<reqwest::Certificate>);

    impl Roots {
        /// Reads PEM texts. Each must hold at least one certificate.
        pub(crate) fn read(pems: &[Vec<u8>], _https: bool) -> Result<Self> {
            let invalid =
                || Error::configuration("`root_certificate`: the text has no certificate in PEM form");
            let mut roots = Vec::new();
            for pem in pems {
                match reqwest::Certificate::from_pem_bundle(pem) {
                    Ok(certificates) if certificates.is_empty() => return Err(invalid()),
                    Ok(mut certificates) => roots.append(&mut certificates),
                    Err(error) => return Err(invalid().with_source(error.without_url())),
                }
            }
            Ok(Self(roots))
        }

        pub(crate) fn add_to(&self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
            // Without aws-lc, reqwest has no default and panics if the process has no default either.
            #[cfg(all(feature = "tls-ring", not(feature = "tls-aws-lc")))]
            if rustls::crypto::CryptoProvider::get_default().is_none() {
                // This fails only if another thread has set a default meanwhile, which can be used too.
                let _ = rustls::crypto::ring::default_provider().install_default();
            }
            client.tls_certs_merge(self.0.iter().cloned())
        }
    }
}

// The tests of a build with TLS cover it too.
#[cfg(any(test, not(feature = "__tls")))]
#[cfg_attr(feature = "__tls", allow(dead_code, reason = "only its errors are tested"))]
mod without_tls {
    use crate::{Error, Result};

    /// The placeholder for root certificates in a build without TLS.
    #[derive(Clone)]
    pub(crate) struct Roots;

    impl Roots {
        /// Returns an error for settings that need TLS.
        pub(crate) fn read(pems: &[Vec<u8>], https: bool) -> Result<Self> {
            const ENABLE: &str =
                "this build has no TLS: enable the feature `tls-aws-lc`, `tls-ring` or `native-tls`";
            if https {
                return Err(Error::configuration(format!("`base_url` begins with https://, but {ENABLE}")));
            }
            if !pems.is_empty() {
                return Err(Error::configuration(format!("`root_certificate` needs TLS, but {ENABLE}")));
            }
            Ok(Self)
        }

        #[expect(clippy::unused_self, reason = "the same method as with TLS")]
        pub(crate) fn add_to(&self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
            client
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_tls::Roots;

    #[test]
    fn https_without_tls_names_the_features() {
        assert!(Roots::read(&[], false).is_ok());
        for refused in [Roots::read(&[], true), Roots::read(&[b"pem".to_vec()], false)] {
            let error = refused.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("`tls-aws-lc`, `tls-ring` or `native-tls`"), "{error}");
        }
    }
}

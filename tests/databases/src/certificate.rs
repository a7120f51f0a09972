use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::server::User;

/// The certificate of a server, and the root certificate of its authority. All are PEM texts.
#[derive(Debug)]
pub struct Certificate {
    root: String,
    certificate: String,
    key: String,
}

impl Certificate {
    /// Creates an authority and a certificate for a host that it has signed.
    #[must_use]
    pub fn for_host(host: &str) -> Self {
        let mut authority = CertificateParams::new([]).unwrap();
        authority.distinguished_name.push(DnType::CommonName, "Test authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new([host.to_owned()]).unwrap();
        let certificate = server.signed_by(&key, &authority).unwrap();
        Self { root: authority.pem(), certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Returns the root certificate, which clients trust.
    #[must_use]
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Writes `server.crt` and `server.key`, which only the user can read.
    pub(crate) fn write(&self, folder: &Path, user: Option<User>) {
        for (name, text) in [("server.crt", &self.certificate), ("server.key", &self.key)] {
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            if let Some(user) = user {
                chown(&path, Some(user.uid), Some(user.gid)).unwrap();
            }
        }
    }
}

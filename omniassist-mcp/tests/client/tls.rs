//! A server with a certificate of the host's own authority.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use omniassist_mcp::client::McpServer;
use omniassist_server::outbound::OutboundPolicy;
use omniassist_server::tool::source::SourceState;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::http_server::{HttpServer, Lost};
use super::protocol::Protocol;
use super::{Desk, open};

const NAME: &str = "docs.test";

/// Returns a server's side of TLS, and the text of the certificate that it is trusted with.
fn acceptor() -> (TlsAcceptor, String) {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([NAME.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), authority.pem())
}

#[tokio::test]
async fn a_server_is_trusted_with_a_certificate_of_its_policy() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let (acceptor, pem) = acceptor();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut server = TcpStream::connect(&address).await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
            });
        }
    });
    let policy = || {
        OutboundPolicy::new()
            .allow_internal_host(NAME)
            .allow_port(port)
            .resolver(async |_| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]))
    };
    let desk = |policy: OutboundPolicy| {
        Desk::new([open(McpServer::http("docs", format!("https://{NAME}:{port}/mcp"))).outbound(policy)])
    };
    let trusting = desk(policy().root_certificate(pem)).ready().await;
    assert!(trusting.call("docs_look").await.to_string().contains("look ran"));
    for (policy, reason) in
        [(policy(), "certificate"), (policy().root_certificate("none"), "not in PEM form")]
    {
        let desk = desk(policy);
        let is_refused = |desk: &Desk| {
            let sources = desk.assistant.tools().sources();
            matches!(&sources[0].state, SourceState::Unavailable { reason: said } if said.contains(reason))
        };
        desk.until(is_refused).await;
    }
}

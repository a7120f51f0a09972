//! Encrypted connections to a real server, whose certificate is signed by a private authority.

use http::Extensions;
use omniassist_redis::{Redis, RedisRateLimit};
use omniassist_server::Principal;
use omniassist_server::core::RunRequest;
use omniassist_server::throttle::{Attempt, RateDecision, RateLimit};
use omniassist_test_databases::{Certificate, Redis as Server};

async fn decision(redis: &Redis) -> Result<RateDecision, String> {
    let (principal, extensions) = (Principal::new("ada"), Extensions::new());
    let request = RunRequest::new(Vec::new());
    let attempt = Attempt::new(&principal, &request, &extensions);
    let limit = RedisRateLimit::per_second(redis, "runs", 1).burst(1);
    limit.check(&attempt).await.map_err(|error| format!("{error:?}"))
}

#[tokio::test]
async fn a_server_with_a_trusted_certificate_is_used() {
    let certificate = Certificate::for_host("127.0.0.1");
    let server = Server::start_with_tls(&certificate);
    let redis = Redis::connect_with_root_certificate(&server.url(), certificate.root()).unwrap();
    assert!(matches!(decision(&redis).await, Ok(RateDecision::Allow)));
    assert!(!matches!(decision(&redis).await, Ok(RateDecision::Allow)), "the server counts");
}

#[tokio::test]
async fn a_certificate_that_nothing_vouches_for_is_refused() {
    let server = Server::start_with_tls(&Certificate::for_host("127.0.0.1"));
    let trusting_another =
        Redis::connect_with_root_certificate(&server.url(), Certificate::for_host("127.0.0.1").root())
            .unwrap();
    for redis in [Redis::connect(&server.url()).unwrap(), trusting_another] {
        let decided = decision(&redis).await;
        assert!(!matches!(decided, Ok(RateDecision::Allow)), "{decided:?}");
    }
}

#[test]
fn a_root_certificate_without_use_is_refused() {
    let root = Certificate::for_host("127.0.0.1");
    let plain = Redis::connect_with_root_certificate("redis://127.0.0.1", root.root()).unwrap_err();
    assert!(plain.is_invalid() && format!("{plain:?}").contains("rediss"), "{plain:?}");
    let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    let broken = Redis::connect_with_root_certificate("rediss://127.0.0.1", broken).unwrap_err();
    assert!(broken.is_invalid(), "{broken:?}");
}

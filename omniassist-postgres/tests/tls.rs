//! Encrypted connections to a real server, whose certificate is signed by a private authority.

use std::time::Duration;

use omniassist_postgres::PostgresStore;
use omniassist_server::store::{Change, ConversationStore, Saved, Scope, StoreError, StoredMessage};
use omniassist_test_databases::{Certificate, Postgres};

async fn connect(url: &str, roots: &[&str]) -> Result<PostgresStore, StoreError> {
    let mut options = PostgresStore::options().connect_timeout(Duration::from_secs(30));
    for root in roots {
        options = options.root_certificate(*root);
    }
    options.connect(url).await
}

#[tokio::test]
async fn every_connection_is_encrypted() {
    let certificate = Certificate::for_host("127.0.0.1");
    let server = Postgres::start_with_tls(&certificate);
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("{}?sslmode={mode}", server.create_database());
        let store = connect(&url, &[certificate.root()]).await.unwrap();
        let change = Change::messages([StoredMessage::new("u1", None, "Hello")]);
        assert_eq!(store.save(&Scope::new("alice"), "c", &change).await.unwrap(), Saved::Version(1));
        let encrypted =
            "select bool_and(s.ssl), count(*) > 1 from pg_stat_ssl s join pg_stat_activity a using (pid)
             where a.application_name = 'omniassist' and a.datname = current_database()";
        let database = url.rsplit_once('/').unwrap().1.split('?').next().unwrap();
        assert_eq!(server.execute(database, encrypted), "t|t", "{mode}");
    }
}

#[tokio::test]
async fn a_certificate_that_nothing_vouches_for_is_refused() {
    let certificate = Certificate::for_host("127.0.0.1");
    let server = Postgres::start_with_tls(&certificate);
    let url = format!("{}?sslmode=require", server.create_database());
    for roots in [&[][..], &[Certificate::for_host("127.0.0.1").root()]] {
        let refused = connect(&url, roots).await.unwrap_err();
        assert!(refused.is_unavailable(), "{refused:?}");
        assert!(format!("{refused:?}").contains("InvalidCertificate"), "{refused:?}");
    }

    let elsewhere = Certificate::for_host("db.example");
    let server = Postgres::start_with_tls(&elsewhere);
    let url = format!("{}?sslmode=require", server.create_database());
    let refused = connect(&url, &[elsewhere.root()]).await.unwrap_err();
    assert!(format!("{refused:?}").contains("NotValidForName"), "{refused:?}");
}

#[tokio::test]
async fn a_root_certificate_without_use_is_refused() {
    let refused = connect("postgres://app@127.0.0.1/app?sslmode=require", &["not a certificate"]).await;
    let refused = refused.unwrap_err();
    assert!(refused.is_invalid() && format!("{refused:?}").contains("`root_certificate`"), "{refused:?}");
    let plain = connect("postgres://app@127.0.0.1/app", &[Certificate::for_host("127.0.0.1").root()])
        .await
        .unwrap_err();
    assert!(plain.is_invalid() && format!("{plain:?}").contains("sslmode=require"), "{plain:?}");
}

//! Schemas and their versions.

use futures_util::future::join_all;
use omniassist_postgres::PostgresStore;
use omniassist_server::store::{Change, ConversationStore, Page, Saved, Scope, StoredMessage, Window};
use omniassist_test_databases::Postgres;

use crate::database::{connect, connect_at, execute, new_schema, shared};

async fn save(store: &PostgresStore, title: &str) -> Saved {
    let mut change = Change::messages([StoredMessage::new("u1", None, "Hello")]);
    change.title = Some(title.into());
    store.save(&Scope::new("alice"), "c", &change).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_servers_start_at_once() {
    let schema = new_schema();
    let stores = join_all((0..8).map(|_| connect(&schema))).await;
    assert_eq!(execute(&schema, "select count(*), max(version) from schema_version"), "2|2");
    assert_eq!(save(&stores[7], "").await, Saved::Version(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_servers_start_at_once_whatever_the_isolation_of_the_database() {
    let url = Postgres::shared().create_database();
    let database = url.rsplit_once('/').unwrap().1;
    for isolation in ["repeatable read", "serializable"] {
        let set = format!("alter database {database} set default_transaction_isolation = '{isolation}'");
        Postgres::shared().execute("postgres", &set);
        let stores = join_all((0..8).map(|_| connect_at(&url, isolation))).await;
        assert_eq!(save(&stores[7], "").await, Saved::Version(1));
    }
}

#[tokio::test]
async fn the_default_schema_has_the_name_of_the_project() {
    let url = Postgres::shared().create_database();
    let store = PostgresStore::connect(&url).await.unwrap();
    assert_eq!(save(&store, "").await, Saved::Version(1));
    let database = url.rsplit_once('/').unwrap().1;
    assert_eq!(Postgres::shared().execute(database, "select chat from omniassist.conversation"), "c");
}

#[tokio::test]
async fn tables_of_a_newer_version_are_used_until_they_lack_something() {
    let schema = new_schema();
    drop(connect(&schema).await);
    execute(&schema, "insert into schema_version (version) values (99)");
    assert_eq!(save(&connect(&schema).await, "").await, Saved::Version(1));
    execute(&schema, "update schema_version set usable_from = 3 where version = 99");
    let refused = PostgresStore::options().schema(schema.as_str()).connect(shared()).await.unwrap_err();
    assert!(refused.is_incompatible(), "{refused:?}");
}

#[tokio::test]
async fn tables_of_another_program_are_refused() {
    let schema = new_schema();
    Postgres::shared().execute(
        shared().rsplit_once('/').unwrap().1,
        &format!("create schema \"{schema}\"; create table \"{schema}\".run (id int)"),
    );
    let refused = PostgresStore::options().schema(schema.as_str()).connect(shared()).await.unwrap_err();
    assert!(refused.is_incompatible(), "{refused:?}");
    assert_eq!(execute(&schema, "select to_regclass('conversation') is null"), "t", "nothing was created");
}

#[tokio::test]
async fn a_user_without_rights_connects_to_migrated_tables() {
    let (schema, postgres) = (new_schema(), Postgres::shared());
    let database = shared().rsplit_once('/').unwrap().1;
    postgres.execute("postgres", "create role app login");
    let options = PostgresStore::options().schema(schema.as_str());
    let as_app = shared().replacen("postgres@", "app@", 1);
    assert!(options.connect(&as_app).await.unwrap_err().is_read_only(), "it may not create the schema");

    for migration in options.migrations() {
        postgres.execute(database, &migration);
    }
    let grant = format!(
        "grant usage on schema \"{schema}\" to app;
         grant select, insert, update, delete on all tables in schema \"{schema}\" to app"
    );
    postgres.execute(database, &grant);
    let store = options.connect(&as_app).await.unwrap();
    assert_eq!(save(&store, "").await, Saved::Version(1));
    assert!(PostgresStore::migrations()[0].starts_with("create schema if not exists \"omniassist\";"));
}

#[tokio::test]
async fn every_text_comes_back() {
    let store = connect(&new_schema()).await;
    let title = "a\0b\u{1A}0 \u{10FFFF}";
    assert_eq!(save(&store, title).await, Saved::Version(1));
    let loaded = store.load(&Scope::new("alice"), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(loaded.info.title.as_deref(), Some(title));
}

#[tokio::test]
async fn settings_that_are_not_valid_are_told() {
    let too_long = "x".repeat(64);
    for schema in ["", "a\"b", "a'b", &too_long] {
        let refused = PostgresStore::options().schema(schema).connect(shared()).await.unwrap_err();
        assert!(refused.is_invalid(), "{schema}: {refused:?}");
    }
    for url in ["", "no url", "postgres://host/db?sslmode=never"] {
        assert!(PostgresStore::connect(url).await.unwrap_err().is_invalid(), "{url}");
    }
    // The server of the tests has no TLS.
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("{}?sslmode={mode}", shared());
        let refused = PostgresStore::connect(&url).await.unwrap_err();
        assert!(refused.is_unavailable(), "{mode}: {refused:?}");
    }
}

#[test]
fn the_settings_show_no_password() {
    let options = PostgresStore::options().schema("chat").listener_url("postgres://app:secret@db/app");
    let shown = format!("{options:?}");
    assert!(shown.contains("chat") && !shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn a_cursor_of_a_time_that_the_database_does_not_have_is_invalid() {
    let store = connect(&new_schema()).await;
    for cursor in ["9300000000000000000.1", "18446744073709551615.1"] {
        let mut page = Page::first(9);
        page.cursor = Some(cursor.into());
        let refused = store.list(&Scope::new("alice"), &page).await.unwrap_err();
        assert!(refused.is_invalid(), "{cursor}: {refused:?}");
    }
}

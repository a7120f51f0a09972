//! The text of users and models is in no byte of the files, while it is stored.

use std::fs;
use std::path::Path;
use std::time::Duration;

use omniassist_server::encryption::Encrypted;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Approval, Assistant, Principal, Tool, ToolError};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::json;
use tokio::time::sleep;

use super::new_keys;
use crate::folder::Folder;
use crate::forgotten::{CANARY, count, hits, post, send};

/// Returns the number of occurrences in all files of the folder, as they are now.
fn hits_in_log(path: &Path) -> usize {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    files.map(|file| count(&fs::read(file.unwrap().path()).unwrap_or_default())).sum()
}

fn rows(path: &Path, table: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_is_in_the_files() {
    let folder = Folder::new();
    let path = folder.path();
    let argument = || json!({ "order": CANARY });
    let model = ScriptedProvider::new()
        .turn(call("find", argument()))
        .turn(text(CANARY))
        .turn(call("refund", argument()))
        .turn(Turn::text(CANARY).then(Turn::pending()));
    let find = Tool::new("find", "Finds an order", || async { Ok::<_, ToolError>(CANARY) });
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>(CANARY) })
        .requires_approval(Approval::always());
    let store = Encrypted::new(SqliteStore::open(&path).unwrap(), new_keys());
    let assistant = Assistant::builder(model.clone()).tool(find).tool(refund).store(store).build().unwrap();
    for chat in ["ended", "waiting"] {
        send(&assistant, chat).await;
    }
    let mut live = post(&assistant, "live").await;
    let _ = http_body_util::BodyExt::frame(&mut live).await;
    // The text of the last one is written within 100 ms.
    sleep(Duration::from_millis(300)).await;

    for (table, least) in [("message", 4), ("segment", 5), ("obligation", 1), ("run", 3)] {
        assert!(rows(&path, table) >= least, "{table}: {}", rows(&path, table));
    }
    assert_eq!(hits_in_log(&path), 0);
    assert_eq!(hits(&path), 0);

    // The owner reads all of it.
    let conversations = assistant.conversations().unwrap();
    let user = Principal::new("ada");
    let listing = conversations.list(&user, &omniassist_server::store::Page::first(9)).await.unwrap();
    let titles: Vec<_> = listing.conversations.iter().map(|info| info.title.as_deref().unwrap()).collect();
    assert!(titles.len() == 3 && titles.iter().all(|title| title.contains(CANARY)), "{titles:?}");
    let loaded = conversations.load(&user, "ended", &Default::default()).await.unwrap().unwrap();
    assert!(format!("{:?}", loaded.messages.last().unwrap()).contains(CANARY));

    // A forgotten user leaves no data key.
    let wrapped: Vec<Vec<u8>> = {
        let connection = Connection::open(&path).unwrap();
        let mut query = connection.prepare("select key from conversation").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(wrapped.len(), 3);
    assert_eq!(conversations.forget(&user).await.unwrap(), 3);
    sleep(Duration::from_millis(300)).await;
    assert_eq!(hits(&path), 0, "and the log is written to the file");
    for file in fs::read_dir(folder.folder()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap_or_default();
        for key in &wrapped {
            assert!(!bytes.windows(key.len()).any(|window| window == key), "a data key is left");
        }
    }
}

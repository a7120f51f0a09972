//! Tests of agents in files.

use std::fs;
use std::path::PathBuf;

use omniassist_server::agent_config::FileAgents;

use super::*;

/// A folder that is deleted at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("omniassist-agents-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

const SALES: &str = r#"
version = 2
name = "Sales"
description = "Sells lamps."
prompt = """
You sell for {{shop}}."""
tools = ["discount"]
delegates = ["stock"]
maxSteps = 4
"#;

const STOCK: &str = r#"{ "description": "Counts.", "prompt": "You count.", "tools": ["count"], "internal": true,
    "budget": { "tokens": 9000, "modelCalls": 3, "seconds": 60 } }"#;

#[tokio::test]
async fn agents_are_files() {
    let folder = Folder::new("are");
    folder.write("sales.toml", SALES);
    folder.write("stock.json", STOCK);
    folder.write("notes.md", "no agent");
    folder.write("a b.toml", "no agent");
    fs::create_dir(folder.0.join("old")).unwrap();
    let model = ScriptedProvider::new().turn(call("stock", json!({ "task": "Count" })));
    let model = model.turn(text("Seven.")).turn(text("There are seven.")).otherwise(|_| text("Hello"));
    let assistant = assistant_of(&model, catalog(FileAgents::new(&folder.0)), &Told::default());
    let (status, answer) = run(&assistant, "ada", "sales").await;
    assert!(status == StatusCode::OK && answer.contains("There are seven."), "{status} {answer}");
    let tools = vec!["discount".to_owned(), "stock".to_owned()];
    assert_eq!(last_call(&model), ("You sell for Lamps Ltd..".into(), None, tools));
    assert_eq!(model.payloads()[1].system.as_deref(), Some("You count."));

    // All users have the same agents. An internal one is for other agents only.
    assert_eq!(run(&assistant, "bob", "sales").await.0, StatusCode::OK);
    let unknown = run(&assistant, "bob", "nobody").await;
    for name in ["stock", "notes", "old", "Sales", "sales.toml", "%2E%2E%2Fsales"] {
        assert_eq!(run(&assistant, "bob", name).await, unknown, "{name}");
    }
    let listed = json!([{ "id": "sales", "name": "Sales", "description": "Sells lamps." }]);
    assert_eq!(get(&assistant, "bob", "/agents").await["agents"], listed);
}

/// Good, bad and good again, with a list that stays.
#[tokio::test]
async fn a_changed_file_is_read_again_and_a_bad_one_keeps_the_last_good_version() {
    let folder = Folder::new("changed");
    let write =
        |prompt: &str| folder.write("sales.toml", &format!("description = 'Sells.'\nprompt = '{prompt}'"));
    write("Old.");
    let (model, told) = (answering(), Told::default());
    let catalog = catalog(FileAgents::new(&folder.0)).ttl(Duration::ZERO);
    let assistant = assistant_of(&model, catalog, &told);
    let prompt = async || {
        assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
        last_call(&model).0
    };
    let listed = async || get(&assistant, "ada", "/agents").await["agents"].as_array().unwrap().len();
    assert_eq!((prompt().await, listed().await), ("Old.".into(), 1));
    // The same length, and perhaps the same time of modification.
    write("New.");
    assert_eq!(prompt().await, "New.");

    for (bad, reason) in [
        ("description = ", "sales.toml: the text cannot be read: "),
        ("description = 'Sells.'\npromt = 'x'", "sales.toml: promt: this key has no meaning"),
        ("description = 'Sells.'\ntools = ['discont']", "sales.toml: tools[0]: there is no tool \"discont\""),
        (
            "description = 'Sells.'\n[budget]\ntokens = 0",
            "sales.toml: budget.tokens: the value does not fit: ",
        ),
        ("id = 'other'\ndescription = 'Sells.'", "id: the configuration of \"sales\" has another id"),
    ] {
        folder.write("sales.toml", bad);
        assert_eq!((prompt().await, listed().await), ("New.".into(), 1), "{bad}");
        let error = told.only();
        assert!(error.contains(reason), "{error}");
    }
    folder.write("sales.json", "{}");
    assert_eq!(prompt().await, "New.");
    assert!(told.only().contains("a TOML file and a JSON file"));
    fs::remove_file(folder.0.join("sales.json")).unwrap();

    write("Best.");
    assert_eq!(prompt().await, "Best.");
    fs::remove_file(folder.0.join("sales.toml")).unwrap();
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::NOT_FOUND);
    assert_eq!(listed().await, 0);
}

#[tokio::test]
async fn a_file_has_at_most_a_mebibyte() {
    let folder = Folder::new("large");
    let (model, told) = (answering(), Told::default());
    let assistant = assistant_of(&model, catalog(FileAgents::new(&folder.0)).ttl(Duration::ZERO), &told);
    let head = "description = 'Sells.'\n#";
    let of = |bytes: usize| format!("{head}{}", "x".repeat(bytes - head.len()));
    folder.write("sales.toml", &of(1024 * 1024));
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
    folder.write("stock.toml", &of(1024 * 1024 + 1));
    assert_eq!(run(&assistant, "ada", "stock").await.0, StatusCode::SERVICE_UNAVAILABLE);
    let error = told.only();
    assert!(error.contains("stock.toml: at most 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn without_its_folder_no_agent_is_available() {
    let (model, told) = (answering(), Told::default());
    let assistant = assistant_of(&model, FileAgents::new("/no/such/folder").into(), &told);
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert!(told.only().starts_with("/no/such/folder: the text cannot be read: "));
}

//! Tests of agents in files.

use std::fs;
use std::path::PathBuf;

use omniassist_server::agent_config::FileAgents;

use super::*;
use crate::tools::log::logged;

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

const SALES_ALONE: &str = "description = 'Sells lamps.'";

const STOCK: &str = r#"{ "description": "Counts.", "prompt": "You count.", "tools": ["count"], "internal": true,
    "budget": { "tokens": 9000, "modelCalls": 3, "seconds": 60 } }"#;

#[tokio::test]
async fn agents_are_files() {
    let folder = Folder::new("are");
    // Some editors begin a file with a byte order mark.
    folder.write("sales.toml", &format!("\u{feff}{SALES}"));
    folder.write("stock.json", &format!("\u{feff}{STOCK}"));
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

/// Without the folder, its agents do not exist. Those of code do, and the log names the folder once.
#[tokio::test]
async fn without_its_folder_there_are_no_agents() {
    let (model, told) = (answering(), Told::default());
    let folder = "no/such/folder";
    let log = logged(async {
        let catalog = AgentCatalog::from(FileAgents::new(folder)).ttl(Duration::ZERO);
        let builder = Assistant::builder(model).agent(Agent::new("clerk", "Looks things up."));
        let assistant = builder.agents(catalog).observe(told.clone()).build().unwrap();
        for _ in 0..3 {
            let (status, body) = run(&assistant, "ada", "sales").await;
            assert!(status == StatusCode::NOT_FOUND && body.contains("agent_not_found"), "{body}");
            assert!(get(&assistant, "ada", "/agents").await.to_string().contains("clerk"));
        }
        // A stored run waits for its agent.
        let error = assistant.agent_for("sales", &Principal::new("ada")).await.unwrap_err();
        assert!(error.is_unavailable());
    })
    .await;
    let absolute = std::path::absolute(folder).unwrap();
    assert_eq!(log.matches(absolute.to_str().unwrap()).count(), 1, "{log}");
    let told = told.0.lock().unwrap();
    assert!(told[0].1.contains("there is no such folder"), "{told:?}");
}

#[tokio::test]
async fn an_agent_outlives_its_folder() {
    let folder = Folder::new("outlives");
    folder.write("sales.toml", SALES_ALONE);
    let assistant =
        assistant_of(&answering(), catalog(FileAgents::new(&folder.0)).ttl(Duration::ZERO), &Told::default());
    let listed = get(&assistant, "ada", "/agents").await;
    fs::remove_dir_all(&folder.0).unwrap();
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
    assert_eq!(get(&assistant, "ada", "/agents").await, listed);
    assert_eq!(run(&assistant, "ada", "stock").await.0, StatusCode::NOT_FOUND);
}

/// Errors are in the log when the assistant is built, and once for each version of a file.
#[tokio::test(start_paused = true)]
async fn a_file_with_an_error_is_logged_once_for_each_version() {
    let folder = Folder::new("logged");
    folder.write("good.toml", SALES_ALONE);
    folder.write("broken.toml", "description = ");
    folder.write("typo.json", r#"{ "description": "Sells.", "tools": ["discont"] }"#);
    folder.write("asks.toml", "description = 'Asks.'\ndelegates = ['nobody', 'broken']");
    let mut assistant = None;
    let built = logged(async {
        let catalog = catalog(FileAgents::new(&folder.0)).ttl(Duration::ZERO);
        assistant = Some(assistant_of(&answering(), catalog, &Told::default()));
    })
    .await;
    let assistant = assistant.unwrap();
    for reason in [
        "broken.toml: the text cannot be read: ",
        "typo.json: tools[0]: there is no tool \"discont\"; there are: count, discount",
        "asks.toml: delegates[0]: there is no agent \"nobody\"; there are: asks, good, typo",
    ] {
        assert_eq!(built.matches(reason).count(), 1, "{built}");
    }
    assert_eq!(built.matches("ERROR").count(), 3, "{built}");

    let use_all = async || {
        for path in ["/agents", "/manifest.json", "/v1/models", "/copilotkit/info"] {
            let listed = get(&assistant, "ada", path).await.to_string();
            assert!(listed.contains("good"), "{path}: {listed}");
            for bad in ["broken", "typo", "asks"] {
                assert!(!listed.contains(bad), "{path}: {listed}");
            }
        }
        for bad in ["broken", "typo", "asks"] {
            let (status, body) = run(&assistant, "ada", bad).await;
            assert!(status == StatusCode::SERVICE_UNAVAILABLE && body.contains("agent_invalid"), "{body}");
            assert!(!body.contains("toml") && !body.contains("discont"), "{body}");
        }
    };
    let again = logged(use_all()).await;
    assert_eq!(again.matches("ERROR").count(), 0, "{again}");
    // New versions with the same error, and with another one.
    folder.write("typo.json", r#"{ "description": "Sells more.", "tools": ["discont"] }"#);
    folder.write("broken.toml", "description = #");
    let changed = logged(async {
        tokio::time::advance(Duration::from_secs(1)).await;
        use_all().await;
        use_all().await;
    })
    .await;
    assert_eq!(changed.matches("ERROR").count(), 2, "{changed}");
}

#[tokio::test]
async fn ignored_files_are_warned_of_once() {
    let folder = Folder::new("ignored");
    folder.write("good.toml", SALES_ALONE);
    folder.write("clerk.toml", SALES_ALONE);
    for ignored in ["notes.yaml", "a b.toml", "stop.json"] {
        folder.write(ignored, "no agent");
    }
    folder.write(".hidden.toml", "no agent");
    fs::create_dir(folder.0.join("archive")).unwrap();
    let log = logged(async {
        let builder = Assistant::builder(answering()).agent(Agent::new("clerk", "Looks things up."));
        let catalog = catalog(FileAgents::new(&folder.0)).ttl(Duration::ZERO);
        let assistant = builder.agents(catalog).build().unwrap();
        for _ in 0..2 {
            get(&assistant, "ada", "/agents").await;
            run(&assistant, "ada", "good").await;
        }
    })
    .await;
    let reason = |name: &str, reason: &str| {
        let lines: Vec<_> = log.lines().filter(|line| line.contains(name) && line.contains("WARN")).collect();
        assert!(matches!(&lines[..], [line] if line.contains(reason)), "{name}: {log}");
    };
    reason("notes.yaml", "does not end with .toml or .json");
    reason("a b.toml", "its name is not 1 to 64 of");
    reason("stop.json", "is default, stop or stream");
    reason("agent=\"clerk\"", "has the name of one in code");
    assert!(!log.contains("hidden") && !log.contains("archive"), "{log}");
}

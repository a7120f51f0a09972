//! The application of README.md is this example, so that it compiles with exactly README's dependencies.

const README: &str = include_str!("../../../README.md");

/// Returns the first code block of README.md with this language.
fn block(language: &str) -> &'static str {
    let start = format!("\n```{language}\n");
    let rest = README.split_once(&start).map(|(_, rest)| rest).unwrap_or_default();
    rest.split_once("\n```\n").map(|(code, _)| code).unwrap_or_default()
}

#[test]
fn readme_lists_the_dependencies_of_this_example() {
    let (_, manifest) = include_str!("../Cargo.toml").split_once("[dependencies]").unwrap();
    let dependencies = |text: &'static str| -> Vec<_> {
        let lines = text.lines().map(|line| line.split(" #").next().unwrap_or_default());
        // This workspace has the crate itself; README has its published version.
        lines.filter(|line| line.contains(" = ") && !line.starts_with("omniassist-axum")).collect()
    };
    assert_eq!(dependencies(block("toml")), dependencies(manifest.split("[lints]").next().unwrap()));
    assert!(block("toml").contains("\nomniassist-axum = "));
}

#[test]
fn readme_shows_the_source_of_this_example() {
    let (_, source) = include_str!("../src/main.rs").split_once("\n\n").unwrap();
    assert_eq!(block("rust,ignore"), source.trim_end());
}

#[test]
fn readme_says_where_the_chat_of_this_example_is() {
    let source = block("rust,ignore");
    for needed in
        [r#"nest_service("/assistant""#, r#"src="/assistant/widget.js""#, "<omniassist-chat ", r#"route("/""#]
    {
        assert!(source.contains(needed), "{needed}");
    }
    let (_, after) = README.split_once(source).unwrap();
    let (_, address) = source.split_once("TcpListener::bind(\"").unwrap();
    let (_, shown) = after.split_once("Open <http://").unwrap();
    assert_eq!(shown.split('>').next(), address.split('"').next());
}

//! Items 21 to 27: the agent.

use omniassist_server::DEFAULT_UI_INSTRUCTIONS;
use omniassist_server::component::Environment;
use omniassist_server::{AssistantBuilder, RunContext, Tool};

use super::*;

/// The text of the document, with a line break at its end.
const INSTRUCTIONS: &str = include_str!("default_ui_instructions.txt");

fn builder(model: &ScriptedProvider) -> AssistantBuilder {
    Assistant::builder(model.clone()).seal_keys(crate::components::keys())
}

fn named(name: &'static str, environment: Environment) -> Component {
    Component::new::<Dashboard>(name, "Shows a dashboard").environment(environment)
}

#[test]
fn contract_002_21_an_agent_needs_an_afs() {
    let model = ScriptedProvider::new();
    let options = || UiAgentOptions::new(builder(&model)).components([dashboard()]);
    for error in [UiAgent::for_web(options()), UiAgent::for_cli(options())].map(Result::unwrap_err) {
        assert_eq!(error.to_string(), "UiAgent requires AFS to be configured for state persistence");
    }
    for afs in [in_memory(), Afs::transcript()] {
        UiAgent::new(Environment::Web, options().afs(afs)).unwrap();
    }
    // All other options are those of an assistant, or have a default.
    UiAgent::for_web(UiAgentOptions::new(builder(&model)).afs(Afs::transcript())).unwrap();
}

#[test]
fn contract_002_22_a_component_of_another_environment_is_skipped_with_a_warning() {
    let (log, _guard) = Log::install();
    let components = [named("Box", Environment::Cli), named("Chart", Environment::Web), dashboard()];
    let options = UiAgentOptions::new(builder(&ScriptedProvider::new())).components(components);
    let agent = UiAgent::for_web(options.afs(in_memory())).unwrap();
    let text = log.text();
    assert!(text.contains("WARN"), "{text}");
    assert!(text.contains("Component Box is for cli but agent is running in web"), "{text}");
    assert_eq!(text.matches("but agent is running in").count(), 1);
    assert_eq!(agent.assistant().tools().names(), ["ui_Chart", "ui_Dashboard"]);
}

#[tokio::test]
async fn contract_002_23_the_instructions_are_joined() {
    assert_eq!(DEFAULT_UI_INSTRUCTIONS, INSTRUCTIONS.trim_end());
    let model = shows_sales();
    let sent = async |options: UiAgentOptions| {
        drop(model.clone().turn(text("There.")));
        ask(&UiAgent::for_web(options.afs(Afs::transcript())).unwrap(), question()).await;
        model.payloads().last().unwrap().system.as_deref().map(str::to_owned)
    };
    let with = |builder: AssistantBuilder| UiAgentOptions::new(builder).components([dashboard()]);
    assert_eq!(sent(with(builder(&model))).await.as_deref(), Some(DEFAULT_UI_INSTRUCTIONS));
    let joined = format!("You sell lamps.\n\n{DEFAULT_UI_INSTRUCTIONS}");
    assert_eq!(sent(with(builder(&model).system_prompt("You sell lamps."))).await, Some(joined));
    let own = with(builder(&model).system_prompt("You sell lamps.")).ui_instructions("Show, do not tell.");
    assert_eq!(sent(own).await.as_deref(), Some("You sell lamps.\n\nShow, do not tell."));
    // A prompt that is made for each run comes first.
    let made = builder(&model).system_prompt(|run: &RunContext| format!("You help {}.", run.principal()));
    assert_eq!(sent(with(made)).await, Some(format!("You help ada.\n\n{DEFAULT_UI_INSTRUCTIONS}")));
    // Without a component, no instructions name one.
    let plain = UiAgentOptions::new(builder(&model).system_prompt("You sell lamps."));
    assert_eq!(sent(plain).await.as_deref(), Some("You sell lamps."));
    assert_eq!(sent(UiAgentOptions::new(builder(&model))).await, None);
    // Nor in a run whose client shows none.
    let agent =
        UiAgent::for_web(with(builder(&model).system_prompt("You sell lamps.")).afs(in_memory())).unwrap();
    let message = json!({ "id": "q", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] });
    drop(model.clone().turn(text("There.")));
    let body = json!({ "id": "d", "messages": [message], "components": [] });
    crate::components::post_to(agent.assistant(), "ada", "/", &body).await;
    assert_eq!(model.payloads().last().unwrap().system.as_deref(), Some("You sell lamps."));
}

#[tokio::test]
async fn contract_002_24_skills_and_components_are_merged() {
    let model = shows_sales();
    let skill = |name: &'static str| Tool::new(name, "Counts", async || Ok::<_, ToolError>(1));
    let options =
        UiAgentOptions::new(builder(&model)).components([dashboard(), named("Aa", Environment::Web)]);
    let options = options.skills([skill("zebra"), skill("count")]).afs(in_memory());
    ask(&UiAgent::for_web(options).unwrap(), question()).await;
    // By name, so that a provider's cache of the prompt holds whatever the order of their registration.
    let sent = names(&model.payloads()[0].tools);
    assert_eq!(sent, ["count", "ui_Aa", "ui_Dashboard", "zebra"]);
}

#[test]
fn contract_002_25_an_agent_returns_its_components() {
    let components = [named("Box", Environment::Cli), named("Chart", Environment::Web), dashboard()];
    let options = UiAgentOptions::new(builder(&ScriptedProvider::new())).components(components);
    let agent = UiAgent::for_cli(options.afs(in_memory())).unwrap();
    let names: Vec<_> =
        agent.get_components().into_iter().map(|component| component.name().clone()).collect();
    assert_eq!(names, ["Box", "Dashboard"]);
}

#[test]
fn contract_002_26_an_agent_is_made_for_a_terminal_or_a_page() {
    let options = || {
        let components = [named("Box", Environment::Cli), named("Chart", Environment::Web)];
        UiAgentOptions::new(builder(&ScriptedProvider::new())).components(components).afs(in_memory())
    };
    let names = |agent: UiAgent| agent.assistant().tools().names();
    assert_eq!(names(UiAgent::for_cli(options()).unwrap()), ["ui_Box"]);
    assert_eq!(names(UiAgent::for_web(options()).unwrap()), ["ui_Chart"]);
    assert_eq!(names(UiAgent::new(Environment::Cli, options()).unwrap()), ["ui_Box"]);
}

#[tokio::test]
async fn contract_002_27_components_are_tools_of_the_one_registry() {
    let model = shows_sales();
    let agent = web(&model, &in_memory());
    let tools = agent.assistant().tools();
    tools.register(named("Late", Environment::Web).into_tool()).unwrap();
    assert_eq!(tools.names(), ["ui_Dashboard", "ui_Late"]);
    assert!(tools.register(dashboard().into_tool()).is_err(), "a name is taken once");
    assert!(tools.unregister("ui_Dashboard"));
    ask(&agent, question()).await;
    assert_eq!(names(&model.payloads()[0].tools), ["ui_Late"]);
    let assistant: Assistant = agent.into();
    assert_eq!(assistant.tools().names(), ["ui_Late"]);
}

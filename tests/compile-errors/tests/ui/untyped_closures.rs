use omniassist_server::testing::ScriptedProvider;
use omniassist_server::tool::{Tool, ToolError};
use omniassist_server::Assistant;

fn main() {
    let _ = Assistant::builder(ScriptedProvider::new()).system_prompt(|run| format!("You help {}.", run.principal()));
    let _ = Tool::new("echo", "Says it again", async |text| Ok::<_, ToolError>(text));
}

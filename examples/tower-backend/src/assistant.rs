//! The assistant and its tools for the signed-in user.

use omniassist_hyper::{Args, Assistant, Extension, Json, LlmProvider, RunContext, State, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use tasks::{Task, Tasks, User};

pub(crate) fn assistant(model: impl LlmProvider, tasks: Tasks) -> omniassist_hyper::Result<Assistant> {
    Assistant::builder(model)
        .system_prompt(|run: &RunContext| format!("You keep the tasks of {}.", run.principal()))
        .state(tasks)
        .tool(Tool::new("list_tasks", "List the user's tasks", list_tasks))
        .tool(Tool::new("add_task", "Add a task to the user's list", add_task))
        .build()
}

#[derive(Deserialize, JsonSchema)]
struct NewTask {
    /// Description of the task.
    title: String,
}

async fn list_tasks(
    State(tasks): State<Tasks>,
    Extension(user): Extension<User>,
) -> Result<Json<Vec<Task>>, ToolError> {
    Ok(Json(tasks.of(&user)))
}

async fn add_task(
    Args(new): Args<NewTask>,
    State(tasks): State<Tasks>,
    Extension(user): Extension<User>,
) -> Result<Json<Task>, ToolError> {
    tasks.add(&user, &new.title).map(Json).map_err(|error| ToolError::new(error.to_string()))
}

use omniassist_server::tool::{Args, Tool, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    number: u32,
}

fn main() {
    let _ = Tool::new("order", "Look up an order", |Args(query): Args<Query>| Ok::<_, ToolError>(query.number));
}

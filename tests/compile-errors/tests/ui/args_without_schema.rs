use omniassist_server::tool::{Args, Tool, ToolError};

#[derive(serde::Deserialize)]
struct Query {
    number: String,
}

async fn order_status(Args(query): Args<Query>) -> Result<String, ToolError> {
    Ok(query.number)
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

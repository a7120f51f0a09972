use omniassist_server::tool::{State, Tool, ToolError};

struct Db;

async fn order_status(State(_): State<Db>) -> Result<String, ToolError> {
    Ok(String::new())
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

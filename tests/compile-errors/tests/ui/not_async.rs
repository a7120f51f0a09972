use omniassist_server::tool::{Tool, ToolError};

fn order_status() -> Result<String, ToolError> {
    Ok(String::new())
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

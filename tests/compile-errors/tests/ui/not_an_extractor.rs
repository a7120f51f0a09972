use omniassist_server::tool::{Tool, ToolError};

async fn order_status(number: String) -> Result<String, ToolError> {
    Ok(number)
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

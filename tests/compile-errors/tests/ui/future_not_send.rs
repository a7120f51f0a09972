use std::rc::Rc;

use omniassist_server::tool::{Tool, ToolError};

async fn order_status() -> Result<u32, ToolError> {
    let number = Rc::new(7);
    std::future::ready(()).await;
    Ok(*number)
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

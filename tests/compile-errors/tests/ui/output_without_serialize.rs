use omniassist_server::tool::{Json, Tool, ToolError};

struct Order;

async fn order_status() -> Result<Json<Order>, ToolError> {
    Ok(Json(Order))
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

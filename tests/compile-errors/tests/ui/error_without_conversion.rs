use omniassist_server::tool::Tool;

async fn order_status() -> Result<String, &'static str> {
    Err("no such order")
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

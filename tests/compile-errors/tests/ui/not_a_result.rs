use omniassist_server::tool::Tool;

async fn order_status() -> String {
    String::new()
}

fn main() {
    let _ = Tool::new("order_status", "Look up an order", order_status);
}

use omniassist_server::RunContext as R;
use omniassist_server::tool::{Tool, ToolError};

async fn tool(_: R, _: R, _: R, _: R, _: R, _: R, _: R, _: R, _: R, _: R, _: R, _: R, _: R) -> Result<(), ToolError> {
    Ok(())
}

fn main() {
    let _ = Tool::new("tool", "Takes too much", tool);
}

//! `omniassist-mcp-served ADAPTER` serves an assistant at `/assistant/mcp` through an adapter: `axum`, `hyper` or `actix`. With
//! `stdio`, it serves the client at its standard input and output. The official suite and the official clients of MCP call it.
//! Its tools are those that the suite names, as far as an assistant offers what they show.
//!
//! `omniassist-mcp-served desk SCRIPT` serves an assistant with the tools of the MCP server that Node.js runs from SCRIPT. The
//! official clients of pages answer its questions. `OPENAI_BASE_URL` names its model.
//!
//! `omniassist-mcp-served apps SCRIPT FOLDER` serves an assistant with such a server and its apps, and the pages of FOLDER.

mod apps;
mod desk;
mod host;
mod media;
mod questions;
mod serve;

use std::error::Error;

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [kind, script] = arguments.as_slice()
        && kind == "desk"
    {
        return desk::serve(script);
    }
    if let [kind, script, pages] = arguments.as_slice()
        && kind == "apps"
    {
        return apps::serve(script, pages);
    }
    let assistant = host::assistant()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["axum"] => serve::axum(assistant),
        ["hyper"] => serve::hyper(assistant),
        ["actix"] => serve::actix(assistant),
        ["stdio"] => serve::stdio(assistant),
        _ => {
            Err("usage: omniassist-mcp-served axum|hyper|actix|stdio, or desk SCRIPT, or apps SCRIPT FOLDER"
                .into())
        }
    }
}

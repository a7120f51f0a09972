//! The process that counts effects. Nobody kills it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// An effect: the order that it belongs to, the key of its call, and its receipt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effect {
    pub(crate) order: String,
    pub(crate) key: String,
    pub(crate) receipt: String,
}

/// The process. It ends when the value is dropped.
pub(crate) struct Ledger {
    process: Child,
    address: String,
}

impl Ledger {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut process = command.arg("ledger").stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { process, address: address.trim().to_owned() }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

type Effects = Arc<Mutex<HashMap<String, Vec<Effect>>>>;

/// Listens on a port of loopback, and prints its address.
pub(crate) fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    let effects = Effects::default();
    for stream in listener.incoming().flatten() {
        let effects = Arc::clone(&effects);
        thread::spawn(move || converse(&stream, &effects));
    }
}

fn converse(mut stream: &TcpStream, effects: &Effects) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words.as_slice() {
            ["effect", case, order, key] => {
                let mut all = effects.lock().unwrap();
                let of_case = all.entry((*case).to_owned()).or_default();
                let receipt = format!("receipt-{order}-{}", of_case.len() + 1);
                let effect =
                    Effect { order: (*order).to_owned(), key: (*key).to_owned(), receipt: receipt.clone() };
                of_case.push(effect);
                receipt
            }
            ["take", case] => {
                let of_case = effects.lock().unwrap().remove(*case).unwrap_or_default();
                let shown = of_case.iter().map(|e| format!("{} {} {}", e.order, e.key, e.receipt));
                shown.collect::<Vec<_>>().join(";")
            }
            _ => "?".to_owned(),
        };
        if writeln!(stream, "{answer}").is_err() {
            return;
        }
    }
}

fn ask(address: &str, question: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    writeln!(stream, "{question}")?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(answer.trim_end().to_owned())
}

/// Takes effect, and returns the receipt.
pub(crate) fn effect(address: &str, case: &str, order: &str, key: &str) -> std::io::Result<String> {
    ask(address, &format!("effect {case} {order} {key}"))
}

/// Removes and returns the effects of a case.
pub(crate) fn take(address: &str, case: &str) -> Vec<Effect> {
    let answer = ask(address, &format!("take {case}")).unwrap();
    let effect = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        Effect { order: words[0].to_owned(), key: words[1].to_owned(), receipt: words[2].to_owned() }
    };
    answer.split(';').filter(|line| !line.is_empty()).map(effect).collect()
}

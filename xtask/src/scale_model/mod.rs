//! `cargo xtask scale-model`: how many databases and servers a number of users needs, from measured costs.

mod constants;
mod simulation;

use constants::{MESSAGE, SERVER_POST, SERVER_TOKEN};
use simulation::{Figures, Load, simulate};

/// A person of the model: posts on a day, the part of them in the busiest hour, and answers.
const POSTS_A_DAY: f64 = 5.0;
const BUSIEST_HOUR: f64 = 0.12;
const TOKENS: f64 = 400.0;
const TOKENS_A_SECOND: f64 = 50.0;

/// The users on a day.
const USERS: [f64; 6] = [1e3, 1e4, 1e5, 1e6, 1e7, 5e7];

/// A cell: one database, its cores, and the part of their time that may be busy. A server has two cores.
const CORES: usize = 8;
const SERVER_CORES: f64 = 2.0;
const BUSY: f64 = 0.6;

/// The longest time in which 99 of 100 posts begin, in seconds.
const BEGIN: f64 = 0.1;

/// The price of a core for an hour, and of a gigabyte for a month.
const CORE_HOUR: f64 = 0.05;
const GIGABYTE_MONTH: f64 = 0.12;

/// The posts of a conversation.
const POSTS_A_CONVERSATION: f64 = 4.0;

/// The days for which a conversation is kept.
const KEPT: f64 = 90.0;

/// Prints what one database carries, and what a number of users needs.
pub(crate) fn print() {
    println!("One database of {CORES} cores, with as many servers as the posts need:\n");
    println!(
        "posts/s | live runs | servers | database busy | log MB/s | begin p50, p99 ms | commit p99 ms | refused"
    );
    let mut most = 0.0;
    for posts in [1.0, 10.0, 50.0, 100.0, 200.0, 300.0, 400.0, 600.0, 800.0, 1200.0, 1600.0] {
        let figures = cell(posts);
        println!(
            "{posts:7} | {:9} | {:7} | {:11.0} % | {:8.1} | {:9.1}, {:6.1} | {:13.1} | {:.1} %",
            figures.live,
            servers(posts),
            figures.busy * 100.0,
            figures.log / 1e6,
            figures.begin(50) * 1e3,
            figures.begin(99) * 1e3,
            figures.commit(99) * 1e3,
            figures.refused * 100.0,
        );
        if carries(&figures) {
            most = posts;
        }
    }
    println!(
        "\nA database carries {most} posts/s. With conversations divided among databases by a hash of their id:\n"
    );
    println!(
        "users/day | posts/s | live runs | databases | servers | log MB/s | GB kept | $ for 1,000 conversations"
    );
    for users in USERS {
        let posts = users * POSTS_A_DAY * BUSIEST_HOUR / 3600.0;
        let databases = f64::max((posts / most).ceil(), 1.0);
        let figures = cell(posts / databases);
        let servers = servers(posts / databases) as f64 * databases;
        let conversations = users * POSTS_A_DAY / POSTS_A_CONVERSATION;
        let gigabytes = users * POSTS_A_DAY * 2.0 * KEPT * MESSAGE / 1e9;
        let cores = servers * SERVER_CORES + databases * CORES as f64;
        let dollars = cores * 24.0 * CORE_HOUR + gigabytes * GIGABYTE_MONTH / 30.0;
        println!(
            "{users:9} | {posts:7.1} | {:9.0} | {databases:9} | {servers:7} | {:8.1} | {gigabytes:7.0} | {:.2}",
            f64::from(figures.live) * databases,
            figures.log * databases / 1e6,
            dollars / conversations * 1e3,
        );
    }
}

/// Simulates one database that gets this many posts a second.
fn cell(posts: f64) -> Figures {
    let answer = TOKENS / TOKENS_A_SECOND;
    simulate(Load { posts, answer, servers: servers(posts), cores: CORES }, f64::max(20.0, 200.0 / posts))
}

/// Returns the number of servers, at least two.
fn servers(posts: f64) -> usize {
    let cores = posts * (SERVER_POST + TOKENS * SERVER_TOKEN) / BUSY;
    f64::max((cores / SERVER_CORES).ceil(), 2.0) as usize
}

fn carries(figures: &Figures) -> bool {
    figures.refused == 0.0 && figures.busy <= BUSY && figures.begin(99) <= BEGIN
}

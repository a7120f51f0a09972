//! A name that leads to another server after a failover, as that of the primary node in a cloud.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use omniassist_redis::Redis;
use omniassist_server::store::MemoryStore;
use omniassist_test_databases::Redis as Server;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::page::{ask, numbers, read_until, watch};
use crate::tail::two;

/// The name. A connection stays with the server to which the name led when it was opened.
pub(crate) struct Name {
    port: u16,
    leads_to: Arc<AtomicU16>,
}

impl Name {
    pub(crate) fn of(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let leads_to = Arc::new(AtomicU16::new(server.port()));
        let target = Arc::clone(&leads_to);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", target.load(Ordering::SeqCst))).unwrap();
                pass_on(&client, &server);
                pass_on(&server, &client);
            }
        });
        Self { port, leads_to }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Makes the old server a replica of the new one. It keeps its connections.
    pub(crate) fn fail_over(&self, old: &Server, new: &Server) {
        self.leads_to.store(new.port(), Ordering::SeqCst);
        old.execute(&["replicaof", "127.0.0.1", &new.port().to_string()]);
    }
}

fn pass_on(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    thread::spawn(move || {
        drop(io::copy(&mut from, &mut to));
        drop(to.shutdown(Shutdown::Both));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn text_follows_the_name_of_the_server_after_a_failover() {
    let (old, new) = (Server::start(), Server::start());
    let name = Name::of(&old);
    let redis = Redis::connect(&name.url()).unwrap();
    let (first, other) = two(&MemoryStore::new(), &redis, numbers(400, Duration::from_millis(20)));
    let mut own = ask(&first, "c").await;
    read_until(&mut own, "orange-5 ").await;
    let mut viewer = watch(&other, "c").await;
    read_until(&mut viewer, "orange-30 ").await;
    let servers = spawn_blocking(move || {
        name.fail_over(&old, &new);
        (old, new)
    });
    // The old one runs on.
    let (_old, new) = servers.await.unwrap();
    let new = Arc::new(new);
    let arrives = async {
        loop {
            let new = Arc::clone(&new);
            let entries = spawn_blocking(move || new.execute(&["xlen", "omniassist:tail"])).await.unwrap();
            // The other server writes some as well, those of its viewer.
            if entries.parse().is_ok_and(|entries: u32| entries >= 50) {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(5), arrives).await.expect("the new server has the text");
}

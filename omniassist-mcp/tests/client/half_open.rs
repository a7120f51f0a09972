//! A relay before a server, whose connections can become half-open.

use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

pub(crate) struct Relay {
    pub(crate) url: String,
    silence: Arc<Notify>,
}

impl Relay {
    pub(crate) async fn start(url: &str) -> Self {
        let target = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let silence = Arc::new(Notify::new());
        let silenced = Arc::clone(&silence);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut server = TcpStream::connect(&target).await.unwrap();
                client.set_nodelay(true).unwrap();
                let silence = Arc::clone(&silenced);
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = silence.notified() => {}
                        _ = copy_bidirectional(&mut client, &mut server) => return,
                    }
                    // Both stay open, and nothing is read.
                    std::future::pending::<()>().await;
                });
            }
        });
        Self { url, silence }
    }

    /// Lets the present connections transmit nothing more. Later ones do.
    pub(crate) fn fall_silent(&self) {
        self.silence.notify_waiters();
    }
}

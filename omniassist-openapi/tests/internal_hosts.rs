//! The forms of internal addresses in URLs, and listeners that must not be reached. The tests of `omniassist-mcp` use it too.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};

pub(crate) const INTERNAL: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Listeners that nobody may reach.
pub(crate) struct Canary(pub(crate) Vec<TcpListener>);

impl Canary {
    pub(crate) fn on(port: u16, addresses: &[&str]) -> Self {
        let listeners = addresses.iter().map(|address| {
            let listener = TcpListener::bind((*address, port)).unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        });
        Self(listeners.collect())
    }

    pub(crate) fn connections(&self) -> usize {
        self.0.iter().filter(|listener| listener.accept().is_ok()).count()
    }
}

/// Resolves the names among the hosts to internal addresses.
pub(crate) async fn look_up(host: String) -> io::Result<Vec<IpAddr>> {
    match host.trim_end_matches('.') {
        "internal.test" => Ok(vec![INTERNAL]),
        "localhost" => Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]),
        "mixed.test" => {
            Ok(vec!["::ffff:127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap(), "::1".parse().unwrap()])
        }
        _ => Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()),
    }
}

/// Each form of an internal host that a URL can have.
pub(crate) const HOSTS: [&str; 64] = [
    // Loopback, in each spelling of an IPv4 address.
    "127.0.0.1",
    "127.0.0.2",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0177.1",
    "127.0.0.1.",
    "0x7F000001",
    "0",
    "0.0.0.0",
    "0x0",
    "127.000.000.001",
    "127.0x0.0.1",
    "00000177.0.0.01",
    // Private, shared and special networks.
    "10.0.0.1",
    "10.1",
    "167772161",
    "0xa000001",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.257",
    "3232235521",
    "100.64.0.1",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    // Services with credentials.
    "169.254.169.254",
    "169.254.43518",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "100.100.100.200",
    "168.63.129.16",
    // IPv6, and IPv4 within it.
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]",
    "[2001::7f00:1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    // Names.
    "localhost",
    "LOCALHOST.",
    "internal.test",
    "mixed.test",
];

//! Addresses of public servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The IPv4 networks that are not public, by the registry of special-purpose addresses (RFC 6890), and one address.
const V4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Link-local. Most clouds serve the credentials of a machine at 169.254.169.254.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    // Azure's virtual machines reach the host machine at this public address.
    ([168, 63, 129, 16], 32),
];

/// The networks inside 2000::/3 that are not public: protocols (such as Teredo), documentation, and 6to4.
const V6: [([u16; 2], u32); 4] =
    [([0x2001, 0], 23), ([0x2001, 0xdb8], 32), ([0x2002, 0], 16), ([0x3fff, 0], 20)];

/// Returns `true` for an address of a public server. For an IPv6 address that embeds an IPv4 address, the IPv4 address
/// decides.
///
/// `IpAddr::is_global` of the standard library is not stable, and does not consider the addresses of NAT64.
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    !V4.iter().any(|(net, bits)| is_in(ip.into(), u32::from_be_bytes(*net), *bits))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        // IPv4-mapped, and the prefix of NAT64.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4((u32::from(high) << 16 | u32::from(low)).into())
        }
        [first, second, ..] => {
            let start = u32::from(first) << 16 | u32::from(second);
            let is_special =
                V6.iter().any(|([a, b], bits)| is_in(start, u32::from(*a) << 16 | u32::from(*b), *bits));
            first & 0xe000 == 0x2000 && !is_special
        }
    }
}

/// Returns `true` for an address of an organisation's own network: loopback, private, shared, or unique local. The
/// addresses at which clouds serve the credentials of a machine are not among them.
pub(super) fn is_private(ip: IpAddr) -> bool {
    const METADATA: [IpAddr; 3] = [
        IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
        IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
        IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    ];
    let ip = ip.to_canonical();
    let is_own = match ip {
        IpAddr::V4(ip) => {
            let is_shared = is_in(ip.into(), u32::from_be_bytes([100, 64, 0, 0]), 10);
            ip.is_loopback() || ip.is_private() || is_shared
        }
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    };
    is_own && !METADATA.contains(&ip)
}

/// Returns `true` if the first bits of two addresses are equal. The number of bits is at least one.
fn is_in(ip: u32, net: u32, bits: u32) -> bool {
    (ip ^ net) >> (32 - bits) == 0
}

#[cfg(test)]
mod tests {
    use super::{is_private, is_public};

    #[test]
    fn addresses_of_own_networks_exclude_those_of_credentials() {
        for own in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "::1",
            "fd12::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_private(own.parse().unwrap()), "{own}");
        }
        for other in [
            "1.1.1.1",
            "0.0.0.0",
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "100.100.100.200",
            "168.63.129.16",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::1",
            "64:ff9b::10.0.0.1",
            "2002:a00:1::1",
            "2001::1",
            "224.0.0.1",
            "::",
        ] {
            assert!(!is_private(other.parse().unwrap()), "{other}");
        }
    }

    #[test]
    fn internal_and_public_addresses_are_distinguished() {
        let public = [
            "1.1.1.1",
            "9.255.255.255",
            "100.63.255.255",
            "100.128.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "3fff:1000::1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ];
        let internal = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            // IPv4-compatible and IPv4-mapped.
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:10.0.0.1",
            // NAT64, with its prefix and with a local one.
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1.1.1.1",
            // Discard, Teredo, ORCHID, documentation, 6to4.
            "100::1",
            "2001::1",
            "2001:20::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "3fff::1",
            "3fff:fff:ffff::1",
            "5f00::1",
            // Unique local (including the metadata service of AWS), link-local, site-local, multicast.
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ];
        for (addresses, expected) in [(&public[..], true), (&internal[..], false)] {
            for address in addresses {
                assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
            }
        }
    }
}

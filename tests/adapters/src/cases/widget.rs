//! The modules of the widget, at four mounts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omniassist_server::widget;
use sha2::{Digest as _, Sha384};

use crate::host::Host;
use crate::stage::{closed, says};
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

const IMMUTABLE: Option<&str> = Some("public, max-age=31536000, immutable");

/// The paths at which clients see an assistant, and those at which it is mounted. They differ behind a proxy that strips
/// a prefix.
const MOUNTS: [(&str, &str); 5] = [
    ("", "/"),
    ("/assistant", "/assistant"),
    ("/a/b/c", "/a/b/c"),
    ("/shop/assistant", "/assistant"),
    ("/shop", "/"),
];

/// A backend whose assistant admits no anonymous caller, and the proxy before it.
struct Shop {
    host: Host,
    public: &'static str,
    mount: &'static str,
}

impl Shop {
    async fn at(on: Transport, (public, mount): (&'static str, &'static str)) -> Self {
        let assistant = closed(says("Hello")).build().unwrap();
        Self { host: Host::mounted(on, &[(mount, &assistant)]).await, public, mount }
    }

    /// Sends a request with the path that clients see.
    async fn ask(&self, ask: Ask) -> Answer {
        self.host.ask(&self.behind(ask)).await.whole().await
    }

    /// Returns the request that the backend gets.
    fn behind(&self, mut ask: Ask) -> Ask {
        let path = ask.path.strip_prefix(self.public).unwrap();
        ask.path = format!("{}{path}", self.mount.trim_end_matches('/'));
        ask
    }

    /// Returns the URL and the hash in the tag of the widget.
    fn tagged(&self) -> (String, String) {
        let tag = widget::tag(self.public);
        let attribute = |name: &str| tag.split_once(name).unwrap().1.split('"').nth(1).unwrap().to_owned();
        (attribute("src="), attribute("integrity="))
    }
}

pub(crate) async fn a_script_needs_no_principal_and_the_manifest_does(on: Transport) {
    for mount in MOUNTS {
        let shop = Shop::at(on, mount).await;
        let public = shop.public;
        for path in [format!("{public}/widget.js"), shop.tagged().0] {
            assert_eq!(shop.ask(Ask::get(&path)).await.status(), 200, "{path}");
        }
        for path in ["/manifest.json", "/chat/stream", "/components.json"] {
            assert_eq!(shop.ask(Ask::get(format!("{public}{path}"))).await.status(), 401, "{public}{path}");
        }
    }
}

pub(crate) async fn the_stable_url_is_revalidated_and_names_the_module(on: Transport) {
    for mount in MOUNTS {
        let shop = Shop::at(on, mount).await;
        let url = format!("{}/widget.js", shop.public);
        let loader = shop.ask(Ask::get(&url)).await;
        assert_eq!((loader.status(), loader.header("cache-control")), (200, Some("no-cache")), "{url}");
        // The path is relative to the URL of this module.
        let path = loader.text().split('"').nth(1).unwrap();
        assert_eq!(path.replacen('.', shop.public, 1), shop.tagged().0, "{url}");

        let tag = loader.header("etag").unwrap();
        let known = shop.ask(Ask::get(&url).header("if-none-match", tag)).await;
        assert_eq!((known.status(), known.text(), known.header("etag")), (304, "", Some(tag)), "{url}");
        assert_eq!(shop.ask(Ask::get(&url).header("if-none-match", "\"other\"")).await.status(), 200);
        let head = shop.ask(Ask::new("HEAD", &url)).await;
        assert_eq!((head.status(), head.text(), head.header("etag")), (200, "", Some(tag)), "{url}");
        assert_eq!(head.header("content-length"), loader.header("content-length"), "{url}");
    }
}

pub(crate) async fn a_module_has_the_hash_of_its_tag_and_a_stale_one_is_not_found(on: Transport) {
    for mount in MOUNTS {
        let shop = Shop::at(on, mount).await;
        let (url, hash) = shop.tagged();
        let module = shop.ask(Ask::get(&url)).await;
        assert_eq!((module.status(), module.header("content-encoding")), (200, None), "{url}");
        assert_eq!(format!("sha384-{}", STANDARD.encode(Sha384::digest(&module.body))), hash, "{url}");
        let other_name = url.replace("widget.js", "gadget.js");
        for gone in [format!("{}/w/000000000000/widget.js", shop.public), other_name] {
            assert_eq!(shop.ask(Ask::get(&gone)).await.status(), 404, "{gone}");
        }
    }
}

pub(crate) async fn a_module_is_compressed_as_the_browser_accepts_it(on: Transport) {
    for mount in MOUNTS {
        let shop = Shop::at(on, mount).await;
        let url = shop.tagged().0;
        let mut lengths = Vec::new();
        for (accepted, coding) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip, deflate", Some("gzip")),
            ("br;q=0, gzip", Some("gzip")),
            ("br;q=0, gzip;q=0", None),
            ("identity", None),
        ] {
            let asked = Ask::get(&url).header("accept-encoding", accepted);
            let full = shop.ask(asked.clone()).await;
            assert_eq!((full.status(), full.header("content-encoding")), (200, coding), "{accepted} {url}");
            assert_eq!(full.header("cache-control"), IMMUTABLE, "{url}");
            assert_eq!(full.header("vary"), Some("accept-encoding"), "{url}");
            assert_eq!(full.header("x-content-type-options"), Some("nosniff"), "{url}");
            assert_eq!(full.header("cross-origin-resource-policy"), Some("same-origin"), "{url}");
            assert_eq!(full.header("content-length").unwrap(), full.body.len().to_string(), "{url}");
            lengths.push(full.body.len());

            let mut connection = shop.host.connect().await;
            let head = Ask::new("HEAD", &url).header("accept-encoding", accepted);
            let head = connection.ask(&shop.behind(head)).await.whole().await;
            assert_eq!((head.status(), head.text()), (200, ""), "{accepted} {url}");
            for name in ["content-length", "content-encoding", "etag", "cache-control"] {
                assert_eq!(head.header(name), full.header(name), "{accepted} {url}: {name}");
            }
            let tag = full.header("etag").unwrap();
            let known = shop.behind(asked.header("if-none-match", tag));
            let known = connection.ask(&known).await.whole().await;
            assert_eq!((known.status(), known.text()), (304, ""), "{accepted} {url}");
            assert_eq!(known.header("etag"), Some(tag), "{accepted} {url}");
        }
        assert!(lengths.is_sorted() && lengths.first() < lengths.last(), "{lengths:?}");
    }
}

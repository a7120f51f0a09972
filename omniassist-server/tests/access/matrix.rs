//! Tests of every combination of origin, `Sec-Fetch-Site`, content type, host and route against a second implementation
//! of the rules.

use std::collections::BTreeMap;

use http::{HeaderValue, Method, header};
use omniassist_server::Cors;

use super::routes::{self, Route};
use super::{Answer, answer, builder, serve};

const HOST: &str = "shop.example:8080";
const LISTED: &str = "https://app.example";

/// Values of `Origin` by their relation to the server.
const ORIGINS: [(&str, &[&str]); 11] = [
    ("-", &[]),
    ("own", &["http://shop.example:8080"]),
    ("listed", &[LISTED]),
    ("other", &["https://evil.example"]),
    ("other port", &["http://shop.example:8081"]),
    ("below it", &["http://a.shop.example:8080"]),
    ("like it", &["http://shop.example:8080.evil.example"]),
    ("null", &["null"]),
    ("two", &[LISTED, "https://evil.example"]),
    ("own first", &["http://shop.example:8080", "https://evil.example"]),
    ("other first", &["https://evil.example", LISTED]),
];
const SITES: [Option<&str>; 6] =
    [None, Some("same-origin"), Some("none"), Some("same-site"), Some("cross-site"), Some("Same-Origin")];
const CONTENT_TYPES: [Option<&str>; 6] = [
    Some("application/json"),
    Some("application/json; charset=utf-8"),
    None,
    Some("text/plain"),
    Some("application/x-www-form-urlencoded"),
    Some("multipart/form-data; boundary=x"),
];
const HOSTS: [(&str, &[&str]); 6] = [
    ("own", &[HOST]),
    ("own, other case", &["SHOP.Example.:8080"]),
    ("another", &["evil.example"]),
    ("two", &[HOST, HOST]),
    ("none", &[]),
    ("no host", &["shop.example:8080, evil.example"]),
];

struct Case<'a> {
    route: &'a Route,
    origin: &'a (&'static str, &'static [&'static str]),
    site: Option<&'static str>,
    content_type: Option<&'static str>,
    host: &'a (&'static str, &'static [&'static str]),
}

impl Case<'_> {
    /// The expected status, and the code of a refusal.
    fn expected(&self) -> (u16, &'static str) {
        match self.host.0 {
            "own" | "own, other case" => {}
            "another" => return (421, "host_not_allowed"),
            _ => return (400, "invalid_host"),
        }
        let comes_from_a_page = self.origin.0 != "-" || self.site.is_some();
        let is_own = match self.site {
            Some(site) => site == "same-origin" || site == "none",
            None => self.origin.0 == "own",
        };
        let has_effects = self.route.method != Method::GET;
        let is_welcome = !comes_from_a_page || is_own || self.origin.0 == "listed";
        if self.origin.0 == "two" || (has_effects && !is_welcome) {
            return (403, "origin_not_allowed");
        }
        let is_json = self.content_type.is_some_and(|kind| kind.starts_with("application/json"));
        let needs_none = self.route.body.is_none() && self.content_type.is_none();
        if has_effects && !is_json && !needs_none {
            return (415, "unsupported_media_type");
        }
        (self.route.status, if self.route.status == 404 { "not_found" } else { "" })
    }

    fn headers(&self) -> Vec<(&'static str, &'static str)> {
        let mut headers: Vec<_> = self.host.1.iter().map(|host| ("host", *host)).collect();
        headers.extend(self.origin.1.iter().map(|origin| ("origin", *origin)));
        headers.extend(self.site.map(|site| ("sec-fetch-site", site)));
        headers.extend(self.content_type.map(|kind| ("content-type", kind)));
        headers
    }

    fn check(&self, answer: &Answer) {
        let (status, code) = self.expected();
        let what = format!("{} {:?}", self.route.name(), self.headers());
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        // CopilotKit's refusals have a title instead of a code.
        if !code.is_empty()
            && (status == 421 || status == 403 || self.route.reads != routes::Reads::CopilotKit)
        {
            assert_eq!(self.route.code(answer), code, "{what}");
        }
        let names: Vec<&str> = answer.headers.keys().map(|name| name.as_str()).collect();
        if self.origin.0 == "listed" && !matches!(status, 400 | 421) {
            assert_eq!(answer.header("access-control-allow-origin"), Some(LISTED), "{what}");
        } else {
            assert!(!names.iter().any(|name| name.starts_with("access-control-")), "{what}: {names:?}");
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{what}");
        }
        assert_eq!(answer.header("vary"), Some("origin"), "{what}");
    }
}

#[tokio::test]
async fn every_combination_has_the_expected_status() {
    let routes = routes::all();
    let (mut cases, mut table) = (0, BTreeMap::<String, BTreeMap<String, u16>>::new());
    for route in &routes {
        // One model would keep the calls of all routes, which each case reads.
        let (model, builder) = builder();
        let service = serve(builder.allow_anonymous().allow_origin(LISTED).allowed_hosts([HOST]));
        for origin in &ORIGINS {
            for site in SITES {
                for content_type in CONTENT_TYPES {
                    for host in &HOSTS {
                        let case = Case { route, origin, site, content_type, host };
                        let mut request = route.request();
                        request.headers_mut().remove(header::CONTENT_TYPE);
                        for (name, value) in case.headers() {
                            request.headers_mut().append(name, HeaderValue::from_static(value));
                        }
                        let (asked, answer) = (model.payloads().len(), answer(&service, request).await);
                        case.check(&answer);
                        if answer.status >= 400 {
                            assert_eq!(model.payloads().len(), asked, "a refused request called the model");
                        }
                        cases += 1;
                        let shown = [("POST", "/"), ("POST", "/chat-1/stop"), ("GET", "/manifest.json")];
                        if shown.contains(&(route.method.as_str(), route.path)) && host.0 == "own" {
                            let row = format!("{:11} | {:11}", origin.0, site.unwrap_or("-"));
                            let kind = content_type.map_or("-", |kind| kind.split(';').next().unwrap());
                            let column = format!("{} {} {kind}", route.method, route.path);
                            table.entry(row).or_default().insert(column, answer.status);
                        }
                    }
                }
            }
        }
    }
    let columns: Vec<&String> = table.values().next().unwrap().keys().collect();
    for (index, column) in columns.iter().enumerate() {
        println!("({}) {column}", index + 1);
    }
    for (row, statuses) in &table {
        println!("{row} | {}", statuses.values().map(u16::to_string).collect::<Vec<_>>().join(" | "));
    }
    println!(
        "{cases} combinations: {} routes, {} origins, {} sites, {} content types, {} hosts",
        routes.len(),
        ORIGINS.len(),
        SITES.len(),
        CONTENT_TYPES.len(),
        HOSTS.len()
    );
}

#[tokio::test]
async fn by_default_other_pages_are_refused_and_any_host_is_accepted() {
    let service = serve(builder().1.allow_anonymous());
    for route in routes::all() {
        for (origin, host, is_welcome) in [
            ("http://shop.example", Some("shop.example"), true),
            ("https://shop.example", Some("shop.example"), true),
            ("https://shop.example", Some("shop.example:443"), true),
            ("https://app.example", Some("shop.example"), false),
            ("null", Some("shop.example"), false),
            ("https://shop.example", None, false),
        ] {
            let mut request = route.request();
            request.headers_mut().insert(header::ORIGIN, HeaderValue::from_static(origin));
            if let Some(host) = host {
                request.headers_mut().insert(header::HOST, HeaderValue::from_static(host));
            }
            let answer = answer(&service, request).await;
            let refused = !is_welcome && route.method == Method::POST;
            let status = if refused { 403 } else { route.status };
            assert_eq!(answer.status, status, "{} {origin} {host:?}", route.name());
            assert_eq!(answer.header("access-control-allow-origin"), None);
            assert_eq!(answer.header("vary"), None, "the answer does not depend on the origin");
        }
        assert_eq!(
            answer(&service, route.request()).await.status,
            route.status,
            "no browser: {}",
            route.name()
        );
    }
}

#[tokio::test]
async fn null_is_accepted_only_if_it_is_listed() {
    let service = serve(builder().1.allow_anonymous().cors(Cors::new().allow_origin("null")));
    let ask = |origin: &'static str| {
        let mut request = routes::all().remove(0).request();
        request.headers_mut().insert(header::ORIGIN, HeaderValue::from_static(origin));
        request.headers_mut().insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        answer(&service, request)
    };
    let allowed = ask("null").await;
    assert_eq!((allowed.status, allowed.header("access-control-allow-origin")), (200, Some("null")));
    assert_eq!(ask("https://evil.example").await.status, 403);
}

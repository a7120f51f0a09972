//! The headers of the document of an app, which make it harmless wherever it is opened.

use std::fmt::Write;

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::tool::source::{AppDocument, AppOrigin};

/// The features of the browser that no app has.
const NO_FEATURES: &str = "accelerometer=(), autoplay=(), bluetooth=(), camera=(), clipboard-read=(), clipboard-write=(), \
    display-capture=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), \
    local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), \
    screen-wake-lock=(), serial=(), storage-access=(), usb=(), web-share=(), xr-spatial-tracking=()";

/// Sets the headers. Returns `None`, and sets a part of them, for a policy that is not a header: the document must not be sent.
pub(in crate::http) fn set(document: &AppDocument, headers: &mut HeaderMap) -> Option<()> {
    let policy = HeaderValue::from_str(&policy(document)).ok()?;
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("permissions-policy"), NO_FEATURES),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Some(())
}

/// Returns the policy: no origin, no reach beyond the hosts that the server declares, and shown by pages of this origin only.
fn policy(document: &AppDocument) -> String {
    let mut policy =
        String::from("sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline'");
    let mut add = |rest: &str, origins: &[AppOrigin]| {
        policy.push_str(rest);
        for origin in origins {
            // Writing to a `String` does not fail.
            let _ = write!(policy, " {origin}");
        }
    };
    let loads = document.loads_from();
    add("", loads);
    add("; style-src 'unsafe-inline'", loads);
    add("; img-src data:", loads);
    add("; font-src data:", loads);
    add("; media-src data:", loads);
    match document.connects_to() {
        [] => add("; connect-src 'none'", &[]),
        origins => add("; connect-src", origins),
    }
    add("; frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'", &[]);
    policy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_has_the_declared_hosts_alone() {
        let origin = |text: &str| AppOrigin::parse(text).unwrap();
        let plain = AppDocument::new("<p>");
        assert_eq!(
            policy(&plain),
            "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
             img-src data:; font-src data:; media-src data:; connect-src 'none'; frame-src 'none'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'self'"
        );
        let declared = plain
            .connect([origin("wss://live.example.com")])
            .resources([origin("https://cdn.example.com"), origin("https://*.example.org")]);
        let loads = "https://cdn.example.com https://*.example.org";
        let mut headers = HeaderMap::new();
        set(&declared, &mut headers).unwrap();
        assert_eq!(
            headers[header::CONTENT_SECURITY_POLICY],
            format!(
                "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline' {loads}; \
                 style-src 'unsafe-inline' {loads}; img-src data: {loads}; font-src data: {loads}; media-src data: {loads}; \
                 connect-src wss://live.example.com; frame-src 'none'; base-uri 'none'; form-action 'none'; \
                 frame-ancestors 'self'"
            )
        );
    }
}

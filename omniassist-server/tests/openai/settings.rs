//! Tests of base URLs, keys and vendors.

use omniassist_server::provider::openai::Vendor;
use omniassist_server::{OpenAiProvider, Result};

fn with(base_url: &str, key: &str) -> Result<OpenAiProvider> {
    OpenAiProvider::builder().api_key(key).base_url(base_url).build()
}

#[test]
fn base_urls_are_checked() {
    for good in [
        "https://api.openai.com/v1",
        "http://127.0.0.1:8080/v1/",
        "http://[::1]:1/v1",
        " http://localhost:1234/v1 ",
    ] {
        assert!(with(good, "k").is_ok(), "{good}");
    }
    for bad in [
        "",
        "api.openai.com/v1",
        "localhost/v1",
        "/v1",
        "ftp://x/v1",
        "http://",
        "https://u:p@x/v1",
        "https://x/v1?a=b",
        "https://x/v1#f",
        "https:///v1",
    ] {
        let error = with(bad, "k").unwrap_err();
        assert!(error.is_configuration(), "{bad}");
        assert!(error.to_string().contains("`base_url` (OPENAI_BASE_URL)"), "{bad}: {error}");
    }
}

#[test]
fn only_loopback_needs_no_key() {
    for loopback in
        ["http://localhost:8080/v1", "http://127.8.9.1/v1", "http://[::1]/v1", "http://a.localhost/v1"]
    {
        assert!(with(loopback, "").is_ok(), "{loopback}");
    }
    for remote in ["https://example.com/v1", "http://localhost.example.com/", "http://192.168.0.1/"] {
        assert!(with(remote, "").unwrap_err().to_string().contains("OPENAI_API_KEY"), "{remote}");
    }
}

#[test]
fn keys_and_headers_are_not_printed() {
    let builder = OpenAiProvider::builder().api_key("canary-key").header("api-key", "canary-header");
    let provider = builder.clone().build().unwrap();
    let bad = with("https://example.com/v1", "canary\nkey").unwrap_err();
    let printed = format!("{builder:?} {provider:?} {bad:?} {bad}");
    assert!(!printed.contains("canary"), "{printed}");
}

#[test]
fn a_vendor_is_found_by_its_name_and_its_address() {
    for vendor in Vendor::ALL {
        assert_eq!(Vendor::named(vendor.name()), Some(*vendor));
    }
    for (url, vendor) in [
        ("https://api.openai.com/v1", Vendor::OPENAI),
        ("https://x.openai.azure.com/openai/v1", Vendor::AZURE),
        ("https://api.groq.com/openai/v1", Vendor::GROQ),
        ("https://api.moonshot.cn/v1", Vendor::MOONSHOT),
        ("http://LOCALHOST:11434/v1", Vendor::OLLAMA),
        ("http://127.0.0.1:8080/v1", Vendor::LLAMA_CPP),
    ] {
        assert_eq!(Vendor::of_base_url(url), Some(vendor), "{url}");
    }
    for url in [
        "https://example.com/v1",
        "https://example.com:11434/v1",
        "http://127.0.0.1:9999/v1",
        "https://api.groq.com.example/v1",
        "https://notapi.x.ai/v1",
        "",
    ] {
        assert_eq!(Vendor::of_base_url(url), None, "{url}");
    }
    assert_eq!(Vendor::named("Groq"), None);
}

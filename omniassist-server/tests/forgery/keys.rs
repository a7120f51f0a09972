//! Tests of the keys, and of the form that is signed.

use hmac::Mac as _;
use omniassist_server::Principal;
use omniassist_server::core::event::ApprovalRequest;
use omniassist_server::core::{JsonText, RunEvent, Text, canonical};
use omniassist_server::seal::{SealKeys, Sealer};
use sha2::Digest as _;

use super::chat::Shop;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const BASE64: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";
const HEX: &str = "3031323334353637383961626364656630313233343536373839616263646566";

const NAME: &str = "a key's name is 1 to 16 characters of A-Z, a-z, 0-9, `_` and `-`";
const TOO_SHORT: &str = "a key needs at least 32 secret bytes";
const SAME_NAME: &str = "two keys have the same name";
const FORM: &str = "keys are written as NAME:SECRET, separated by commas";
const ENCODING: &str = "a key's secret is neither hexadecimal nor base64";

/// Returns the seal of an approval request under these keys.
fn seal(keys: &SealKeys) -> Text {
    let mut sealer = Sealer::new(keys, None, &Principal::anonymous(), "msg".into());
    let request = ApprovalRequest::new("c1".into(), "refund".into(), JsonText::parse("{}").unwrap());
    let mut event = RunEvent::ToolApprovalRequest(request);
    sealer.seal(&mut event, &Shop, || 0);
    let RunEvent::ToolApprovalRequest(request) = event else { panic!("{event:?}") };
    request.signature.unwrap()
}

#[test]
fn a_key_has_a_short_name_and_32_bytes() {
    let refusal = |name: &str, secret: &str| SealKeys::new(name, secret).unwrap_err().to_string();
    assert!(SealKeys::new("k", SECRET).is_ok());
    assert!(SealKeys::new("0123456789_-AZaz", SECRET).is_ok());
    for name in ["", "0123456789abcdefg", "a.b", "a b", "ü", "a:b", "a\nb"] {
        assert_eq!(refusal(name, SECRET), NAME, "{name}");
    }
    assert_eq!(refusal("k", &SECRET[1..]), TOO_SHORT);
    let keys = SealKeys::new("k", SECRET).unwrap();
    assert_eq!(keys.clone().with_previous_key("k", SECRET).unwrap_err().to_string(), SAME_NAME);
    assert_eq!(keys.with_previous_key("j", "short").unwrap_err().to_string(), TOO_SHORT);
}

#[test]
fn keys_are_read_in_every_spelling() {
    let expected = seal(&SealKeys::new("k", SECRET).unwrap());
    for secret in [BASE64, &format!("{BASE64}="), HEX, &HEX.to_uppercase(), &format!(" {HEX} ")] {
        assert_eq!(seal(&SealKeys::parse(&format!("k:{secret}")).unwrap()), expected, "{secret}");
    }
    let alphabets = ["-_", "+/"].map(|pair| SealKeys::parse(&format!("k:{}8", pair.repeat(21))).unwrap());
    assert_eq!(seal(&alphabets[0]), seal(&alphabets[1]));

    let rotated = SealKeys::parse(&format!("new:{BASE64} , old:{HEX}")).unwrap();
    assert_eq!(format!("{rotated:?}"), r#"SealKeys(["new", "old"])"#);
    assert_eq!(rotated.current_id(), "new");

    for (keys, reason) in [
        ("", FORM),
        (HEX, FORM),
        ("k:", TOO_SHORT),
        ("k:plain text, thirty-two bytes long", ENCODING),
        (&format!("k:{HEX},"), FORM),
        (&format!("k:{HEX},k:{HEX}"), SAME_NAME),
        (&format!("k:{}", &HEX[2..]), TOO_SHORT),
        (&format!("k:{HEX}0"), ENCODING),
        (&format!("k:{}", &BASE64[4..]), TOO_SHORT),
        (&format!("k:{BASE64}AA"), ENCODING),
        (&format!("k:{}B", &BASE64[..42]), ENCODING),
    ] {
        assert_eq!(SealKeys::parse(keys).unwrap_err().to_string(), reason, "{keys}");
    }
}

#[test]
fn random_keys_differ_in_name_and_secret() {
    let (one, other) = (SealKeys::random().unwrap(), SealKeys::random().unwrap());
    assert_ne!(one.current_id(), other.current_id());
    assert!(SealKeys::new(one.current_id(), SECRET).is_ok(), "{one:?}");
    assert_ne!(seal(&one).rsplit('.').next(), seal(&other).rsplit('.').next());
}

#[test]
fn no_secret_is_shown() {
    let keys = SealKeys::new("k", SECRET).unwrap();
    assert_eq!(format!("{keys:?}"), r#"SealKeys(["k"])"#);
    let error = SealKeys::parse(&format!("k:{SECRET}!")).unwrap_err();
    assert!(!format!("{error:?} {error}").contains(SECRET));
}

/// The expected texts are from approvals of the AI SDK.
#[test]
fn the_canonical_form_is_that_of_the_ai_sdk() {
    let input = JsonText::parse(r#"{"b":1,"a":[true,null,"ü"],"c":{"z":1.5,"y":{}}}"#).unwrap();
    let mut form = Vec::new();
    canonical::append(&input, &mut form).unwrap();
    let base64 = |bytes: &[u8]| base64::Engine::encode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, bytes);
    let digest = base64(&sha2::Sha256::digest(&form));
    assert_eq!(digest, "EJlMBeA6bx7BKyhLjdMcel9TWuorIzfUAACDBELZUZI");
    let payload =
        serde_json::to_string(&("ai-sdk-tool-approval-v1", "appr-1", "call-1", "deleteFile", digest));
    let keyed = <hmac::Hmac<sha2::Sha256> as hmac::KeyInit>::new_from_slice(b"secret").unwrap();
    let signature = keyed.chain_update(payload.unwrap()).finalize().into_bytes();
    assert_eq!(base64(&signature), "V7tg8uJLfimo8ms79lAEnc46JwPFuojTnA42hDrgo2E");
}

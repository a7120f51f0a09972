//! Tests of the names and forms of secrets.

use omniassist_core::secret::{Secrets, is_secret_name};

#[test]
fn secret_names_are_recognised() {
    for name in [
        "password",
        "Password",
        "PASSWORD",
        "newPassword",
        "new_password",
        "user[password]",
        "password2",
        "passwd",
        "pwd",
        "user_pass",
        "userpass",
        "dbpass",
        "passkey",
        "sessid",
        "PHPSESSID",
        "ConnectionStrings:Default",
        "security_answer",
        "pass",
        "secret",
        "clientSecret",
        "CLIENT_SECRET",
        "appsecret",
        "token",
        "accessToken",
        "access-token",
        "githubtoken",
        "X-Auth-Token",
        "apiKey",
        "api_key",
        "x-api-key",
        "APIKey",
        "apikey",
        "Authorization",
        "auth",
        "otp",
        "otp1",
        "OTPCode",
        "one-time-code",
        "cvv",
        "cvc",
        "cardCVC",
        "cvv2",
        "CVV2",
        "ssn",
        "SSN",
        "pin",
        "cardPin",
        "PIN",
        "cc-number",
        "cc_exp",
        "ccNumber",
        "ccnumber",
        "cc-csc",
        "cc-anything",
        "creditCard",
        "card number",
        "card-number",
        "cookie",
        "sessionId",
        "JSESSIONID",
        "privateKey",
        "credentials",
        "Passwort",
        "contraseña",
        "contrasena",
        "пароль",
        "Пароль",
        "密码",
        "パスワード",
        "__RequestVerificationToken",
        "csrfmiddlewaretoken",
        "p.a.s.s.w.o.r.d",
        "bearer",
        "jwt",
        "mnemonic",
        "senha",
        "totp",
        "tan",
        "xsrf",
        "accessKeyId",
        "authCode",
        "backupCode",
        "encryptionKey",
        "kennwort",
        "masterKey",
        "mfaCode",
        "motDePasse",
        "recoveryCode",
        "signingKey",
        "smsCode",
        "socialSecurityNumber",
        "verificationCode",
        "wachtwoord",
        "2faCode",
        "pw",
        "db_pw",
        "pass1",
        "pass_confirm",
        "passConfirmation",
        "repeat-pass",
        "AccountKey",
        "Ocp-Apim-Subscription-Key",
        "x-functions-key",
        "preSharedKey",
    ] {
        assert!(is_secret_name(name), "{name} must count as a secret");
    }
}

#[test]
fn ordinary_names_are_not_secret() {
    for name in [
        "",
        "email",
        "name",
        "shopping",
        "spinner",
        "cc",
        "author",
        "authored",
        "passenger",
        "passRate",
        "compass",
        "keyboard",
        "key",
        "code",
        "country_code",
        "secretary",
        "tokenizer",
        "accessory",
        "classname",
        "session",
        "accent",
        "success",
        "quantity",
        "description",
        "opinion",
        "signature",
        "X-Goog-Signature",
    ] {
        assert!(!is_secret_name(name), "{name} must not count as a secret");
    }
}

#[test]
fn keys_are_recognised_by_their_form() {
    for (text, clean) in [
        ("a sk-proj-0123456789abcdef b", "a [redacted] b"),
        ("\"\\nsk-0123456789abcdef\"", "\"\\n[redacted]\""),
        ("?x=%20AIza0123456789abcdefg", "?x=%20[redacted]"),
        ("Bearer eyJhbGci.eyJzdWIi.c2ln", "Bearer [redacted]"),
        ("sk-abc****wxyz is masked", "[redacted] is masked"),
        ("task-0123456789abcdef and sk-short", "task-0123456789abcdef and sk-short"),
        ("eyJhbGci.other.words", "eyJhbGci.other.words"),
    ] {
        assert_eq!(Secrets::default().redact(text), clean);
    }
}

#[test]
fn names_that_begin_like_a_key_are_kept() {
    for name in [
        "hf_hub_download",
        "sk_buff_alloc_header",
        "gsk_texture_node_new",
        "fw_device_register",
        "pk-constraint-on-orders",
        "sk-learn.preprocessing",
        "hf_internationalis",
        "sk_load_balancer_2",
    ] {
        assert_eq!(Secrets::default().redact(&format!("call {name}(…)")), format!("call {name}(…)"));
    }
    for key in
        ["hf_hub_download_42", "hf_internationalisa", "sk-AbCdefghijk", "r8_abcde1fgh2jk", "ghp_*****abc"]
    {
        assert_eq!(Secrets::default().redact(&format!("call {key}(…)")), "call [redacted](…)", "{key}");
    }
}

#[test]
fn the_longest_matching_value_is_removed() {
    let secrets = Secrets::new(["canary".to_owned(), "canary-longer".to_owned(), String::new()]);
    assert_eq!(secrets.redact("x canary y canary-longer z"), "x [redacted] y [redacted] z");
    assert_eq!(secrets.redact("canarycanary"), "[redacted]");
}

/// A key can begin at every position of these texts.
#[test]
fn hostile_texts_take_linear_time() {
    let started = std::time::Instant::now();
    for text in ["-", "sk-", "hf_a-", "eyJ-", "eyJ.", "%20", "\\n"] {
        let long = text.repeat((256 << 10) / text.len());
        assert!(Secrets::default().redact(&long).len() <= long.len());
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

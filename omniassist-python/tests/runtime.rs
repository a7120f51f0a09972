//! A runtime that is missing, or another one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use omniassist_python::{MontyPool, PythonError};

async fn refused(path: impl Into<PathBuf>) -> PythonError {
    MontyPool::at(path).start().await.err().unwrap()
}

const INSTALL: &str = "pip install pydantic-monty-runtime==0.0.23";

#[tokio::test]
async fn a_missing_runtime_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("monty"), folder.path().to_owned()] {
        let error = refused(path).await;
        assert!(error.is_missing() && error.to_string().contains(INSTALL), "{error}");
    }
}

#[tokio::test]
async fn another_version_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for (name, script, found) in [
        ("old", "#!/bin/sh\necho monty-runtime 0.0.22\n", "is version 0.0.22"),
        ("other", "#!/bin/sh\necho Python 3.13\n", "is no Python runtime"),
        ("silent", "#!/bin/sh\nexit 3\n", "is no Python runtime"),
        ("text", "not a program", "is no Python runtime"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let error = refused(&path).await;
        assert!(error.is_wrong_version(), "{name}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(found) && text.contains(INSTALL), "{name}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_only_tells_the_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("monty");
    fs::write(&path, "#!/bin/sh\necho monty-runtime 0.0.23\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = refused(&path).await;
    assert!(!error.is_missing() && !error.is_wrong_version(), "{error:?}");
}

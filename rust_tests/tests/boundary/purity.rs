//! What `mcp_core` must not do, read off its own sources and manifest.

use std::fs;
use std::path::{Path, PathBuf};

fn core() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../native/mcp_core")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .flat_map(|path| {
            if path.is_dir() {
                sources(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The code of a source file, without its comments and without its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file");
    let text = text
        .split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .to_owned();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Invariant 1: no I/O, no clock, no threads, no randomness, no state that outlives a call.
#[test]
fn the_core_is_pure() {
    const FORBIDDEN: [&str; 18] = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "std::process",
        "std::time",
        "std::thread",
        "Mutex",
        "Instant::",
        "SystemTime",
        "thread_local!",
        "static mut",
        "OnceLock",
        "LazyLock",
        "RandomState",
        "println!",
        "eprintln!",
        "unsafe ",
    ];
    let files = sources(&core().join("src"));
    assert!(files.len() > 30, "the sources were found");
    for file in files {
        let code = code(&file);
        for word in FORBIDDEN {
            assert!(
                !code.contains(word),
                "{} mentions {word}",
                file.file_name().unwrap_or_default().to_string_lossy()
            );
        }
    }
}

/// `unsafe` has two places, and each block of it says why it is sound.
#[test]
fn unsafe_code_is_where_the_house_knows_it() {
    let native = core().join("..");
    let known = ["terms/raw.rs", "stdio/pollset.rs"];
    for file in ["mcp_core", "mcp_lint", "mcp_nif"]
        .iter()
        .flat_map(|name| sources(&native.join(name).join("src")))
        .filter(|file| !known.iter().any(|name| file.ends_with(name)))
    {
        assert!(!code(&file).contains("unsafe "), "{}", file.display());
    }
    for name in known {
        let file = native.join("mcp_nif/src").join(name);
        let source = fs::read_to_string(file).expect("a source file");
        let reasons = source.matches("// SAFETY: ").count();
        assert_eq!(source.matches("unsafe {").count(), reasons, "{name}");
    }
}

/// A head is judged before anything is known of the server behind it.
#[test]
fn the_rules_of_http_know_no_method_and_no_catalogue() {
    let files = sources(&core().join("src/http"));
    assert!(files.len() > 10, "the sources were found");
    for file in files {
        let code = code(&file);
        for room in [
            "crate::protocol",
            "crate::catalog",
            "crate::model",
            "crate::schema",
        ] {
            assert!(
                !code.contains(room),
                "{} knows {room}",
                file.file_name().unwrap_or_default().to_string_lossy()
            );
        }
    }
}

/// The arrows of the house: the core and the tools on it know no BEAM, no socket and no file watcher,
/// because their manifests name none.
#[test]
fn the_core_depends_on_what_the_house_allows() {
    const ALLOWED: [&str; 16] = [
        "base64",
        "chacha20poly1305",
        "httparse",
        "itoa",
        "jsonschema",
        "jsonschema-regex",
        "memchr",
        "referencing",
        "regex-automata",
        "regex-syntax",
        "serde",
        "serde_json",
        "sha2",
        "simdutf8",
        "thiserror",
        "zmij",
    ];
    depends_only_on("mcp_core", &ALLOWED);
    depends_only_on(
        "mcp_lint",
        &["jsonschema", "mcp_core", "serde_json", "thiserror"],
    );
}

fn depends_only_on(name: &str, allowed: &[&str]) {
    let manifest = core().join("..").join(name).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).expect("a manifest");
    let section = manifest
        .split("[dependencies]")
        .nth(1)
        .and_then(|rest| rest.split("\n[").next())
        .expect("dependencies");
    let names: Vec<&str> = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect();
    assert!(!names.is_empty());
    for dependency in names {
        assert!(
            allowed.contains(&dependency),
            "{name} depends on {dependency}"
        );
    }
}

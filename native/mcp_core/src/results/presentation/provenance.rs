//! Where a result is from, without telling where on this machine, or how to get in.

/// Whether a text names a place on this machine: `/x`, `~/x`, `C:\x`, `\\host\x`, `file:///x`, alone or
/// among other words. Relative paths and web addresses do not.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::provenance::names_local_path;
/// assert!(names_local_path("/etc/passwd"));
/// assert!(names_local_path(r"built from C:\work\data"));
/// assert!(!names_local_path("data/patterns.json"));
/// assert!(!names_local_path("https://example.com/patterns and/or more"));
/// ```
#[must_use]
pub fn names_local_path(text: &str) -> bool {
    words(text).any(is_local_path)
}

fn is_local_path(word: &str) -> bool {
    let mut characters = word.chars();
    match (characters.next(), characters.next(), characters.next()) {
        (Some('/'), Some(_), _)
        | (Some('~'), Some('/' | '\\'), _)
        | (Some('\\'), Some('\\'), Some(_)) => true,
        (Some(drive), Some(':'), Some('\\' | '/')) if drive.is_ascii_alphabetic() => true,
        // Something before the path, as in `source:/etc/passwd`; `https://` has two slashes.
        _ => {
            has_prefix(word, "file:")
                || word
                    .split_once(":/")
                    .is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'))
        }
    }
}

/// Whether a text holds what is given to get in: a token with a known beginning, a private key, an
/// `Authorization` value, or an address with a password.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::provenance::holds_secret;
/// assert!(holds_secret("Bearer abcdef"));
/// assert!(holds_secret("https://user:password@example.com/"));
/// assert!(!holds_secret("Effect Patterns API"));
/// ```
#[must_use]
pub fn holds_secret(text: &str) -> bool {
    text.contains("-----BEGIN ")
        || words(text).any(|word| {
            let is_token = TOKENS
                .iter()
                .any(|(start, length)| word.starts_with(start) && word.len() >= *length);
            is_token || has_password(word)
        })
        || is_credential(text)
}

/// `Bearer …`, with or without the name of its header, and any `Authorization` header.
fn is_credential(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let is_bearer = words.any(|word| word.eq_ignore_ascii_case("bearer")) && words.next().is_some();
    is_bearer || has_prefix(text.trim_start(), "authorization:")
}

/// Whether a member of that name is to be left out whatever it holds.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::provenance::is_secret_name;
/// assert!(is_secret_name("apiKey"));
/// assert!(is_secret_name("x-api-key"));
/// assert!(!is_secret_name("source"));
/// ```
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

const SECRET_NAMES: [&str; 9] = [
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// How well-known tokens begin, and how long they are at least.
const TOKENS: [(&str, usize); 10] = [
    ("sk-", 16),
    ("sk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 20),
    ("eyJ", 40),
];

/// `scheme://user:password@host`.
fn has_password(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.contains(':'))
    })
}

fn has_prefix(word: &str, prefix: &str) -> bool {
    word.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// What stands between blanks, quotes, brackets and `=`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| {
        character.is_whitespace() || "\"'`()[]{}<>=,;|".contains(character)
    })
    .filter(|word| !word.is_empty())
}

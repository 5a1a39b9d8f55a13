//! The example server, met by the official Rust client over Streamable HTTP.
//!
//!     rmcp-client <legacy|modern> <url> <expected/everything.json>
//!
//! `legacy` shakes hands with `initialize` (the session era), `modern` with `server/discover` (2026-07-28).

mod changes;
mod checks;
mod meeting;
mod user;
mod wire;

use std::error::Error;
use std::process::ExitCode;

use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

impl Era {
    fn named(name: &str) -> Option<Self> {
        match name {
            "legacy" => Some(Self::Legacy),
            "modern" => Some(Self::Modern),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    pub fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }

    pub fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Legacy => ClientLifecycleMode::Initialize,
            Self::Modern => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

/// The client handles each notification in a task of its own. On one thread the tasks run in the order of their start,
/// which is the server's.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [era, url, expected] = arguments.as_slice() else {
        return Err("usage: rmcp-client <legacy|modern> <url> <expected/everything.json>".into());
    };
    let era = Era::named(era).ok_or("the era is legacy or modern")?;
    let expected = serde_json::from_str(&std::fs::read_to_string(expected)?)?;
    meeting::hold(era, url, &expected).await
}

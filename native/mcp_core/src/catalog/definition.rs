//! What a server declares about itself: the text a catalogue is built from.

use serde::Deserialize;
use serde_json::Value;

use super::CatalogError;
use super::grant::{Public, Rules};
use crate::arguments::ArgumentRule;
use crate::json::{Limits, UNLIMITED, big_integer, check};
use crate::schema::Formats;

/// A server's whole declaration, as the Elixir router writes it. Keys are camelCase.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a server definition")]
pub struct Definition {
    /// The server itself.
    pub server: ServerDefinition,
    /// Tools in declaration order, each as it stands on the newest wire.
    #[serde(default)]
    pub tools: Vec<Value>,
    /// What admission must know of each tool beside its wire form; as many as `tools`.
    #[serde(default)]
    pub tool_rules: Vec<ToolRule>,
    /// Prompts in declaration order.
    #[serde(default)]
    pub prompts: Vec<Value>,
    /// Which prompts complete their arguments; as many as `prompts`.
    #[serde(default)]
    pub prompt_completes: Vec<bool>,
    /// Static resources in declaration order.
    #[serde(default)]
    pub resources: Vec<Value>,
    /// Resource templates in declaration order.
    #[serde(default)]
    pub resource_templates: Vec<Value>,
    /// Which templates complete their variables; as many as `resource_templates`.
    #[serde(default)]
    pub template_completes: Vec<bool>,
    /// Lists that user code computes for each request.
    #[serde(default)]
    pub dynamic: Vec<String>,
    /// Which entries are not there for every client.
    #[serde(default)]
    pub rules: Rules,
    /// Which entries may be used without a token.
    #[serde(default)]
    pub public: Public,
    /// Whether there are tools that were declared while the server runs: which ones, its own code knows.
    #[serde(default)]
    pub run_time_tools: bool,
    /// Whether some of these may run as tasks.
    #[serde(default)]
    pub run_time_tasks: bool,
}

impl Definition {
    /// As deep as messages may be: `serde_json` by itself stops a level before.
    fn parse(text: &[u8]) -> Result<Self, CatalogError> {
        let limits = Limits {
            max_depth: Limits::default().max_depth,
            ..UNLIMITED
        };
        check(text, &limits).map_err(|error| CatalogError::Definition(error.to_string()))?;
        let mut reader = serde_json::Deserializer::from_slice(text);
        reader.disable_recursion_limit();
        Self::deserialize(&mut reader).map_err(|error| CatalogError::Definition(error.to_string()))
    }

    /// Reads a definition.
    ///
    /// # Errors
    /// [`CatalogError::Definition`] when the text is none; an entry with an integer beyond 64 bits is named.
    pub fn read(text: &[u8]) -> Result<Self, CatalogError> {
        let definition = Self::parse(text)?;
        match big_integer(text) {
            Some(pointer) => Err(definition.inexact(&pointer)),
            None => Ok(definition),
        }
    }
}

/// The server's name, its texts and its defaults.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a server declaration")]
pub struct ServerDefinition {
    /// The `Implementation` object, as it stands on the newest wire.
    pub info: Value,
    /// Guidance for the model.
    #[serde(default)]
    pub instructions: Option<String>,
    /// How long a client may keep a list, in milliseconds (2026-07-28).
    #[serde(default)]
    pub ttl_ms: u64,
    /// Who may share a kept list (2026-07-28).
    #[serde(default)]
    pub cache_scope: CacheScope,
    /// How many entries a page of a list has.
    #[serde(default = "default_page_size")]
    pub page_size: usize,
    /// Extensions this server speaks, by identifier.
    #[serde(default)]
    pub extensions: serde_json::Map<String, Value>,
    /// Capabilities outside the specification, by name.
    #[serde(default)]
    pub experimental: serde_json::Map<String, Value>,
}

/// Who may share a cached list.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase", expecting = "\"private\" or \"public\"")]
pub enum CacheScope {
    /// Only the client that asked.
    #[default]
    Private,
    /// Anyone.
    Public,
}

impl CacheScope {
    /// The scope's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// What admission must know of a tool beside its wire form.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a tool's rules")]
pub struct ToolRule {
    /// Client capabilities without which the tool is not called.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Which formats its arguments have to have.
    #[serde(default)]
    pub formats: Formats,
    /// Whether arguments that do not fit are repaired where that leaves no doubt.
    #[serde(default)]
    pub repair: bool,
    /// What becomes of its arguments when they have been checked.
    #[serde(default)]
    pub arguments: Option<ArgumentRule>,
    /// What is asked of a client before the tool is called; admission asks nothing of it.
    #[serde(default)]
    pub asks: Asks,
}

/// What a tool asks of a client.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(
    rename_all = "lowercase",
    expecting = "what is asked before a tool is called"
)]
pub enum Asks {
    /// Nothing was said.
    #[default]
    Nothing,
    /// Nothing, on purpose: it is for everybody.
    Public,
    /// A function of the server's own.
    Function,
    /// Scopes of the token.
    Scopes,
}

const fn default_page_size() -> usize {
    1_000
}

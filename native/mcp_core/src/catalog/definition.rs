//! A server's declaration, from which its catalogue is built.

use serde::Deserialize;
use serde_json::Value;

use super::CatalogError;
use super::grant::{Public, Rules};
use crate::arguments::ArgumentRule;
use crate::json::{Limits, UNLIMITED, big_integer, check};
use crate::schema::Formats;

/// A server's declaration, as the Elixir router writes it. Keys are camelCase.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a server definition")]
pub struct Definition {
    /// The server's own data.
    pub server: ServerDefinition,
    /// Tools in declaration order, each in the wire format of the newest revision.
    #[serde(default)]
    pub tools: Vec<Value>,
    /// The rules of each tool, which are not in its wire format; as many as `tools`.
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
    /// Entries that only some clients may see.
    #[serde(default)]
    pub rules: Rules,
    /// Entries that may be used without a token.
    #[serde(default)]
    pub public: Public,
    /// The number of each entry's guard, also one that needs the arguments of a request. Only
    /// `mix mcp.lint` compares them.
    #[serde(default)]
    pub guards: Rules,
    /// Whether tools may be declared at run time. Only the server's own code knows them.
    #[serde(default)]
    pub run_time_tools: bool,
    /// Whether the server's own code decides about each request, also those for whole lists.
    #[serde(default)]
    pub context: bool,
    /// Whether some of these tools may run as tasks.
    #[serde(default)]
    pub run_time_tasks: bool,
}

impl Definition {
    /// Allows the same depth as for messages. The default limit of `serde_json` is one level lower.
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
    /// [`CatalogError::Definition`] when the text is not a definition. For an integer beyond 64
    /// bits the error names the entry.
    pub fn read(text: &[u8]) -> Result<Self, CatalogError> {
        let definition = Self::parse(text)?;
        match big_integer(text) {
            Some(pointer) => Err(definition.inexact(&pointer)),
            None => Ok(definition),
        }
    }
}

/// The server's name, texts and defaults.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a server declaration")]
pub struct ServerDefinition {
    /// The `Implementation` object in the wire format of the newest revision.
    pub info: Value,
    /// Guidance for the model.
    #[serde(default)]
    pub instructions: Option<String>,
    /// How long a client may cache a list, in milliseconds (2026-07-28).
    #[serde(default)]
    pub ttl_ms: u64,
    /// Who may share a cached list (2026-07-28).
    #[serde(default)]
    pub cache_scope: CacheScope,
    /// The number of entries on a page of a list.
    #[serde(default = "default_page_size")]
    pub page_size: usize,
    /// Extensions that the server supports, by identifier.
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
    /// Only the client that sent the request.
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

/// The rules of a tool, which are not in its wire format.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a tool's rules")]
pub struct ToolRule {
    /// Client capabilities that the tool requires.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The formats that its arguments must match.
    #[serde(default)]
    pub formats: Formats,
    /// Whether invalid arguments are repaired if the repair is unambiguous.
    #[serde(default)]
    pub repair: bool,
    /// The conversion of valid arguments, if any.
    #[serde(default)]
    pub arguments: Option<ArgumentRule>,
    /// The authorization check before a call. Admission does not run it.
    #[serde(default)]
    pub asks: Asks,
}

/// The authorization check of a tool.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(
    rename_all = "lowercase",
    expecting = "what is asked before a tool is called"
)]
pub enum Asks {
    /// Not declared.
    #[default]
    Nothing,
    /// Explicitly none: all clients may call the tool.
    Public,
    /// A function of the server's code.
    Function,
    /// Scopes that the token must have.
    Scopes,
}

const fn default_page_size() -> usize {
    1_000
}

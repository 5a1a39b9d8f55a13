//! Texts that cost too many tokens.
//!
//! Tokens are estimated as four bytes of UTF-8 each, rounded up. That is close to the tokenizers'
//! count for English JSON; other languages need more tokens, and each model counts differently.

use serde_json::{Value, json};

use super::finding::{Code, Findings};
use mcp_core::catalog::Definition;

/// The estimated bytes per token.
const TOKEN_BYTES: usize = 4;

/// The budgets of texts, in estimated tokens.
///
/// # Examples
/// ```
/// use mcp_lint::lint::Budgets;
/// assert_eq!(Budgets::default().description, 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// A tool's description. Default: 256, which is 1,024 bytes.
    pub description: usize,
    /// The server's instructions. Default: 512, which is 2,048 bytes.
    pub instructions: usize,
    /// Names, descriptions and input schemas of all tools together. Default: 20,000.
    pub catalogue: usize,
    /// The number of tools. Default: 128.
    pub tools: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            description: 256,
            instructions: 512,
            catalogue: 20_000,
            tools: 128,
        }
    }
}

pub(super) fn check_tool(tool: &Value, budgets: &Budgets, found: &mut Findings) {
    let text = tool.get("description").and_then(Value::as_str);
    let tokens = tokens(text.unwrap_or_default().len());
    if tokens > budgets.description {
        found.add(
            Code::DescriptionBudget,
            "/description",
            format!(
                "the description takes about {tokens} tokens, over the budget of {}",
                budgets.description
            ),
            "Begin with what matters, and move the rest into a resource or the instructions.",
        );
    }
}

pub(super) fn check_server(definition: &Definition, budgets: &Budgets, found: &mut Findings) {
    let info = definition.server.info.get("name").and_then(Value::as_str);
    found.about_server(info.unwrap_or_default());
    let instructions = definition.server.instructions.as_deref();
    let instructions = tokens(instructions.unwrap_or_default().len());
    if instructions > budgets.instructions {
        found.add(
            Code::InstructionsBudget,
            "/instructions",
            format!(
                "the instructions take about {instructions} tokens, over the budget of {}",
                budgets.instructions
            ),
            "Begin with what matters, and move the rest into a resource.",
        );
    }
    let catalogue = tokens(definition.tools.iter().map(seen).sum());
    if catalogue > budgets.catalogue {
        found.add(
            Code::CatalogueBudget,
            "/tools",
            format!("the tools take about {catalogue} tokens, over the budget of {}", budgets.catalogue),
            "Shorten descriptions and schemas, join tools that are alike, or serve some from a router of their own.",
        );
    }
    let count = definition.tools.len();
    if count > budgets.tools {
        found.add(
            Code::ToolCount,
            "/tools",
            format!(
                "there are {count} tools, over the budget of {}",
                budgets.tools
            ),
            "Join tools that are alike, or serve some from a router of their own.",
        );
    }
}

/// The bytes of a tool that a model sees.
fn seen(tool: &Value) -> usize {
    let member = |name: &str| tool.get(name).cloned().unwrap_or_default();
    let seen = json!({
        "name": member("name"),
        "description": member("description"),
        "inputSchema": member("inputSchema"),
    });
    seen.to_string().len()
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(TOKEN_BYTES)
}

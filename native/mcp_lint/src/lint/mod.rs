//! What is wrong with a catalogue although it can be served: contradictions nobody can satisfy,
//! shapes that known clients refuse, texts that are missing or too long.
//!
//! | module | finds |
//! |---|---|
//! | `access` | tools that change things and need no scope, beside others that need one |
//! | `contradictions` | schemas that no value satisfies |
//! | `values` | defaults, examples and enum members that their own schema refuses |
//! | `clients` | what clients refuse of a schema, or make something else of |
//! | `names` | names that clients refuse, or that models take for each other |
//! | `texts` | descriptions and annotations that are missing |
//! | `budgets` | what costs more tokens than it should |
//! | `templates` | URIs that more than one resource answers |

mod access;
mod budgets;
mod clients;
mod contradictions;
mod finding;
mod names;
mod templates;
mod texts;
mod values;

pub use budgets::Budgets;
pub use finding::{Code, Finding, Kind, Severity};

use serde_json::Value;

use finding::Findings;
use mcp_core::catalog::{CatalogError, CatalogLimits, Definition, ToolRule};
use mcp_core::schema::{Formats, SchemaLimits};

/// Says what is wrong with a definition, in the order of its declarations.
///
/// The definition is the text a [`Catalog`](mcp_core::catalog::Catalog) is built from, and one that it
/// can be built from. Schemas are compiled, so this wants a thread with 64 MiB of stack.
///
/// # Errors
/// [`CatalogError`] when the text is no definition.
///
/// # Examples
/// ```
/// use mcp_core::catalog::CatalogLimits;
/// use mcp_lint::lint::{Budgets, Code, lint};
///
/// let definition = br#"{"server": {"info": {"name": "s", "version": "1"}}, "tools": [{
///   "name": "tag", "description": "Tags a page", "annotations": {"readOnlyHint": false, "destructiveHint": false},
///   "inputSchema": {"type": "object", "properties": {"tags": {"type": "array", "description": "The tags"}}}
/// }]}"#;
/// let found = lint(definition, &Budgets::default(), &CatalogLimits::default())?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].code, Code::ArrayItems);
/// assert_eq!(found[0].pointer, "/inputSchema/properties/tags");
/// # Ok::<(), mcp_core::catalog::CatalogError>(())
/// ```
pub fn lint(
    definition: &[u8],
    budgets: &Budgets,
    limits: &CatalogLimits,
) -> Result<Vec<Finding>, CatalogError> {
    let definition = Definition::read(definition)?;
    let mut found = Findings::default();
    budgets::check_server(&definition, budgets, &mut found);
    let unruled = ToolRule::default();
    let rules = definition.tool_rules.iter();
    let rules = rules.chain(std::iter::repeat(&unruled));
    let is_protected = access::is_protected(&definition.tool_rules);
    for (tool, rule) in definition.tools.iter().zip(rules) {
        found.about(Kind::Tool, tool);
        if is_protected {
            access::check_tool(tool, rule, &mut found);
        }
        check_tool(tool, rule, budgets, &limits.schema, &mut found);
    }
    names::check_alike(Kind::Tool, &definition.tools, &mut found);
    for prompt in &definition.prompts {
        found.about(Kind::Prompt, prompt);
        texts::check_prompt(prompt, &mut found);
    }
    names::check_alike(Kind::Prompt, &definition.prompts, &mut found);
    for (kind, entries) in [
        (Kind::Resource, &definition.resources),
        (Kind::ResourceTemplate, &definition.resource_templates),
    ] {
        for entry in entries {
            found.about(kind, entry);
            texts::check_description(entry, "", &mut found);
        }
    }
    templates::check(&definition, &limits.template, &mut found);
    Ok(found.into_sorted(&definition))
}

fn check_tool(
    tool: &Value,
    rule: &ToolRule,
    budgets: &Budgets,
    limits: &SchemaLimits,
    found: &mut Findings,
) {
    names::check_tool(tool, found);
    texts::check_tool(tool, found);
    budgets::check_tool(tool, budgets, found);
    if let Some(schema) = tool.get("inputSchema") {
        clients::check_input(schema, rule, found);
    }
    if let Some(schema) = tool.get("outputSchema") {
        clients::check_output(schema, found);
    }
    // No result is refused for a format.
    for (member, formats) in [
        ("inputSchema", &rule.formats),
        ("outputSchema", &Formats::Annotate),
    ] {
        if let Some(schema) = tool.get(member) {
            contradictions::check(member, schema, limits, found);
            values::check(member, schema, formats, limits, found);
        }
    }
}

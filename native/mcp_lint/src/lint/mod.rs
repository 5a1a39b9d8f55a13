//! Finds problems of valid catalogues: contradictions, shapes that known clients refuse,
//! missing texts and texts that are too long.
//!
//! | module | finds |
//! |---|---|
//! | `access` | destructive tools without a scope in a catalogue with scopes |
//! | `contradictions` | schemas that no value satisfies |
//! | `values` | defaults, examples and enum members that their own schema refuses |
//! | `clients` | schemas that clients refuse or misread |
//! | `names` | names that clients refuse or models confuse |
//! | `texts` | missing descriptions and annotations |
//! | `budgets` | texts that cost too many tokens |
//! | `templates` | URIs that match more than one resource |

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

/// Returns the findings of a definition, in the order of its declarations.
///
/// The definition is a text from which a [`Catalog`](mcp_core::catalog::Catalog) can be built.
/// This compiles schemas, so it needs a thread with 64 MiB of stack.
///
/// # Errors
/// [`CatalogError`] if the text is no definition.
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
    // Formats of results are not enforced.
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

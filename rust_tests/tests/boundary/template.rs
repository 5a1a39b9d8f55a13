//! URI templates through `mcp_core::catalog::template`.

mod corpus;
mod matching;
mod normal;
mod parsing;

use mcp_core::catalog::template::{Template, TemplateError, TemplateLimits};

fn parse(text: &str) -> Result<Template, TemplateError> {
    Template::parse(text, &TemplateLimits::default())
}

/// The captures as text: `a=1 b=2`.
fn captures(template: &str, uri: &str) -> Option<String> {
    let matcher = parse(template).unwrap().matcher().unwrap();
    let captures = matcher.captures(uri)?;
    let shown: Vec<String> = captures
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Some(shown.join(" "))
}

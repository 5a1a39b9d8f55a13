//! URIs that match more than one resource.
//!
//! A static resource has priority over templates, and the first matching template over later ones.
//! A finding shows a URI that both match. Some overlaps are missed, because only a few URIs are
//! tried.

use serde_json::Value;

use super::finding::{Code, Findings, Kind, name};
use mcp_core::catalog::Definition;
use mcp_core::catalog::template::{Matcher, Template, TemplateLimits, VarValue};

/// The most values tried for each variable, and URIs tried for each pair of templates.
const MAX_VALUES: usize = 8;
const MAX_TRIED: usize = 512;

struct Known<'d> {
    entry: &'d Value,
    name: &'d str,
    text: &'d str,
    template: Template,
    matcher: Matcher,
}

pub(super) fn check(definition: &Definition, limits: &TemplateLimits, found: &mut Findings) {
    let known: Vec<Known<'_>> = definition
        .resource_templates
        .iter()
        .filter_map(|entry| known(entry, limits))
        .collect();
    for resource in &definition.resources {
        check_resource(resource, &known, found);
    }
    for (index, later) in known.iter().enumerate() {
        for earlier in known.iter().take(index) {
            check_pair(earlier, later, found);
        }
    }
}

fn known<'d>(entry: &'d Value, limits: &TemplateLimits) -> Option<Known<'d>> {
    let text = entry.get("uriTemplate")?.as_str()?;
    let template = Template::parse(text, limits).ok()?;
    let matcher = template.matcher().ok()?;
    Some(Known {
        entry,
        name: name(entry),
        text,
        template,
        matcher,
    })
}

fn check_resource(resource: &Value, known: &[Known<'_>], found: &mut Findings) {
    let Some(uri) = resource.get("uri").and_then(Value::as_str) else {
        return;
    };
    if let Some(template) = known
        .iter()
        .find(|known| known.matcher.captures(uri).is_some())
    {
        found.about(Kind::Resource, resource);
        found.add(
            Code::TemplateShadowed,
            "/uri",
            format!(
                "the template {:?} ({}) matches {uri} too; this resource answers it",
                template.name, template.text
            ),
            "If that is meant, `lint ignore: [:template_shadowed]` in the resource says so; otherwise give one of them another URI.",
        );
    }
}

fn check_pair(earlier: &Known<'_>, later: &Known<'_>, found: &mut Findings) {
    found.about(Kind::ResourceTemplate, later.entry);
    if without_names(earlier.text) == without_names(later.text) {
        found.add(
            Code::SameTemplate,
            "/uriTemplate",
            format!(
                "{} matches what {:?} ({}) matches, and never answers",
                later.text, earlier.name, earlier.text
            ),
            "Remove one of the two.",
        );
    } else if let Some(uri) = shared(earlier, later).or_else(|| shared(later, earlier)) {
        found.add(
            Code::TemplateOverlap,
            "/uriTemplate",
            format!(
                "{:?} ({}) matches {uri} too; it was declared first and answers it",
                earlier.name, earlier.text
            ),
            "Declare the more special template first, or give one of them another URI.",
        );
    }
}

/// The template without the names of variables that are no part of the URI: `a://{}/{+}{?of,to}`.
fn without_names(text: &str) -> String {
    let mut shape = String::new();
    for part in text.split_inclusive('}') {
        let (literal, expression) = part.split_once('{').unwrap_or((part, ""));
        shape.push_str(literal);
        if expression.is_empty() {
            continue;
        }
        shape.push('{');
        let is_name =
            |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | '%');
        // In `{.name}` the dot is an operator and no part of the name.
        let operator = expression.chars().take(1).filter(|first| *first == '.');
        if expression.starts_with(['?', '&', ';']) {
            shape.push_str(expression);
        } else {
            let rest = expression.chars().filter(|character| !is_name(*character));
            shape.extend(operator.chain(rest));
        }
    }
    shape
}

/// A URI of `template` that `other` matches too, built from pieces of the other's text.
fn shared(template: &Known<'_>, other: &Known<'_>) -> Option<String> {
    if !begin_alike(template.text, other.text) {
        return None;
    }
    let values = values(other.text);
    let variables = template.template.variables();
    let asked = queried(template.text);
    for attempt in 0..MAX_TRIED {
        let chosen = chosen(attempt, variables.len(), &values)?;
        let value = |name: &str| {
            let index = variables.iter().position(|known| known == name)?;
            chosen
                .get(index)
                .map(|text| VarValue::Text((*text).to_owned()))
        };
        // A URI may omit its query.
        let unasked = |name: &str| value(name).filter(|_| !asked.contains(&name));
        let uris = [
            template.template.expand(&value),
            template.template.expand(&unasked),
        ];
        let is_matched = |uri: &String| {
            let mut both = [template, other].into_iter();
            both.all(|known| known.matcher.captures(uri).is_some())
        };
        if let Some(uri) = uris.into_iter().flatten().find(is_matched) {
            return Some(uri);
        }
    }
    None
}

/// The variable names in a query.
fn queried(text: &str) -> Vec<&str> {
    let expressions = text.split('{').filter_map(|part| part.split('}').next());
    let queries = expressions.filter_map(|expression| expression.strip_prefix(['?', '&']));
    queries.flat_map(|names| names.split(',')).collect()
}

/// Whether the texts before the first variables allow a common URI.
fn begin_alike(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text.split('{').next().unwrap_or_default());
    one.starts_with(other) || other.starts_with(one)
}

/// The values of the variables in this attempt: the digits of its number select them, with the
/// number of values as the base. `None` after the last attempt.
fn chosen(attempt: usize, variables: usize, values: &[String]) -> Option<Vec<&String>> {
    let mut rest = attempt;
    let mut chosen = Vec::with_capacity(variables);
    for _ in 0..variables {
        chosen.push(values.get(rest.checked_rem(values.len())?)?);
        rest = rest.checked_div(values.len())?;
    }
    (rest == 0).then_some(chosen)
}

/// The values for a variable: `x`, pieces of the other template's literal text, and `x/x`.
fn values(text: &str) -> Vec<String> {
    let mut values = vec!["x".to_owned()];
    let literals = text.split('{').filter_map(|piece| piece.rsplit('}').next());
    let pieces = literals.flat_map(|literal| literal.split(['/', '?', '&', '=', '.', ':', ',']));
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        if !values.iter().any(|known| known == piece) {
            values.push(piece.to_owned());
        }
    }
    values.push("x/x".to_owned());
    // Variables replace the last pieces of a URI more often than the first.
    if let Some(surplus) = values.len().checked_sub(MAX_VALUES) {
        values.drain(1..surplus.saturating_add(1));
    }
    values
}

//! URIs that match more than one resource.
//!
//! A static resource has priority over templates, and the first matching template over later ones.
//! An entry that is hidden from a client leaves its URIs to the next, and a URI in another form, such
//! as with a second slash, may match only a wider template. So a guard protects its own entry only.
//!
//! A finding shows a URI that both match. Some overlaps are missed, because only a few URIs are
//! tried.

use serde_json::Value;

use super::finding::{Code, Findings, Kind, name};
use mcp_core::catalog::template::{Matcher, Template, TemplateLimits, VarValue};
use mcp_core::catalog::{Definition, Entry, ListKind};

/// The most values tried for each variable, and URIs tried for each pair of templates.
const MAX_VALUES: usize = 8;
const MAX_TRIED: usize = 512;

struct Known<'d> {
    entry: &'d Value,
    name: &'d str,
    text: &'d str,
    template: Template,
    matcher: Matcher,
    /// The number of its guard; `None` if all clients may use it.
    guard: Option<usize>,
}

/// What to do about a guard that another template bypasses.
const GUARD: &str = "Guard that template, too, or let its handler refuse these URIs; `lint ignore: [:guard_overlap]` in the resource says that this is meant.";

pub(super) fn check(definition: &Definition, limits: &TemplateLimits, found: &mut Findings) {
    let known: Vec<Known<'_>> = definition
        .resource_templates
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| {
            let guard = guard(definition, ListKind::ResourceTemplates, index);
            known(entry, guard, limits)
        })
        .collect();
    for (index, resource) in definition.resources.iter().enumerate() {
        let guard = guard(definition, ListKind::Resources, index);
        check_resource(resource, guard, &known, found);
    }
    for (index, later) in known.iter().enumerate() {
        for earlier in known.iter().take(index) {
            check_pair(earlier, later, found);
        }
    }
}

fn guard(definition: &Definition, kind: ListKind, index: usize) -> Option<usize> {
    definition.guards.of(Entry::new(kind, index))
}

fn known<'d>(entry: &'d Value, guard: Option<usize>, limits: &TemplateLimits) -> Option<Known<'d>> {
    let text = entry.get("uriTemplate")?.as_str()?;
    let template = Template::parse(text, limits).ok()?;
    let matcher = template.matcher().ok()?;
    Some(Known {
        entry,
        name: name(entry),
        text,
        template,
        matcher,
        guard,
    })
}

fn check_resource(
    resource: &Value,
    guard: Option<usize>,
    known: &[Known<'_>],
    found: &mut Findings,
) {
    let Some(uri) = resource.get("uri").and_then(Value::as_str) else {
        return;
    };
    found.about(Kind::Resource, resource);
    let (bypassing, others): (Vec<&Known<'_>>, Vec<&Known<'_>>) = known
        .iter()
        .filter(|known| known.matcher.captures(uri).is_some())
        .partition(|known| guard.is_some() && known.guard != guard);
    if let Some(template) = bypassing.first() {
        found.add(
            Code::GuardOverlap,
            "/uri",
            format!(
                "{} matches {uri} too, and {}: it answers clients that this resource is hidden from, and other forms of the path",
                named(template),
                guarded(template)
            ),
            GUARD,
        );
    }
    if let Some(template) = others.first() {
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

/// A template in a sentence.
fn named(template: &Known<'_>) -> String {
    format!("the template {:?} ({})", template.name, template.text)
}

/// What a template has instead of the guard of another entry.
const fn guarded(template: &Known<'_>) -> &'static str {
    if template.guard.is_some() {
        "has another guard"
    } else {
        "has no guard"
    }
}

fn check_pair(earlier: &Known<'_>, later: &Known<'_>, found: &mut Findings) {
    let is_same = without_names(earlier.text) == without_names(later.text);
    let is_hidden = earlier.guard.is_some() && earlier.guard != later.guard;
    let uri = || shared(earlier, later).or_else(|| shared(later, earlier));
    let uri = if is_same && !is_hidden { None } else { uri() };
    if let Some(uri) = &uri
        && check_guards(earlier, later, uri, found)
    {
        return;
    }
    found.about(Kind::ResourceTemplate, later.entry);
    if is_same && !is_hidden {
        found.add(
            Code::SameTemplate,
            "/uriTemplate",
            format!(
                "{} matches what {:?} ({}) matches, and never answers",
                later.text, earlier.name, earlier.text
            ),
            "Remove one of the two.",
        );
    } else if let Some(uri) = uri {
        let hidden = if is_hidden {
            ", unless it is hidden from the client"
        } else {
            ""
        };
        found.add(
            Code::TemplateOverlap,
            "/uriTemplate",
            format!(
                "{:?} ({}) matches {uri} too; it was declared first and answers it{hidden}",
                earlier.name, earlier.text
            ),
            "Declare the more special template first, or give one of them another URI.",
        );
    }
}

/// Finds guards of the two that the other template bypasses. An open template inside of a guarded one
/// bypasses nothing: its URIs are meant to be open.
fn check_guards(earlier: &Known<'_>, later: &Known<'_>, uri: &str, found: &mut Findings) -> bool {
    let mut is_found = false;
    for (own, other) in [(later, earlier), (earlier, later)] {
        let is_exception = || covers(own, other) && !covers(other, own);
        if own.guard.is_none() || own.guard == other.guard || is_exception() {
            continue;
        }
        is_found = true;
        let answers = if std::ptr::eq(own, later) {
            "it was declared first and answers it"
        } else {
            "it answers clients that this resource is hidden from, and other forms of the path"
        };
        found.about(Kind::ResourceTemplate, own.entry);
        found.add(
            Code::GuardOverlap,
            "/uriTemplate",
            format!(
                "{} matches {uri} too, and {}: {answers}",
                named(other),
                guarded(other)
            ),
            GUARD,
        );
    }
    is_found
}

/// Whether a template matches all tried URIs of the other.
fn covers(template: &Known<'_>, other: &Known<'_>) -> bool {
    let is_own = |uri: &String| other.matcher.captures(uri).is_some();
    let mut uris = tried(other, template).filter(is_own);
    uris.all(|uri| template.matcher.captures(&uri).is_some())
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

/// A URI of `template` that `other` matches too.
fn shared(template: &Known<'_>, other: &Known<'_>) -> Option<String> {
    if !begin_alike(template.text, other.text) {
        return None;
    }
    tried(template, other).find(|uri| {
        let mut both = [template, other].into_iter();
        both.all(|known| known.matcher.captures(uri).is_some())
    })
}

/// URIs of `template`, built from pieces of the other's text.
fn tried(template: &Known<'_>, other: &Known<'_>) -> impl Iterator<Item = String> {
    let values = values(other.text);
    let variables = template.template.variables();
    let asked = queried(template.text);
    (0..MAX_TRIED)
        .map_while(move |attempt| {
            let chosen = chosen(attempt, variables.len(), &values)?;
            let value = |name: &str| {
                let index = variables.iter().position(|known| known == name)?;
                chosen
                    .get(index)
                    .map(|text| VarValue::Text((*text).to_owned()))
            };
            // A URI may omit its query.
            let unasked = |name: &str| value(name).filter(|_| !asked.contains(&name));
            Some([
                template.template.expand(&value),
                template.template.expand(&unasked),
            ])
        })
        .flatten()
        .flatten()
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

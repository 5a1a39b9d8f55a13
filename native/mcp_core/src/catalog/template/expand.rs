//! Expansion, RFC 6570 section 3.

use super::TemplateError;
use super::parse::{Expression, Modifier, Operator, Part, Variable};
use super::percent::{Allow, encode, normal_form};

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VarValue {
    /// A string.
    Text(String),
    /// A list of strings. An empty list counts as no value.
    List(Vec<String>),
    /// Names with their values, in order. An empty list counts as no value.
    Pairs(Vec<(String, String)>),
}

/// How an operator expands (the table in RFC 6570, appendix A).
struct Style {
    first: &'static str,
    separator: char,
    is_named: bool,
    if_empty: &'static str,
    allow: Allow,
}

const fn style(operator: Operator) -> Style {
    let (first, separator, is_named, if_empty, allow) = match operator {
        Operator::Simple => ("", ',', false, "", Allow::Unreserved),
        Operator::Reserved => ("", ',', false, "", Allow::Reserved),
        Operator::Fragment => ("#", ',', false, "", Allow::Reserved),
        Operator::Label => (".", '.', false, "", Allow::Unreserved),
        Operator::Path => ("/", '/', false, "", Allow::Unreserved),
        Operator::Parameter => (";", ';', true, "", Allow::Unreserved),
        Operator::Query => ("?", '&', true, "=", Allow::Unreserved),
        Operator::Continuation => ("&", '&', true, "=", Allow::Unreserved),
    };
    Style {
        first,
        separator,
        is_named,
        if_empty,
        allow,
    }
}

pub(super) fn expand(
    parts: &[Part],
    value: &impl Fn(&str) -> Option<VarValue>,
) -> Result<String, TemplateError> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => encode(&mut out, text, Allow::Reserved),
            Part::Expression(expression) => expand_expression(&mut out, expression, value)?,
        }
    }
    Ok(out)
}

/// A literal in its URI encoding, in the normal form that URIs have when they are matched.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::new();
    encode(&mut out, text, Allow::Reserved);
    normal_form(&out).into_owned()
}

fn expand_expression(
    out: &mut String,
    expression: &Expression,
    value: &impl Fn(&str) -> Option<VarValue>,
) -> Result<(), TemplateError> {
    let style = style(expression.operator);
    let mut is_first = true;
    for variable in &expression.variables {
        let Some(value) = value(&variable.name).filter(is_defined) else {
            continue;
        };
        if is_first {
            out.push_str(style.first);
        } else {
            out.push(style.separator);
        }
        is_first = false;
        expand_variable(out, variable, &value, &style)?;
    }
    Ok(())
}

fn is_defined(value: &VarValue) -> bool {
    match value {
        VarValue::Text(_) => true,
        VarValue::List(items) => !items.is_empty(),
        VarValue::Pairs(pairs) => !pairs.is_empty(),
    }
}

fn expand_variable(
    out: &mut String,
    variable: &Variable,
    value: &VarValue,
    style: &Style,
) -> Result<(), TemplateError> {
    match (value, variable.modifier) {
        (VarValue::Text(text), Modifier::Prefix(length)) => {
            let end = text.char_indices().nth(length).map(|(at, _)| at);
            let prefix = end.and_then(|end| text.get(..end)).unwrap_or(text);
            push_named(out, &variable.name, prefix, style);
        }
        (VarValue::Text(text), _) => push_named(out, &variable.name, text, style),
        (_, Modifier::Prefix(_)) => {
            return Err(TemplateError::PrefixOfComposite {
                name: variable.name.clone(),
            });
        }
        (VarValue::List(items), Modifier::Explode) => {
            join(out, items, style.separator, |out, item| {
                push_named(out, &variable.name, item, style);
            });
        }
        (VarValue::Pairs(pairs), Modifier::Explode) => {
            join(out, pairs, style.separator, |out, (name, value)| {
                encode(out, name, style.allow);
                push_value(out, value, style, style.is_named);
            });
        }
        (VarValue::List(items), Modifier::Plain) => {
            push_name(out, &variable.name, style);
            join(out, items, ',', |out, item| encode(out, item, style.allow));
        }
        (VarValue::Pairs(pairs), Modifier::Plain) => {
            push_name(out, &variable.name, style);
            join(out, pairs, ',', |out, (name, value)| {
                encode(out, name, style.allow);
                out.push(',');
                encode(out, value, style.allow);
            });
        }
    }
    Ok(())
}

fn join<T>(out: &mut String, items: &[T], separator: char, push: impl Fn(&mut String, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        push(out, item);
    }
}

fn push_name(out: &mut String, name: &str, style: &Style) {
    if style.is_named {
        out.push_str(name);
        out.push('=');
    }
}

fn push_named(out: &mut String, name: &str, value: &str, style: &Style) {
    if style.is_named {
        out.push_str(name);
        push_value(out, value, style, true);
    } else {
        encode(out, value, style.allow);
    }
}

/// `=value`, or the operator's form for an empty named value.
fn push_value(out: &mut String, value: &str, style: &Style, is_named: bool) {
    if value.is_empty() && is_named {
        out.push_str(style.if_empty);
    } else {
        out.push('=');
        encode(out, value, style.allow);
    }
}

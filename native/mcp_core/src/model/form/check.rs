//! The rules for forms since 2025-11-25. The forms of 2025-06-18 are a part of them.

use super::node::Node;
use super::property::Property;
use super::{FormError, FormStep};

// The log shows these texts, but nothing in quotes.
pub(super) const OBJECT: &str = "expected an object";
const PROPERTY: &str = "expected a property of type string, number, integer, boolean or array, \
                        because forms have no nested objects";
const CHOICES: &str = "expected choices: the type string with a list enum, or a list anyOf of \
                       objects with const and title";
const OPTIONS: &str = "expected a list of objects with const and title";
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

pub(super) type Checked = Result<(), Misfit>;

/// A value that no form has at its place.
#[derive(Debug)]
pub(super) struct Misfit {
    /// From the inside out: each caller adds its step.
    steps: Vec<FormStep>,
    expected: &'static str,
}

impl Misfit {
    pub(super) fn outside_in(mut self) -> FormError {
        self.steps.reverse();
        FormError::Invalid {
            path: self.steps,
            expected: self.expected,
        }
    }

    fn under(mut self, step: FormStep) -> Self {
        self.steps.push(step);
        self
    }

    fn under_name(self, name: &str) -> Self {
        self.under(FormStep::Name(name.to_owned()))
    }
}

fn require(allowed: bool, expected: &'static str) -> Checked {
    if allowed {
        return Ok(());
    }
    Err(Misfit {
        steps: Vec::new(),
        expected,
    })
}

/// Checks a member that an object may lack.
fn optional(object: &Node<'_>, name: &str, check: impl Fn(&Node<'_>) -> Checked) -> Checked {
    let checked = object.get(name).map_or(Ok(()), check);
    checked.map_err(|misfit| misfit.under_name(name))
}

/// Checks a member that an object must have. A missing one counts as `null`.
fn required(object: &Node<'_>, name: &str, check: impl Fn(&Node<'_>) -> Checked) -> Checked {
    let checked = check(object.get(name).unwrap_or(&Node::Null));
    checked.map_err(|misfit| misfit.under_name(name))
}

/// Checks the elements of an array; `expected` describes the array.
fn each(array: &Node<'_>, expected: &'static str, check: impl Fn(&Node<'_>) -> Checked) -> Checked {
    let elements = array.elements();
    require(elements.is_some(), expected)?;
    for (index, element) in elements.unwrap_or_default().iter().enumerate() {
        check(element).map_err(|misfit| misfit.under(FormStep::Index(index)))?;
    }
    Ok(())
}

pub(super) fn form(form: &Node<'_>) -> Checked {
    require(form.members().is_some(), OBJECT)?;
    required(form, "type", |kind| {
        require(kind.text() == Some("object"), "expected the type object")
    })?;
    required(form, "properties", properties)?;
    optional(form, "required", texts)?;
    optional(form, "$schema", text)
}

fn properties(properties: &Node<'_>) -> Checked {
    let members = properties.members();
    require(members.is_some(), OBJECT)?;
    for (name, schema) in members.unwrap_or_default() {
        property(schema).map_err(|misfit| misfit.under_name(name))?;
    }
    Ok(())
}

fn property(schema: &Node<'_>) -> Checked {
    match Property::of(schema) {
        None => require(false, PROPERTY),
        Some(Property::Text) => {
            optional(schema, "minLength", integer)?;
            optional(schema, "maxLength", integer)?;
            optional(schema, "format", format)?;
            optional(schema, "default", text)
        }
        Some(Property::Choice) => {
            optional(schema, "enum", texts)?;
            optional(schema, "enumNames", texts)?;
            optional(schema, "default", text)
        }
        Some(Property::TitledChoice) => {
            optional(schema, "oneOf", options)?;
            optional(schema, "default", text)
        }
        Some(Property::Number) => {
            optional(schema, "minimum", number)?;
            optional(schema, "maximum", number)?;
            optional(schema, "default", number)
        }
        Some(Property::Boolean) => optional(schema, "default", boolean),
        Some(Property::Choices) => {
            required(schema, "items", choices)?;
            optional(schema, "minItems", integer)?;
            optional(schema, "maxItems", integer)?;
            optional(schema, "default", texts)
        }
    }?;
    optional(schema, "title", text)?;
    optional(schema, "description", text)
}

/// The `items` of an array.
fn choices(items: &Node<'_>) -> Checked {
    if items.get("anyOf").is_some() {
        return optional(items, "anyOf", options);
    }
    let is_string = items.get("type").and_then(Node::text) == Some("string");
    require(is_string && items.get("enum").is_some(), CHOICES)?;
    optional(items, "enum", texts)
}

fn options(list: &Node<'_>) -> Checked {
    each(list, OPTIONS, |option| {
        require(option.members().is_some(), OBJECT)?;
        required(option, "const", text)?;
        required(option, "title", text)
    })
}

fn texts(list: &Node<'_>) -> Checked {
    each(list, "expected a list of strings", text)
}

fn text(value: &Node<'_>) -> Checked {
    require(value.text().is_some(), "expected a string")
}

fn format(value: &Node<'_>) -> Checked {
    let known = value.text().is_some_and(|name| FORMATS.contains(&name));
    require(known, "expected one of email, uri, date, date-time")
}

fn integer(value: &Node<'_>) -> Checked {
    require(value.is_integer(), "expected an integer")
}

fn number(value: &Node<'_>) -> Checked {
    require(value.is_number(), "expected a number")
}

fn boolean(value: &Node<'_>) -> Checked {
    require(matches!(value, Node::Boolean(_)), "expected true or false")
}

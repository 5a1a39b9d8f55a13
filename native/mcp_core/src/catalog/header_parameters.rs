//! `x-mcp-header`: arguments of a tool that clients repeat in `Mcp-Param-*` headers (2026-07-28).
//!
//! Clients drop a tool with an invalid annotation, so the catalogue refuses it when it is built.

use serde_json::{Map, Value};

const ANNOTATION: &str = "x-mcp-header";

/// Keywords whose members are schemas, beside `properties`.
const SCHEMA_MAPS: [&str; 5] = [
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Keywords whose content is data; annotations there are ignored.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// An argument that a header repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParameter {
    /// The part of the header name after `Mcp-Param-`, as declared.
    pub header: String,
    /// The same in lower case, because header names are case-insensitive.
    pub key: String,
    /// The property names on the path to the argument.
    pub path: Vec<String>,
}

/// The annotated properties of an input schema.
///
/// # Errors
/// A text that names the invalid property and the fault.
pub fn collect(schema: &Value) -> Result<Vec<HeaderParameter>, String> {
    let mut found = Vec::new();
    walk(schema, &Place::root(), &mut found)?;
    for (place, parameter) in found.iter().enumerate() {
        if found
            .iter()
            .take(place)
            .any(|other| other.key == parameter.key)
        {
            return Err(format!(
                "property {:?}: {ANNOTATION} \"{}\" is taken by another property",
                parameter.path.join("."),
                parameter.header
            ));
        }
    }
    Ok(found)
}

/// The current position in the schema.
struct Place {
    /// The JSON pointer, for error messages.
    pointer: String,
    /// The property names on the path; `None` if the path has other keywords.
    properties: Option<Vec<String>>,
}

impl Place {
    const fn root() -> Self {
        Self {
            pointer: String::new(),
            properties: Some(Vec::new()),
        }
    }

    fn property(&self, name: &str) -> Self {
        let properties = self.properties.clone().map(|mut names| {
            names.push(name.to_owned());
            names
        });
        Self {
            properties,
            ..self.elsewhere(&format!("properties/{name}"))
        }
    }

    fn elsewhere(&self, step: &str) -> Self {
        Self {
            pointer: format!("{}/{step}", self.pointer),
            properties: None,
        }
    }

    /// The parameter that the annotation here declares.
    fn parameter(
        &self,
        annotation: &Value,
        schema: &Map<String, Value>,
    ) -> Result<HeaderParameter, String> {
        let path = match &self.properties {
            Some(names) if !names.is_empty() => names.clone(),
            _ => {
                return Err(format!(
                    "{ANNOTATION} at \"{}\" stands where nothing but a chain of properties may lead",
                    self.pointer
                ));
            }
        };
        let refuse = |reason: &str| Err(format!("property {:?}: {reason}", path.join(".")));
        let Some(header) = annotation.as_str().filter(|name| is_token(name)) else {
            return refuse("x-mcp-header must be a text of the characters that header names have");
        };
        if !matches!(
            schema.get("type").and_then(Value::as_str),
            Some("string" | "integer" | "boolean")
        ) {
            return refuse("x-mcp-header needs the type string, integer or boolean");
        }
        Ok(HeaderParameter {
            header: header.to_owned(),
            key: header.to_ascii_lowercase(),
            path,
        })
    }
}

/// Visits every subschema. The value of an unknown keyword counts as one too.
fn walk(value: &Value, place: &Place, found: &mut Vec<HeaderParameter>) -> Result<(), String> {
    match value {
        Value::Object(schema) => walk_schema(schema, place, found),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| walk(item, &place.elsewhere(&index.to_string()), found)),
        _ => Ok(()),
    }
}

fn walk_schema(
    schema: &Map<String, Value>,
    place: &Place,
    found: &mut Vec<HeaderParameter>,
) -> Result<(), String> {
    if let Some(annotation) = schema.get(ANNOTATION) {
        found.push(place.parameter(annotation, schema)?);
    }
    for (keyword, content) in schema {
        let keyword = keyword.as_str();
        match content {
            _ if keyword == ANNOTATION || DATA.contains(&keyword) => {}
            Value::Object(members) if keyword == "properties" => {
                for (name, member) in members {
                    walk(member, &place.property(name), found)?;
                }
            }
            Value::Object(members) if SCHEMA_MAPS.contains(&keyword) => {
                for (name, member) in members {
                    walk(
                        member,
                        &place.elsewhere(&format!("{keyword}/{name}")),
                        found,
                    )?;
                }
            }
            _ => walk(content, &place.elsewhere(keyword), found)?,
        }
    }
    Ok(())
}

/// Whether a text is a valid header name (RFC 9110).
fn is_token(name: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(belongs)
}

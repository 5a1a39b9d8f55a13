//! Finds the subschema of a place in the value, if it is the only one.

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::json::pointer;
use crate::schema::keywords::is_annotation;

/// Keywords by which several subschemas may apply to one value.
const AMBIGUOUS: [&str; 11] = [
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "oneOf",
    "then",
];

/// Keywords, besides annotations, that do not constrain the value beside a `$ref`.
const BESIDE_REF: [&str; 4] = ["$defs", "$ref", "$schema", "definitions"];

/// A schema that finds the subschemas of places.
pub(super) struct Places<'s> {
    root: &'s Value,
    draft: Draft,
    max_refs: usize,
}

impl<'s> Places<'s> {
    /// `None` for a custom dialect, which may omit keywords.
    pub(super) fn new(root: &'s Value, max_refs: usize) -> Option<Self> {
        let draft = Draft::default().detect(root);
        (draft != Draft::Unknown).then_some(Self {
            root,
            draft,
            max_refs,
        })
    }

    /// The subschema of the root value.
    pub(super) fn root(&self) -> &'s Value {
        self.root
    }

    /// The only subschema that applies to a value, after following references; `None` if there may
    /// be others.
    pub(super) fn resolve(&self, schema: &'s Value) -> Option<&'s Map<String, Value>> {
        let mut schema = schema;
        for _ in 0..=self.max_refs {
            let members = self.own(schema)?;
            let Some(reference) = members.get("$ref") else {
                let is_plain = !members.keys().any(|key| AMBIGUOUS.contains(&key.as_str()));
                return is_plain.then_some(members);
            };
            let alone = members
                .keys()
                .all(|key| BESIDE_REF.contains(&key.as_str()) || is_annotation(key));
            schema = self.target(reference.as_str().filter(|_| alone)?)?;
        }
        None
    }

    /// The subschema of an item. Since 2020-12 another keyword describes the first items.
    pub(super) fn item(&self, members: &'s Map<String, Value>, index: usize) -> Option<&'s Value> {
        let (list, rest) = if self.draft >= Draft::Draft202012 {
            ("prefixItems", "items")
        } else {
            ("items", "additionalItems")
        };
        match members.get(list).and_then(Value::as_array) {
            Some(first) => first.get(index).or_else(|| members.get(rest)),
            None => members.get("items"),
        }
    }

    /// The members of a subschema that is in the root's resource and dialect.
    fn own(&self, schema: &'s Value) -> Option<&'s Map<String, Value>> {
        let members = schema.as_object()?;
        let is_resource = ["$id", "$schema", "id"]
            .iter()
            .any(|id| members.get(*id).is_some_and(Value::is_string));
        (!is_resource || std::ptr::eq(schema, self.root)).then_some(members)
    }

    /// The target of a reference inside the root's resource.
    fn target(&self, reference: &str) -> Option<&'s Value> {
        let pointer = reference.strip_prefix('#')?;
        if pointer.contains('%') || !(pointer.is_empty() || pointer.starts_with('/')) {
            return None;
        }
        let mut target = self.root;
        for segment in pointer.split('/').skip(1) {
            let name = pointer::name(segment);
            target = match target {
                Value::Object(_) => self.own(target)?.get(&name)?,
                Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(target)
    }
}

/// The only type that a subschema allows.
pub(super) fn only_type(members: &Map<String, Value>) -> Option<&str> {
    let names = match members.get("type")? {
        Value::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    match names {
        [name] => name.as_str(),
        _ => None,
    }
}

/// Whether a subschema allows `null`, or does not tell.
pub(super) fn has_null(members: &Map<String, Value>) -> bool {
    let null = Value::String("null".to_owned());
    match (
        members.get("type"),
        members.get("enum"),
        members.get("const"),
    ) {
        (Some(Value::Array(types)), ..) => types.contains(&null),
        (Some(only), ..) => *only == null,
        (None, Some(Value::Array(values)), _) => values.contains(&Value::Null),
        (None, None, Some(only)) => only.is_null(),
        _ => true,
    }
}

/// Whether an object has the member by name, and may lack it. In a map with names of any kind, a
/// `null` may have a meaning.
pub(super) fn is_optional(members: &Map<String, Value>, name: &str) -> bool {
    let declared = members.get("properties").and_then(|all| all.get(name));
    let required = members.get("required").and_then(Value::as_array);
    let has_name = |names: &Vec<Value>| names.iter().any(|one| one == name);
    declared.is_some() && !required.is_some_and(has_name)
}

/// The subschema of a property.
pub(super) fn property<'s>(members: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    let declared = members
        .get("properties")
        .and_then(|properties| properties.get(name));
    declared.or_else(|| members.get("additionalProperties"))
}

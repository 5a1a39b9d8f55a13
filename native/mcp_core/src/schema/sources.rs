//! Looks up places in the schema's text.

use jsonschema::ValidationError;
use serde_json::{Map, Value};

/// A schema and the documents it may refer to.
#[derive(Debug)]
pub(super) struct Sources {
    schema: Value,
    documents: Vec<(String, Value)>,
}

impl Sources {
    pub(super) fn new(schema: Value, documents: Vec<(String, Value)>) -> Self {
        Self { schema, documents }
    }

    /// The schema without the documents.
    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// The value of the violated keyword.
    pub(super) fn keyword(&self, error: &ValidationError<'_>) -> Option<&Value> {
        self.resource(error)?.pointer(error.schema_path().as_str())
    }

    /// The subschema that holds the violated keyword.
    pub(super) fn holder(&self, error: &ValidationError<'_>) -> Option<&Map<String, Value>> {
        let path = error.schema_path().as_str();
        let holder = path.rsplit_once('/').map_or("", |(holder, _)| holder);
        self.resource(error)?.pointer(holder)?.as_object()
    }

    /// The schema, document or embedded resource that is the root of this error's paths.
    fn resource(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let Some(uri) = error.absolute_keyword_location() else {
            return Some(&self.schema);
        };
        let base = uri.as_str().split('#').next().unwrap_or_default();
        let named = self.documents.iter().find(|(uri, _)| uri == base);
        if let Some((_, document)) = named {
            return Some(document);
        }
        let documents = self.documents.iter().map(|(_, document)| document);
        std::iter::once(&self.schema)
            .chain(documents)
            .find_map(|text| identified(text, base))
    }
}

/// The subschema with this `$id`, which may be a relative reference.
fn identified<'v>(text: &'v Value, base: &str) -> Option<&'v Value> {
    let mut open = vec![text];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let id = members.get("$id").or_else(|| members.get("id"));
                if id
                    .and_then(Value::as_str)
                    .is_some_and(|id| is_end(base, id))
                {
                    return Some(value);
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    None
}

fn is_end(base: &str, id: &str) -> bool {
    let id = id.trim_end_matches('#');
    match base.strip_suffix(id) {
        Some("") => true,
        Some(before) => before.ends_with('/') && !id.is_empty(),
        None => false,
    }
}

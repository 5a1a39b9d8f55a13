//! The plan for converting a tool's arguments.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{ArgumentRule, Cast, Keys, Undeclared};
use crate::json::pointer;
use crate::schema::Problem;

/// The conversion of a tool's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The conversion of the root value.
    pub root: Place,
}

/// The conversion of a value, by its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The type to cast a string to.
    pub cast: Option<Cast>,
    /// Whether a number is an integer, even if written as `1.0`.
    pub is_integer: bool,
    /// The conversion of an object.
    pub object: Option<ObjectPlan>,
    /// The conversion of each element of an array.
    pub items: Option<Box<Place>>,
}

/// The conversion of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPlan {
    /// Whether declared keys become names of the program.
    pub keys: Keys,
    /// The treatment of undeclared members.
    pub undeclared: Undeclared,
    /// The structure for the object.
    pub r#struct: Option<String>,
    /// If keys change or undeclared members are dropped, all declared members; otherwise only those
    /// with a conversion.
    pub members: Vec<Member>,
}

/// The conversion of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The default for an absent member, as JSON text.
    pub default: Option<String>,
    /// The conversion of its value and of its default.
    pub place: Option<Place>,
}

impl Plan {
    /// The plan for a schema and its rule; `None` if there is nothing to do. Defaults count in
    /// `properties`, also below `properties` and `items`. Behind references and in combinators they
    /// stay annotations.
    ///
    /// # Errors
    /// The problem of a default that does not fit its declared type.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::arguments::Plan;
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer", "default": 10}}});
    /// let plan = Plan::of(&schema, None).unwrap().unwrap();
    /// let object = plan.root.object.unwrap();
    /// assert_eq!(object.members[0].default.as_deref(), Some("10"));
    /// assert!(object.members[0].place.as_ref().unwrap().is_integer);
    /// assert_eq!(Plan::of(&json!({"type": "object"}), None), Ok(None));
    /// ```
    pub fn of(schema: &Value, rule: Option<&ArgumentRule>) -> Result<Option<Self>, String> {
        let none = ArgumentRule::default();
        let rule = rule.unwrap_or(&none);
        let builder = Builder { keys: rule.keys };
        Ok(builder.place(schema, rule, "")?.map(|root| Self { root }))
    }
}

/// The settings for all objects.
struct Builder {
    keys: Keys,
}

impl Builder {
    /// Recurses as deeply as the schema, whose depth is limited.
    fn place(
        &self,
        schema: &Value,
        rule: &ArgumentRule,
        at: &str,
    ) -> Result<Option<Place>, String> {
        let Some(schema) = schema.as_object() else {
            return Ok(None);
        };
        let items = match schema.get("items") {
            Some(items) => {
                let none = ArgumentRule::default();
                let rule = rule.items.as_deref().unwrap_or(&none);
                self.place(items, rule, &format!("{at}/items"))?
            }
            None => None,
        };
        let place = Place {
            cast: rule.cast,
            is_integer: is_integer(schema),
            object: self.object(schema, rule, at)?,
            items: items.map(Box::new),
        };
        Ok((place != Place::default()).then_some(place))
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        rule: &ArgumentRule,
        at: &str,
    ) -> Result<Option<ObjectPlan>, String> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let keys = if rule.r#struct.is_some() {
            Keys::Atoms
        } else {
            self.keys
        };
        let rebuilds = keys == Keys::Atoms || rule.undeclared == Undeclared::Drop;
        let mut members = Vec::new();
        for (name, property) in properties.unwrap_or(&none) {
            let member = self.member(name, property, &rule.properties, at)?;
            if rebuilds || member.default.is_some() || member.place.is_some() {
                members.push(member);
            }
        }
        let drops = rule.undeclared == Undeclared::Drop;
        let is_plan = !members.is_empty() || drops || rule.r#struct.is_some();
        Ok(is_plan.then(|| ObjectPlan {
            keys,
            undeclared: rule.undeclared,
            r#struct: rule.r#struct.clone(),
            members,
        }))
    }

    fn member(
        &self,
        name: &str,
        property: &Value,
        rules: &BTreeMap<String, ArgumentRule>,
        at: &str,
    ) -> Result<Member, String> {
        let none = ArgumentRule::default();
        let at = format!("{at}/properties/{}", pointer::segment(name));
        let place = self.place(property, rules.get(name).unwrap_or(&none), &at)?;
        let default = property.get("default");
        if let (Some(place), Some(default)) = (&place, default) {
            place
                .check(default)
                .map_err(|problem| refused_default(&at, &problem))?;
        }
        Ok(Member {
            name: name.to_owned(),
            default: default.map(Value::to_string),
            place,
        })
    }
}

/// Whether the schema allows only integers among numbers.
fn is_integer(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => {
            types.iter().any(|name| name == "integer") && types.iter().all(|name| name != "number")
        }
        Some(name) => name == "integer",
        None => false,
    }
}

fn refused_default(at: &str, problem: &Problem) -> String {
    format!(
        "the schema is invalid: {at}/default: must be {} (format)",
        problem.expected
    )
}

impl Place {
    /// Checks that every string of a value can be cast to its declared type.
    fn check(&self, value: &Value) -> Result<(), Problem> {
        match value {
            Value::String(text) => self
                .cast
                .map_or(Ok(()), |cast| cast.read(text, &String::new).map(|_| ())),
            Value::Array(elements) => self.items.as_ref().map_or(Ok(()), |items| {
                elements.iter().try_for_each(|element| items.check(element))
            }),
            Value::Object(object) => {
                let members = self.object.iter().flat_map(|plan| &plan.members);
                members
                    .filter_map(|member| Some((member.place.as_ref()?, object.get(&member.name)?)))
                    .try_for_each(|(place, value)| place.check(value))
            }
            _ => Ok(()),
        }
    }
}

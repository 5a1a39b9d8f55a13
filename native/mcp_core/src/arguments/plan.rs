//! What there is to do with the arguments of one tool.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{ArgumentRule, Cast, Keys, Undeclared};
use crate::json::pointer;
use crate::schema::Problem;

/// What becomes of the arguments of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What becomes of the arguments as a whole.
    pub root: Place,
}

/// What becomes of a value, by what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// What a string is read as.
    pub cast: Option<Cast>,
    /// Whether a number is an integer, also where it is written as `1.0`.
    pub is_integer: bool,
    /// What becomes of an object.
    pub object: Option<ObjectPlan>,
    /// What becomes of each element of an array.
    pub items: Option<Box<Place>>,
}

/// What becomes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPlan {
    /// Whether the keys that are declared become names of the program.
    pub keys: Keys,
    /// What becomes of the members that are not declared.
    pub undeclared: Undeclared,
    /// The structure that it becomes.
    pub r#struct: Option<String>,
    /// The members: all that are declared where their keys change or others are dropped, else those with something to do.
    pub members: Vec<Member>,
}

/// What becomes of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it is where it was left out: JSON text.
    pub default: Option<String>,
    /// What becomes of its value, the default included.
    pub place: Option<Place>,
}

impl Plan {
    /// What there is to do for a schema and its rule; `None` where nothing is. Defaults are those of `properties`
    /// in `properties` and `items`: behind references and in combinators they stay annotations.
    ///
    /// # Errors
    /// Where a default cannot be read as what it is declared to be.
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

/// What holds for all objects.
struct Builder {
    keys: Keys,
}

impl Builder {
    /// As deep as the schema, whose depth is limited.
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

/// Whether all numbers that a schema allows are integers.
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
    /// Whether all strings of a value can be read as what they are declared to be.
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

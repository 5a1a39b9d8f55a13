//! Rules for arguments beside their schema.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Cast;

/// The conversion of a value and its parts, in the structure of their schema.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default, expecting = "the rule of arguments")]
pub struct ArgumentRule {
    /// The keys of all objects. Only the outermost rule has an effect.
    pub keys: Keys,
    /// The type to cast a string to.
    pub cast: Option<Cast>,
    /// The treatment of members that the schema does not declare.
    pub undeclared: Undeclared,
    /// The name of the structure for an object.
    pub r#struct: Option<String>,
    /// The rules of members.
    pub properties: BTreeMap<String, Self>,
    /// The rule of the elements.
    pub items: Option<Box<Self>>,
}

/// The keys of objects.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase", expecting = "\"strings\" or \"atoms\"")]
pub enum Keys {
    /// Keys stay strings.
    #[default]
    Strings,
    /// Declared keys become names of the program.
    Atoms,
}

/// The treatment of undeclared members.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase", expecting = "\"pass\" or \"drop\"")]
pub enum Undeclared {
    /// They stay: a closed schema has already refused them.
    #[default]
    Pass,
    /// They are removed.
    Drop,
}

//! What a definition says of arguments beside their schema.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Cast;

/// What becomes of one value and of those in it, in the form of their schema.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default, expecting = "the rule of arguments")]
pub struct ArgumentRule {
    /// What the keys of all objects become. Only the outermost rule says so.
    pub keys: Keys,
    /// What a string is read as.
    pub cast: Option<Cast>,
    /// What becomes of members that the schema does not declare.
    pub undeclared: Undeclared,
    /// The name of the structure that an object becomes.
    pub r#struct: Option<String>,
    /// The rules of members.
    pub properties: BTreeMap<String, Self>,
    /// The rule of the elements.
    pub items: Option<Box<Self>>,
}

/// What the keys of objects become.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase", expecting = "\"strings\" or \"atoms\"")]
pub enum Keys {
    /// They stay what they are.
    #[default]
    Strings,
    /// Those that the schema declares become names of the program.
    Atoms,
}

/// What becomes of members that no schema declares.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase", expecting = "\"pass\" or \"drop\"")]
pub enum Undeclared {
    /// They stay: a schema that is closed has refused them before.
    #[default]
    Pass,
    /// They are left out.
    Drop,
}

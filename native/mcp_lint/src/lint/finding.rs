//! What a finding is, and the codes there are.

use std::fmt;

use serde_json::Value;

use mcp_core::catalog::Definition;

/// How sure it is that something has to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot be meant, or a widely used client refuses the tool or the whole catalogue for it.
    Error,
    /// Some clients refuse it or make something else of it, or models stumble over it.
    Warning,
}

impl Severity {
    /// The severity's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal, $severity:ident;)+) => {
        /// What was found. The names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $code,)+
        }

        impl Code {
            /// Every code, errors first.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// The code's name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// How severe it is.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$code => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    /// No value satisfies a schema, or a part of it.
    Unsatisfiable = "unsatisfiable", Error;
    /// A property is required that the schema does not allow.
    RequiredUndeclared = "required_undeclared", Error;
    /// A default that its own schema refuses.
    InvalidDefault = "invalid_default", Error;
    /// An example that its own schema refuses.
    InvalidExample = "invalid_example", Error;
    /// A member of an enum that the rest of its schema refuses.
    InvalidEnum = "invalid_enum", Error;
    /// An array of which the schema does not say what its elements are.
    ArrayItems = "array_items", Error;
    /// `anyOf`, `oneOf`, `allOf`, `not` or `enum` at the root of an input schema.
    RootCombinator = "root_combinator", Error;
    /// A property's name that is not made of `A-Za-z0-9_.-`, or has more than 64 characters.
    PropertyName = "property_name", Error;
    /// Two templates that differ in the names of variables only.
    SameTemplate = "same_template", Error;
    /// A tool's name that is not made of `A-Za-z0-9_-`, or has more than 64 characters.
    ToolName = "tool_name", Warning;
    /// Names that differ in case and separators only.
    AlikeNames = "alike_names", Warning;
    /// A list of types.
    TypeUnion = "type_union", Warning;
    /// A property without a type.
    MissingType = "missing_type", Warning;
    /// A format other than `date-time`.
    Format = "format", Warning;
    /// An enum without a type, or of something else than strings.
    EnumType = "enum_type", Warning;
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    Reference = "reference", Warning;
    /// `oneOf`, `allOf`, `not` or `if` below the root.
    Combinator = "combinator", Warning;
    /// `true` or `false` where a schema of a value belongs.
    BooleanSchema = "boolean_schema", Warning;
    /// An output schema that is not that of an object.
    OutputRoot = "output_root", Warning;
    /// No description.
    MissingDescription = "missing_description", Warning;
    /// A tool that does not say whether it only reads, or whether it destroys.
    MissingAnnotations = "missing_annotations", Warning;
    /// A tool that may destroy and needs no scope, although others need one.
    MissingScopes = "missing_scopes", Warning;
    /// A description over its budget.
    DescriptionBudget = "description_budget", Warning;
    /// Instructions over their budget.
    InstructionsBudget = "instructions_budget", Warning;
    /// All tools together are over their budget.
    CatalogueBudget = "catalogue_budget", Warning;
    /// More tools than a request of some clients may have.
    ToolCount = "tool_count", Warning;
    /// A URI that two templates match.
    TemplateOverlap = "template_overlap", Warning;
    /// A static resource whose URI a template matches too.
    TemplateShadowed = "template_shadowed", Warning;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The server as a whole.
    Server,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A static resource.
    Resource,
    /// A resource template.
    ResourceTemplate,
}

impl Kind {
    /// What people call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource template",
        }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing is wrong.
    pub code: Code,
    /// What it is about.
    pub kind: Kind,
    /// The name of that.
    pub name: String,
    /// JSON Pointer of the place, from the object as it stands on the wire.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub advice: String,
}

/// Collects findings about one declared object after the other.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Finding>,
    subject: Option<(Kind, String)>,
}

impl Findings {
    /// What follows is about that object.
    pub(super) fn about(&mut self, kind: Kind, entry: &Value) {
        self.subject = Some((kind, name(entry).to_owned()));
    }

    /// What follows is about the server.
    pub(super) fn about_server(&mut self, name: &str) {
        self.subject = Some((Kind::Server, name.to_owned()));
    }

    pub(super) fn add(&mut self, code: Code, pointer: &str, message: String, advice: &str) {
        let (kind, name) = self
            .subject
            .clone()
            .unwrap_or((Kind::Server, String::new()));
        self.found.push(Finding {
            code,
            kind,
            name,
            pointer: pointer.to_owned(),
            message,
            advice: advice.to_owned(),
        });
    }

    /// Whether there is a finding of that code at that place of the current object.
    pub(super) fn has(&self, code: Code, pointer: &str) -> bool {
        let Some((kind, name)) = &self.subject else {
            return false;
        };
        self.found.iter().any(|finding| {
            finding.code == code
                && finding.pointer == pointer
                && finding.kind == *kind
                && finding.name == *name
        })
    }

    /// In the order of the declarations; what was found of one object stays in the order it was
    /// found in.
    pub(super) fn into_sorted(self, definition: &Definition) -> Vec<Finding> {
        let mut found = self.found;
        found.sort_by_key(|finding| (finding.kind, place(definition, finding)));
        found
    }
}

fn place(definition: &Definition, finding: &Finding) -> usize {
    let entries = match finding.kind {
        Kind::Server => return 0,
        Kind::Tool => &definition.tools,
        Kind::Prompt => &definition.prompts,
        Kind::Resource => &definition.resources,
        Kind::ResourceTemplate => &definition.resource_templates,
    };
    let known = entries.iter().position(|entry| name(entry) == finding.name);
    known.unwrap_or(usize::MAX)
}

/// The name of a declared object.
pub(super) fn name(entry: &Value) -> &str {
    entry
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

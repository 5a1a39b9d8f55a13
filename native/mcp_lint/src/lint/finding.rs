//! Findings and their codes.

use std::fmt;

use serde_json::Value;

use mcp_core::catalog::Definition;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The declaration contradicts itself, or a widely used client refuses it.
    Error,
    /// Some clients refuse or misread it, or it misleads models.
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
        /// The kinds of findings. The names are stable.
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

            /// The code's severity.
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
    /// An array whose schema does not describe its elements.
    ArrayItems = "array_items", Error;
    /// `anyOf`, `oneOf`, `allOf`, `not` or `enum` at the root of an input schema.
    RootCombinator = "root_combinator", Error;
    /// A property's name with characters outside `A-Za-z0-9_.-`, or with more than 64 characters.
    PropertyName = "property_name", Error;
    /// Two templates that differ only in the names of variables.
    SameTemplate = "same_template", Error;
    /// A tool's name with characters outside `A-Za-z0-9_-`, or with more than 64 characters.
    ToolName = "tool_name", Warning;
    /// Names that differ only in case and separators.
    AlikeNames = "alike_names", Warning;
    /// A list of types.
    TypeUnion = "type_union", Warning;
    /// A property without a type.
    MissingType = "missing_type", Warning;
    /// A format other than `date-time`.
    Format = "format", Warning;
    /// An enum without a type, or with members that are not strings.
    EnumType = "enum_type", Warning;
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    Reference = "reference", Warning;
    /// `oneOf`, `allOf`, `not` or `if` below the root.
    Combinator = "combinator", Warning;
    /// `true` or `false` as the schema of a value.
    BooleanSchema = "boolean_schema", Warning;
    /// An output schema that does not describe an object.
    OutputRoot = "output_root", Warning;
    /// No description.
    MissingDescription = "missing_description", Warning;
    /// A tool that does not declare whether it only reads, or whether it destroys.
    MissingAnnotations = "missing_annotations", Warning;
    /// A tool that may destroy and requires no scope, although other tools do.
    MissingScopes = "missing_scopes", Warning;
    /// A description over its budget.
    DescriptionBudget = "description_budget", Warning;
    /// Instructions over their budget.
    InstructionsBudget = "instructions_budget", Warning;
    /// All tools together exceed their budget.
    CatalogueBudget = "catalogue_budget", Warning;
    /// More tools than some clients allow in a request.
    ToolCount = "tool_count", Warning;
    /// A URI that two templates match.
    TemplateOverlap = "template_overlap", Warning;
    /// A static resource whose URI a template matches too.
    TemplateShadowed = "template_shadowed", Warning;
    /// A guarded resource or template, of which a template with another guard or none matches a URI.
    GuardOverlap = "guard_overlap", Warning;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The kind of a finding's subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The server.
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
    /// The kind's name for people.
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

/// One problem of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The code of the problem.
    pub code: Code,
    /// The kind of the subject.
    pub kind: Kind,
    /// The name of the subject.
    pub name: String,
    /// JSON Pointer of the place, from the root of the subject's wire form.
    pub pointer: String,
    /// The problem.
    pub message: String,
    /// How to correct it.
    pub advice: String,
}

/// Collects the findings of each declared object.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Finding>,
    subject: Option<(Kind, String)>,
}

impl Findings {
    /// Sets the subject of the next findings.
    pub(super) fn about(&mut self, kind: Kind, entry: &Value) {
        self.subject = Some((kind, name(entry).to_owned()));
    }

    /// Sets the server as the subject of the next findings.
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

    /// Whether the current subject has a finding with this code at this place.
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

    /// Sorts findings by declaration; the findings of one object keep their order.
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

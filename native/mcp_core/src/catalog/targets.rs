//! The targets of requests: a tool with its compiled schemas, a prompt with its arguments, a
//! resource, a template with its matcher.

use std::collections::HashMap;

use jsonschema::json::Json;
use serde::Deserialize;
use serde_json::Value;

use super::CatalogError;
use super::definition::Definition;
use super::header_parameters::{self, HeaderParameter};
use super::icons;
use super::template::{Matcher, Template, TemplateLimits, is_valid_uri, normal_form};
use crate::apps::views;
use crate::arguments::Plan;
use crate::json::{JsonErrorKind, Limits, UNLIMITED, check};
use crate::model::{Prompt, Resource, ResourceTemplate, TaskSupport, Tool};
use crate::schema::{Formats, SchemaError, SchemaLimits, SchemaOptions, Validator, compile_with};

/// The depth limit of a schema in a list: the 128 levels of a message minus those around the
/// schema.
const MAX_LISTED_DEPTH: usize = 124;

/// A tool that can be called.
pub struct ToolTarget<J: Json> {
    /// The tool's name.
    pub name: String,
    /// Checks the arguments.
    pub input: Validator<J>,
    /// The conversion of valid arguments, if any.
    pub plan: Option<Plan>,
    /// Whether invalid arguments are repaired if the repair is unambiguous.
    pub repair: bool,
    /// Checks the structured content, if the tool declares an output schema.
    pub output: Option<Validator<J>>,
    /// Client capabilities that the tool requires.
    pub requires: Vec<String>,
    /// Whether a call may run as a task.
    pub task_support: TaskSupport,
    /// Arguments that headers repeat.
    pub header_parameters: Vec<HeaderParameter>,
}

/// A prompt for `prompts/get` and completion.
#[derive(Debug)]
pub struct PromptTarget {
    /// The prompt's name.
    pub name: String,
    /// Its arguments in declaration order, and whether each is required.
    pub arguments: Vec<(String, bool)>,
    /// Whether it completes its arguments.
    pub completes: bool,
}

/// A template to match URIs against.
#[derive(Debug)]
pub struct TemplateTarget {
    /// The template as declared.
    pub text: String,
    /// Extracts the variables from a URI.
    pub matcher: Matcher,
    /// The template's variables.
    pub variables: Vec<String>,
    /// Whether it completes its variables.
    pub completes: bool,
}

/// The target of a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadTarget {
    /// A static resource.
    Resource {
        /// The index in declaration order.
        index: usize,
    },
    /// A template and the values of its variables.
    Template {
        /// The index in declaration order.
        index: usize,
        /// Name and decoded value, in template order.
        variables: Vec<(String, String)>,
    },
}

pub(super) fn tools<J: Json>(
    definition: &Definition,
    limits: &SchemaLimits,
) -> Result<Vec<ToolTarget<J>>, CatalogError> {
    if definition.tool_rules.len() != definition.tools.len() {
        return Err(CatalogError::Definition(
            "as many toolRules as tools are needed".to_owned(),
        ));
    }
    definition
        .tools
        .iter()
        .zip(&definition.tool_rules)
        .map(|(value, rule)| {
            let tool: Tool = entry("tool", value)?;
            let refused = |member: &str, reason: String| CatalogError::Entry {
                kind: "tool",
                name: tool.name.clone(),
                reason: format!("{member}: {reason}"),
            };
            // Formats are checked in the input only, because the tool controls its output.
            let schema = |member: &str, formats: Formats| {
                let options = SchemaOptions {
                    limits: *limits,
                    formats,
                    documents: &[],
                };
                value.get(member).map(|schema| {
                    compile_listed(schema, &options)
                        .map_err(|error| refused(member, error.to_string()))
                })
            };
            let input = schema("inputSchema", rule.formats.clone())
                .unwrap_or_else(|| Err(refused("inputSchema", "is missing".to_owned())))?;
            // The compiled schema is within the depth limit, so the recursion is bounded.
            let header_parameters = value
                .get("inputSchema")
                .map_or_else(|| Ok(Vec::new()), header_parameters::collect)
                .map_err(|reason| refused("inputSchema", reason))?;
            let plan = value
                .get("inputSchema")
                .map_or(Ok(None), |schema| Plan::of(schema, rule.arguments.as_ref()))
                .map_err(|reason| refused("inputSchema", reason))?;
            Ok(ToolTarget {
                input,
                plan,
                header_parameters,
                output: schema("outputSchema", Formats::Annotate).transpose()?,
                repair: rule.repair,
                requires: rule.requires.clone(),
                task_support: tool
                    .execution
                    .as_ref()
                    .and_then(|execution| execution.task_support)
                    .unwrap_or(TaskSupport::Forbidden),
                name: tool.name.clone(),
            })
        })
        .collect()
}

/// Compiles a schema of a tools list. The list must stay within the depth limit of messages.
fn compile_listed<J: Json>(
    schema: &Value,
    options: &SchemaOptions<'_>,
) -> Result<Validator<J>, SchemaError> {
    let text = schema.to_string();
    let limits = Limits {
        max_depth: MAX_LISTED_DEPTH,
        ..UNLIMITED
    };
    match check(text.as_bytes(), &limits) {
        Err(error) if error.kind == JsonErrorKind::TooDeep => Err(SchemaError::JsonTooDeep {
            limit: MAX_LISTED_DEPTH,
        }),
        _ => compile_with(text.as_bytes(), options),
    }
}

pub(super) fn prompts(definition: &Definition) -> Result<Vec<PromptTarget>, CatalogError> {
    let completes = definition
        .prompt_completes
        .iter()
        .copied()
        .chain(std::iter::repeat(false));
    definition
        .prompts
        .iter()
        .zip(completes)
        .map(|(value, completes)| {
            let prompt: Prompt = entry("prompt", value)?;
            let arguments = prompt
                .arguments
                .unwrap_or_default()
                .into_iter()
                .map(|argument| (argument.name, argument.required))
                .collect();
            Ok(PromptTarget {
                name: prompt.name,
                arguments,
                completes,
            })
        })
        .collect()
}

pub(super) fn resources(definition: &Definition) -> Result<Vec<String>, CatalogError> {
    let mut known: HashMap<String, String> = HashMap::new();
    definition
        .resources
        .iter()
        .map(|value| {
            let resource: Resource = entry("resource", value)?;
            let refused = |reason: String| CatalogError::Entry {
                kind: "resource",
                name: resource.name.clone(),
                reason: format!("uri: {reason}"),
            };
            if !is_valid_uri(&resource.uri) {
                return Err(refused("must be an absolute URI".to_owned()));
            }
            // Only the first of two equivalent URIs could be read. The router refuses equal texts.
            let normal = normal_form(&resource.uri).into_owned();
            match known.insert(normal, resource.uri.clone()) {
                Some(earlier) if earlier != resource.uri => Err(refused(format!(
                    "{} is another form of {earlier}, which is declared already",
                    resource.uri
                ))),
                _ => Ok(resource.uri),
            }
        })
        .collect()
}

pub(super) fn templates(
    definition: &Definition,
    limits: &TemplateLimits,
) -> Result<Vec<TemplateTarget>, CatalogError> {
    let completes = definition
        .template_completes
        .iter()
        .copied()
        .chain(std::iter::repeat(false));
    definition
        .resource_templates
        .iter()
        .zip(completes)
        .map(|(value, completes)| {
            let declared: ResourceTemplate = entry("resource template", value)?;
            let refused = |reason: String| CatalogError::Entry {
                kind: "resource template",
                name: declared.name.clone(),
                reason: format!("uriTemplate: {reason}"),
            };
            let template = Template::parse(&declared.uri_template, limits)
                .map_err(|error| refused(error.to_string()))?;
            let matcher = template
                .matcher()
                .map_err(|error| refused(error.to_string()))?;
            Ok(TemplateTarget {
                variables: template
                    .variables()
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                text: declared.uri_template,
                matcher,
                completes,
            })
        })
        .collect()
}

/// Refuses a tool whose view matches no resource and no template. Entries of computed lists do not
/// count, because they make nothing readable.
pub(super) fn views(
    definition: &Definition,
    resources: &[String],
    templates: &[TemplateTarget],
) -> Result<(), CatalogError> {
    let declared = || {
        let texts = templates.iter().map(|template| template.text.as_str());
        resources.iter().map(String::as_str).chain(texts)
    };
    let reads = |uri: &str| {
        let same = normal_form(uri);
        resources.iter().any(|known| normal_form(known) == same)
            || templates
                .iter()
                .any(|template| template.matcher.captures(uri).is_some())
    };
    let fault = |tool: &Value| {
        let reason = views::fault(views::view_of(tool)?, declared(), reads)?;
        Some(refused("tool", tool, reason))
    };
    definition.tools.iter().find_map(fault).map_or(Ok(()), Err)
}

fn entry<T: for<'de> Deserialize<'de>>(
    kind: &'static str,
    value: &Value,
) -> Result<T, CatalogError> {
    if let Some(reason) = icons::fault(value) {
        return Err(refused(kind, value, reason));
    }
    T::deserialize(value).map_err(|error| refused(kind, value, error.to_string()))
}

pub(super) fn refused(kind: &'static str, value: &Value, reason: String) -> CatalogError {
    let name = value.get("name").and_then(Value::as_str).unwrap_or("?");
    CatalogError::Entry {
        kind,
        name: name.to_owned(),
        reason,
    }
}

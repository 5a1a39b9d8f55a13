//! The response to arguments that do not fit a tool's schema.
//!
//! From 2025-11-25 on it is a tool result that the model can act on. Earlier revisions get a
//! JSON-RPC error, and so do clients that asked for a task (2025-11-25), which can read no result.

use serde_json::{Value, json};

use super::answered::Answered;
use super::frame::open_result_head;
use super::refusal::{Answer, BEHIND_ADMISSION, Refusal};
use super::request::Request;
use crate::catalog::Extras;
use crate::json::{pointer, write_string};
use crate::jsonrpc::Id;
use crate::revision::Revision;
use crate::schema::Problem;

/// The finished response to a call whose arguments have these problems.
#[must_use]
pub fn refuse_arguments(
    tool: &str,
    problems: &[Problem],
    request: &Request<'_>,
    extras: &Extras,
) -> Answer {
    let (id, revision) = (&request.id, request.revision);
    if revision >= Revision::V2025_11_25 && !request.expects_task() {
        let lines: Vec<String> = problems
            .iter()
            .map(|problem| format!("- {}", told(problem)))
            .collect();
        let text = format!("Invalid arguments for tool '{tool}':\n{}", lines.join("\n"));
        return Answer {
            body: error_result(&text, id, extras),
            status: 200,
            answered: Answered::InvalidParams,
        };
    }
    let refusal = Refusal {
        data: Some(json!({ "problems": problems.iter().map(to_value).collect::<Vec<_>>() })),
        status: BEHIND_ADMISSION,
        ..Refusal::invalid_params("the arguments do not fit the tool's input schema")
    };
    refusal.answer(Some(id), revision)
}

/// A `tools/call` result with `isError` and one text.
fn error_result(text: &str, id: &Id, extras: &Extras) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len().saturating_add(256));
    open_result_head(&mut out, id);
    extras.open_result(&mut out);
    out.extend_from_slice(br#""content":[{"type":"text","text":"#);
    write_string(&mut out, text);
    out.extend_from_slice(br#"}],"isError":true"#);
    extras.close_result(&mut out);
    out
}

/// The text of a problem for the caller of a tool. A property that a closed schema forbids is
/// reported as an argument that does not exist.
fn told(problem: &Problem) -> String {
    let is_undeclared = matches!(
        problem.keyword.as_str(),
        "additionalProperties" | "unevaluatedProperties"
    );
    let Some((_, name)) = problem.pointer.rsplit_once('/').filter(|_| is_undeclared) else {
        return problem.to_string();
    };
    let name = pointer::name(name);
    let meant = match &problem.nearest {
        Some(nearest) => format!(", is `{nearest}` meant?"),
        None if problem.allowed.is_empty() => String::new(),
        None => {
            let quoted = problem.allowed.iter().map(|name| match name.as_str() {
                "…" => name.clone(),
                name => format!("`{name}`"),
            });
            format!("; allowed are {}", quoted.collect::<Vec<_>>().join(", "))
        }
    };
    let (place, keyword) = (&problem.pointer, &problem.keyword);
    format!("{place}: `{name}` is not an argument{meant} ({keyword})")
}

fn to_value(problem: &Problem) -> Value {
    json!({
        "pointer": problem.pointer,
        "keyword": problem.keyword,
        "message": told(problem),
    })
}

//! Requests that passed admission and need the server's own code.

use std::borrow::Cow;

use super::meta::{Client, ProgressToken};
use super::method::Method;
use super::refusal::Answer;
use crate::catalog::{Entry, ListKind, ReadTarget};
use crate::json::Limits;
use crate::jsonrpc::Id;
use crate::revision::{Era, Revision};

/// A valid request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// The id of the response.
    pub id: Id,
    /// The revision of the response.
    pub revision: Revision,
    /// The method.
    pub method: Method,
    /// The work to do.
    pub work: Work<'a>,
    /// `params._meta` as sent.
    pub meta: Option<&'a [u8]>,
    /// The members of `_meta` that the protocol does not define, as sent.
    pub extra_meta: Vec<(String, &'a [u8])>,
    /// The token for progress notifications, if the client wants them.
    pub progress_token: Option<ProgressToken>,
    /// The client, which each request of the stateless era describes.
    pub client: Option<Client<'a>>,
    /// The input that the client adds to a retried request.
    pub input: Input<'a>,
    /// The remaining limits for JSON that is read from strings in the arguments.
    pub room: Limits,
    /// The prepared error, if the client lacks a required capability or the work is `Refused`.
    /// Invalid arguments are reported first, because a model can correct those.
    pub unmet: Option<Answer>,
    /// The outcome for a client that may not see the entry; `None` if all clients may see it.
    pub hidden: Option<Hidden<'a>>,
    /// The entry that stands in for an unknown name. The request goes the way of one for a hidden
    /// entry, and always gets the outcome `hidden`.
    pub stand_in: Option<Entry>,
}

impl Request<'_> {
    /// Whether the client can read only a task or an error: it has asked for a task (2025-11-25).
    pub(super) fn expects_task(&self) -> bool {
        self.revision.era() == Era::Session && matches!(self.work, Work::Tool { task: Some(_), .. })
    }

    /// Whether a client that may not see the entry is asked for a token.
    pub(super) fn may_need_token(&self) -> bool {
        match &self.hidden {
            Some(Hidden::Token(_)) => true,
            Some(Hidden::Request(request)) => request.may_need_token(),
            Some(Hidden::Answer(_)) | None => false,
        }
    }
}

/// The outcome for a client that may not see an entry. It is the same as if the entry had never
/// been declared.
#[derive(Clone, Debug, PartialEq)]
pub enum Hidden<'a> {
    /// The response, such as the error for an unknown name.
    Answer(Answer),
    /// The response that asks for a token, as for an unknown name.
    Token(Answer),
    /// A request for another entry, such as a template that also matches the resource's URI.
    Request(Box<Request<'a>>),
}

/// The work of a request. JSON slices are objects that passed admission.
#[derive(Clone, Debug, PartialEq)]
pub enum Work<'a> {
    /// Call the tool at `index`.
    Tool {
        /// The tool's name.
        name: Cow<'a, str>,
        /// The index in the catalogue.
        index: usize,
        /// The arguments object; absent means empty.
        arguments: Option<&'a [u8]>,
        /// The task to run the call as, if any.
        task: Option<TaskRequest>,
    },
    /// Call a tool that may have been declared at run time.
    RunTimeTool {
        /// The tool's name.
        name: Cow<'a, str>,
        /// The arguments object; absent means empty.
        arguments: Option<&'a [u8]>,
        /// The task that the client wants. In 2026-07-28 it is set if the client declares the
        /// extension.
        task: Option<TaskRequest>,
    },
    /// Get the prompt at `index`.
    Prompt {
        /// The prompt's name.
        name: Cow<'a, str>,
        /// The index in the catalogue.
        index: usize,
        /// The arguments object, all strings or `null`; absent means empty.
        arguments: Option<&'a [u8]>,
    },
    /// Decide only whether the client may see the entry. The error response is known already.
    Refused {
        /// The name or URI.
        name: Cow<'a, str>,
        /// The entry.
        entry: Entry,
    },
    /// Read a resource.
    Read {
        /// The requested URI.
        uri: Cow<'a, str>,
        /// The resource or template.
        target: ReadTarget,
    },
    /// Complete an argument of the prompt at `index`.
    CompletePrompt {
        /// The prompt's name.
        name: Cow<'a, str>,
        /// The index in the catalogue.
        index: usize,
        /// The argument to complete.
        argument: Completing<'a>,
    },
    /// Complete a variable of the resource template at `index`.
    CompleteTemplate {
        /// The template's text.
        uri: Cow<'a, str>,
        /// The index in the catalogue.
        index: usize,
        /// The argument to complete.
        argument: Completing<'a>,
    },
    /// Compute a list with user code.
    List {
        /// The list.
        kind: ListKind,
        /// The cursor as sent.
        cursor: Option<Cow<'a, str>>,
    },
    /// Send log messages of this level and above from now on.
    SetLevel {
        /// One of [`LogLevel::NAMES`](crate::model::LogLevel::NAMES).
        level: &'static str,
    },
    /// Subscribe the client to changes of a resource.
    Subscribe {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// End the subscription.
    Unsubscribe {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// Open a stream of notifications.
    Listen {
        /// The notifications that the server agreed to send.
        filter: ListenFilter,
    },
    /// Act on a task.
    Task {
        /// The action.
        verb: TaskVerb,
        /// The task's id as sent.
        id: Cow<'a, str>,
        /// The keys of input responses with an invalid form. Only the task knows whether it asked
        /// for these keys.
        unsound: Vec<String>,
    },
    /// List the client's tasks.
    ListTasks,
}

/// The task that a call is to run as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRequest {
    /// How long the client wants to keep the task, in milliseconds.
    pub ttl: Option<u64>,
}

/// A client's action on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskVerb {
    /// Get its state.
    Get,
    /// Wait for its result (2025-11-25).
    Result,
    /// Send the input that it waits for (2026-07-28).
    Update,
    /// Cancel it.
    Cancel,
}

/// An argument to complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Completing<'a> {
    /// The argument's name.
    pub name: Cow<'a, str>,
    /// The text typed so far.
    pub value: Cow<'a, str>,
    /// `context.arguments`: the values of the other arguments (2025-06-18).
    pub context: Option<&'a [u8]>,
}

/// The notifications on a `subscriptions/listen` stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenFilter {
    /// `notifications/tools/list_changed`
    pub tools: bool,
    /// `notifications/prompts/list_changed`
    pub prompts: bool,
    /// `notifications/resources/list_changed`
    pub resources: bool,
    /// `notifications/resources/updated` for these URIs.
    pub uris: Vec<String>,
}

/// The input that a client adds when it retries a request (2026-07-28).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input<'a> {
    /// `inputResponses`: an object.
    pub responses: Option<&'a [u8]>,
    /// The keys of responses with an invalid form.
    pub unsound: Vec<String>,
    /// `requestState`, still sealed.
    pub state: Option<Cow<'a, str>>,
}

/// A session that `initialize` opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Initialize<'a> {
    /// The finished response.
    pub answer: Answer,
    /// The request's id.
    pub id: Id,
    /// The negotiated revision.
    pub revision: Revision,
    /// `clientInfo` as sent.
    pub client_info: &'a [u8],
    /// `capabilities` as sent.
    pub capabilities: &'a [u8],
}

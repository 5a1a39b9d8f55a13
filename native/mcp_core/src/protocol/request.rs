//! A message that passed every check and waits for the server's own code.

use std::borrow::Cow;

use super::meta::{Client, ProgressToken};
use super::method::Method;
use super::refusal::Answer;
use crate::catalog::{Entry, ListKind, ReadTarget};
use crate::json::Limits;
use crate::jsonrpc::Id;
use crate::revision::Revision;

/// A valid request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// The id its answer must carry.
    pub id: Id,
    /// The revision its answer must speak.
    pub revision: Revision,
    /// The method.
    pub method: Method,
    /// What is asked for.
    pub work: Work<'a>,
    /// `params._meta` as sent.
    pub meta: Option<&'a [u8]>,
    /// The members of `_meta` that the protocol does not have there itself, as sent.
    pub extra_meta: Vec<(String, &'a [u8])>,
    /// Where progress notifications belong, if the client wants them.
    pub progress_token: Option<ProgressToken>,
    /// Who asks: in the stateless era each request says so itself.
    pub client: Option<Client<'a>>,
    /// What the client brings back to a request that needed input.
    pub input: Input<'a>,
    /// What the message leaves of its limits to what may be read out of strings in the arguments.
    pub room: Limits,
    /// The answer where the client lacks what the tool needs: given once the arguments are known to fit, because
    /// a model can mend those.
    pub unmet: Option<Answer>,
    /// What the client gets for whom what the request names is not there; `None` where it is there for everybody.
    pub hidden: Option<Hidden<'a>>,
}

impl Request<'_> {
    /// Whether the client must come back with a token where what the request names is not there for it.
    pub(super) fn may_need_token(&self) -> bool {
        match &self.hidden {
            Some(Hidden::Token(_)) => true,
            Some(Hidden::Request(request)) => request.may_need_token(),
            Some(Hidden::Answer(_)) | None => false,
        }
    }
}

/// What a client gets for whom an entry is not there: what it would get if that had never been declared.
#[derive(Clone, Debug, PartialEq)]
pub enum Hidden<'a> {
    /// The answer, such as that of an unknown name.
    Answer(Answer),
    /// The answer to a client that must come back with a token, as for an unknown name.
    Token(Answer),
    /// Another entry, such as the template that a resource's URI matches too.
    Request(Box<Request<'a>>),
}

/// What a request asks for. JSON slices are objects that passed admission.
#[derive(Clone, Debug, PartialEq)]
pub enum Work<'a> {
    /// Call the tool at `index`.
    Tool {
        /// The tool's name.
        name: Cow<'a, str>,
        /// Its place in the catalogue.
        index: usize,
        /// The arguments object; absent means empty.
        arguments: Option<&'a [u8]>,
        /// Whether it is to run as a task.
        task: Option<TaskRequest>,
    },
    /// Call a tool that may have been declared while the server runs.
    RunTimeTool {
        /// The tool's name.
        name: Cow<'a, str>,
        /// The arguments object; absent means empty.
        arguments: Option<&'a [u8]>,
        /// Whether the client wants it to run as a task: in 2026-07-28, whether it knows tasks.
        task: Option<TaskRequest>,
    },
    /// Get the prompt at `index`.
    Prompt {
        /// The prompt's name.
        name: Cow<'a, str>,
        /// Its place in the catalogue.
        index: usize,
        /// The arguments object, all strings; absent means empty.
        arguments: Option<&'a [u8]>,
    },
    /// Nothing but whether the entry is there for the client: the answer is known already.
    Refused {
        /// The name or URI.
        name: Cow<'a, str>,
        /// The entry.
        entry: Entry,
    },
    /// Read a resource.
    Read {
        /// The URI asked for.
        uri: Cow<'a, str>,
        /// What it names.
        target: ReadTarget,
    },
    /// Complete an argument of the prompt at `index`.
    CompletePrompt {
        /// The prompt's name.
        name: Cow<'a, str>,
        /// Its place in the catalogue.
        index: usize,
        /// What is completed.
        argument: Completing<'a>,
    },
    /// Complete a variable of the resource template at `index`.
    CompleteTemplate {
        /// The template's text.
        uri: Cow<'a, str>,
        /// Its place in the catalogue.
        index: usize,
        /// What is completed.
        argument: Completing<'a>,
    },
    /// Compute a list that user code provides.
    List {
        /// Which list.
        kind: ListKind,
        /// The cursor as sent.
        cursor: Option<Cow<'a, str>>,
    },
    /// Send log messages of this level and above from now on.
    SetLevel {
        /// One of [`LogLevel::NAMES`](crate::model::LogLevel::NAMES).
        level: &'static str,
    },
    /// Tell the client when the resource changes.
    Subscribe {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// Stop telling it.
    Unsubscribe {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// Open a stream of notifications.
    Listen {
        /// What the server agreed to send.
        filter: ListenFilter,
    },
    /// Do something with a task.
    Task {
        /// What.
        verb: TaskVerb,
        /// The task's id as sent.
        id: Cow<'a, str>,
        /// The keys of what it brings that is no answer to any question. Whether one was asked under
        /// them only the task knows.
        unsound: Vec<String>,
    },
    /// List the client's tasks.
    ListTasks,
}

/// A call that is to run as a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRequest {
    /// How long the client wants the task kept, in milliseconds.
    pub ttl: Option<u64>,
}

/// What a client does with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskVerb {
    /// Ask how it stands.
    Get,
    /// Wait for its result (2025-11-25).
    Result,
    /// Bring what it waits for (2026-07-28).
    Update,
    /// End it.
    Cancel,
}

/// A half-typed argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Completing<'a> {
    /// The argument's name.
    pub name: Cow<'a, str>,
    /// What was typed so far.
    pub value: Cow<'a, str>,
    /// `context.arguments`: what the other arguments are already (2025-06-18).
    pub context: Option<&'a [u8]>,
}

/// What a `subscriptions/listen` stream carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenFilter {
    /// `notifications/tools/list_changed`
    pub tools: bool,
    /// `notifications/prompts/list_changed`
    pub prompts: bool,
    /// `notifications/resources/list_changed`
    pub resources: bool,
    /// `notifications/resources/updated` for these.
    pub uris: Vec<String>,
}

/// What a client brings back when it retries a request that needed input (2026-07-28).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input<'a> {
    /// `inputResponses`: an object of objects.
    pub responses: Option<&'a [u8]>,
    /// `requestState`, still sealed.
    pub state: Option<Cow<'a, str>>,
}

/// A session that `initialize` opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Initialize<'a> {
    /// The finished answer.
    pub answer: Answer,
    /// The request's id.
    pub id: Id,
    /// The revision agreed on.
    pub revision: Revision,
    /// `clientInfo` as sent.
    pub client_info: &'a [u8],
    /// `capabilities` as sent.
    pub capabilities: &'a [u8],
}

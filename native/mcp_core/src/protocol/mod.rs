//! The protocol's rules: the methods of each revision, their parameters, and admission. Admission
//! turns a message into a finished response or into work for the server's own code.

mod admission;
mod admit;
mod anonymous;
mod answered;
mod argument;
mod arguments;
mod capabilities;
mod conceal;
mod context;
mod era;
mod fields;
mod frame;
mod header_agreement;
mod initialize;
mod input;
mod input_need;
mod input_response;
mod limits;
mod meta;
mod method;
mod notification;
mod params;
mod refusal;
mod request;
mod run_time;
mod state;
mod task;

pub use admission::Admission;
pub use admit::admit;
pub use anonymous::Anonymous;
pub use answered::Answered;
pub use arguments::refuse_arguments;
pub use context::{Context, SessionContext};
pub use frame::{NotificationKind, ResultKind, open_notification, open_request, open_result_head};
pub use input::InputKind;
pub use input_need::{
    InputNeed, InputUse, may_include_context, offers_input, required_capabilities,
};
pub use input_response::is_input_response;
pub use limits::MessageLimits;
pub use meta::{Client, ProgressToken};
pub use method::Method;
pub use notification::Notification;
pub use refusal::{Answer, Refusal};
pub use request::{
    Completing, Hidden, Initialize, Input, ListenFilter, Request, TaskRequest, TaskVerb, Work,
};
pub use run_time::RunTimeCall;
pub use state::{Binding, NONCE_BYTES, SECRET_BYTES, StateError, open, seal};

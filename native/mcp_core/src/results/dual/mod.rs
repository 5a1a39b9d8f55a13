//! The endpoints of dual responses, as pure functions. They turn a head, and then a body, into the
//! requested action or the exact refusal. They also write the texts of responses.
//!
//! | request | wanted | answer |
//! |---|---|---|
//! | `GET /:id`, `HEAD /:id` | [`Action::Metadata`] | its metadata, in JSON |
//! | `POST /:id` | [`Action::Fetch`], as a page or as a stream ([`Form`]) | [`Page`] |
//! | `PUT /:id` | [`Action::Pin`] | a confirmation, in JSON |
//! | `DELETE /:id` | [`Action::Delete`] | 204 |
//!
//! [`check_head`] validates a head before the body is read, and [`select`] validates the body of a
//! `POST`. They return a refusal as a complete [`HttpAnswer`](crate::http::HttpAnswer). Other
//! [`Refusal`]s come from the owner of the stores and limits.
//!
//! ```
//! use mcp_core::http::Head;
//! use mcp_core::results::dual::{Action, Endpoint, EndpointOptions, Form, check_head, select};
//!
//! let endpoint = Endpoint::new(EndpointOptions::default())?;
//! let mut head = Head {
//!     method: "POST",
//!     target: "/resources/abc123",
//!     authority: None,
//!     headers: &[("host", b"localhost:4040")],
//! };
//! let wanted = check_head(&endpoint, &head).unwrap();
//! assert_eq!((wanted.action, &*wanted.id, wanted.form), (Action::Fetch, "abc123", Form::Page));
//!
//! let selection = select(&endpoint, wanted.form, br#"{"offset": 100, "limit": 5000}"#).unwrap();
//! assert_eq!((selection.offset, selection.limit), (100, Some(1000)));
//!
//! head.method = "PATCH";
//! assert_eq!(check_head(&endpoint, &head).map_err(|answer| answer.status), Err(405));
//! # Ok::<(), mcp_core::results::dual::EndpointError>(())
//! ```

mod answer;
mod csv;
mod endpoint;
mod head;
mod id;
mod page;
mod refusal;
mod select;
mod signature;
mod sort;

pub use answer::{CSV_HEADERS, HEADERS, JSON_HEADERS, NDJSON_HEADERS};
pub use csv::{write_csv_text, write_csv_value};
pub use endpoint::{Endpoint, EndpointError, EndpointOptions};
pub use head::{Action, Form, Wanted, check_head};
pub use page::Page;
pub use refusal::{Refusal, refuse};
pub use select::{Selection, select};
pub use signature::Capability;
pub use sort::{Order, SortKey};

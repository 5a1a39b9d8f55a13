//! The members that a revision adds to every result of a server.

use serde_json::Value;

use crate::json::write_string;
use crate::model;
use crate::revision::{Era, Revision};

/// The `_meta` member of a stateless result that names the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Members before and after those of the result: the result type first, the server's info last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Members that open the result, such as `"resultType":"complete"`; may be empty.
    pub fields: Vec<u8>,
    /// Members to add to the result's `_meta`: name and JSON text.
    pub meta: Vec<(&'static str, Vec<u8>)>,
}

impl Extras {
    /// `,"result":{` and the opening members, with the comma that the next member needs.
    pub fn open_result(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"result\":{");
        if !self.fields.is_empty() {
            out.extend_from_slice(&self.fields);
            out.push(b',');
        }
    }

    /// `,"_meta":{…}` if there is one, and the braces that end the result and the message.
    pub fn close_result(&self, out: &mut Vec<u8>) {
        for (place, (name, value)) in self.meta.iter().enumerate() {
            out.extend_from_slice(if place == 0 { b",\"_meta\":{" } else { b"," });
            write_string(out, name);
            out.push(b':');
            out.extend_from_slice(value);
        }
        if !self.meta.is_empty() {
            out.push(b'}');
        }
        out.extend_from_slice(b"}}");
    }
}

/// The members that a server adds to its results. They are encoded once, because every result needs
/// them.
pub(super) struct ServerExtras {
    session: Extras,
    stateless: Extras,
}

impl ServerExtras {
    /// The extras of a server with this `Implementation` object.
    pub(super) fn of(info: &Value) -> Self {
        let info = model::encode_for(&model::IMPLEMENTATION, info, Revision::NEWEST);
        Self {
            session: Extras::default(),
            stateless: Extras {
                fields: b"\"resultType\":\"complete\"".to_vec(),
                meta: vec![(SERVER_INFO, info)],
            },
        }
    }

    pub(super) const fn at(&self, revision: Revision) -> &Extras {
        match revision.era() {
            Era::Session => &self.session,
            Era::Stateless => &self.stateless,
        }
    }
}

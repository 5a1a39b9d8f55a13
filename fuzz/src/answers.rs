//! Checks the results of admission for any message.

use mcp_core::json::Limits;
use mcp_core::jsonrpc::{Id, PARSE_ERROR, standard_message};
use mcp_core::protocol::{Admission, Request, Work};

use crate::tree::{Repeated, Tree, parse};

/// The longest error message.
const MAX_MESSAGE: usize = 1024;

/// A sent message.
pub struct Sent<'a> {
    bytes: &'a [u8],
    /// `None` if it is no JSON within the limits.
    tree: Option<Tree>,
}

impl<'a> Sent<'a> {
    pub fn read(bytes: &'a [u8]) -> Self {
        let tree = parse(bytes, &Limits::default(), Repeated::Keep).ok();
        Self { bytes, tree }
    }

    fn members(&self, name: &str) -> Vec<&Tree> {
        let Some(Tree::Object(members)) = &self.tree else {
            return Vec::new();
        };
        members
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value)
            .collect()
    }

    /// The id that an answer may have: valid, and present once.
    fn id(&self) -> Option<&Tree> {
        match self.members("id")[..] {
            [id @ (Tree::Integer(_) | Tree::Unsigned(_))] => Some(id),
            [id @ Tree::Text(text)] if text.len() <= 256 => Some(id),
            _ => None,
        }
    }

    fn elements(&self) -> Vec<Self> {
        let Some(Tree::Array(elements)) = &self.tree else {
            return Vec::new();
        };
        let one = |tree: &Tree| Self {
            bytes: self.bytes,
            tree: Some(tree.clone()),
        };
        elements.iter().map(one).collect()
    }

    /// Checks the outcome of the message.
    pub fn became(&self, admission: &Admission<'_, '_>) {
        match admission {
            Admission::Answer(answer) => self.is_answered(&answer.body, answer.status),
            Admission::Prebuilt { head, tail, .. } => {
                self.is_answered(&[head, *tail].concat(), 200)
            }
            Admission::Open(opening) => {
                assert_eq!(Some(&id_tree(&opening.id)), self.id());
                self.is_answered(&opening.answer.body, opening.answer.status);
                self.holds(opening.client_info);
                self.holds(opening.capabilities);
            }
            Admission::Request(request) => self.is_work(request),
            Admission::Response { id, outcome } => {
                assert_eq!(Some(&id_tree(id)), self.id());
                assert!(self.members("method").is_empty());
                let (Ok(json) | Err(json)) = outcome;
                is_object(json);
            }
            Admission::Notification(_) | Admission::Ignored => {
                assert!(
                    self.members("id").is_empty() || self.members("method").is_empty(),
                    "a request is answered"
                );
                assert!(self.tree.is_some());
            }
            Admission::TokenRequired => panic!("no context asks for a token"),
            Admission::Batch(items) => {
                let elements = self.elements();
                assert!((1..=50).contains(&elements.len()));
                assert_eq!(items.len(), elements.len());
                elements
                    .iter()
                    .zip(items)
                    .for_each(|(sent, item)| sent.became(item));
            }
        }
    }

    fn is_answered(&self, body: &[u8], status: u16) {
        assert!(
            status == 200 || (400..500).contains(&status),
            "status {status}"
        );
        assert!(
            body.iter().all(|byte| *byte >= 0x20),
            "an answer is one line"
        );
        let answer = Sent::read(body);
        let parsed = parse(body, &Limits::default(), Repeated::Refuse);
        assert!(
            parsed.is_ok(),
            "an answer is JSON: {}",
            String::from_utf8_lossy(body)
        );
        assert_eq!(answer.members("jsonrpc"), [&Tree::Text("2.0".to_owned())]);
        let (results, errors) = (answer.members("result"), answer.members("error"));
        assert_eq!(results.len() + errors.len(), 1, "a result or an error");

        match answer.members("id")[..] {
            [] | [Tree::Null] => {
                let is_call = self.id().is_some() && !self.members("method").is_empty();
                assert!(!is_call, "the id of a request is missing");
                assert!(results.is_empty(), "nobody could tell whose result it is");
            }
            [id] if self.tree.is_none() => self.has_written(id),
            [id] => assert_eq!(Some(id), self.id(), "an id is echoed, never rounded"),
            _ => unreachable!("keys are unique"),
        }
        let Some(Tree::Object(error)) = errors.first() else {
            return;
        };
        let code = match error.iter().find(|(key, _)| key == "code") {
            Some((_, Tree::Integer(code))) => i32::try_from(*code).expect("a code"),
            code => panic!("{code:?}"),
        };
        assert!(standard_message(code).is_some(), "code {code}");
        assert_eq!(
            code == PARSE_ERROR,
            self.tree.is_none(),
            "-32700 is for what is no JSON"
        );
        match error.iter().find(|(key, _)| key == "message") {
            Some((_, Tree::Text(message))) => assert!(message.len() <= MAX_MESSAGE),
            message => panic!("{message:?}"),
        }
    }

    /// An id from text that is no JSON stands in this text, unless it was escaped.
    fn has_written(&self, id: &Tree) {
        let written = match id {
            Tree::Integer(number) => number.to_string(),
            Tree::Unsigned(number) => number.to_string(),
            Tree::Text(text) => text.clone(),
            _ => panic!("{id:?} is no id"),
        };
        let stands = |part: &[u8]| self.bytes.windows(part.len()).any(|window| window == part);
        assert!(
            written.is_empty() || stands(written.as_bytes()) || stands(b"\\"),
            "an id is echoed, never invented"
        );
    }

    fn is_work(&self, request: &Request<'_>) {
        assert_eq!(Some(&id_tree(&request.id)), self.id());
        assert_eq!(
            self.members("method"),
            [&Tree::Text(request.method.name().to_owned())]
        );
        assert!(
            !self.tree.as_ref().is_some_and(Tree::repeats_a_key),
            "a key twice is refused"
        );
        let arguments = match &request.work {
            Work::Tool { arguments, .. } | Work::Prompt { arguments, .. } => *arguments,
            Work::CompletePrompt { argument, .. } | Work::CompleteTemplate { argument, .. } => {
                argument.context
            }
            _ => None,
        };
        for part in [request.meta, arguments, request.input.responses]
            .into_iter()
            .flatten()
        {
            self.holds(part);
        }
    }

    /// Checks that an object is a slice of the sent message and not a copy.
    fn holds(&self, part: &[u8]) {
        let sent = self.bytes.as_ptr_range();
        let part_range = part.as_ptr_range();
        assert!(sent.start <= part_range.start && part_range.end <= sent.end);
        is_object(part);
    }
}

fn is_object(json: &[u8]) {
    assert!(
        matches!(Sent::read(json).tree, Some(Tree::Object(_))),
        "{}",
        String::from_utf8_lossy(json)
    );
}

fn id_tree(id: &Id) -> Tree {
    let mut json = Vec::new();
    id.write(&mut json);
    parse(&json, &Limits::default(), Repeated::Refuse).expect("an id is JSON")
}

//! Matching a URI, in time linear in its length.
//!
//! There is no pattern engine and no backtracking. The path is read from both ends towards the
//! variable that may span segments. Each literal is searched once in the remaining text, and the
//! query is split once.

use memchr::{memchr, memchr2};

use super::percent::{decode, decode_reserved, normal_form};
use super::plan::{Atom, Capture, Parameter, Plan};

/// Extracts a template's variables from a URI.
#[derive(Clone, Debug)]
pub struct Matcher {
    plan: Plan,
    max_bytes: usize,
}

/// A variable's encoded value in the URI, and its offset.
struct Raw<'p, 'u> {
    name: &'p str,
    value: &'u str,
    start: usize,
    /// Whether triplets of reserved characters are part of the value.
    keeps_reserved: bool,
}

impl Matcher {
    pub(super) const fn new(plan: Plan, max_bytes: usize) -> Self {
        Self { plan, max_bytes }
    }

    /// The names and values of the variables, or `None` if the URI does not match the template.
    ///
    /// The [`normal_form`] of the URI is matched, so equivalent URIs have the same values.
    ///
    /// Values are percent-decoded once. In the value of a `{+name}` or `{#name}` the triplets of
    /// reserved characters stay, and a `%25` before two hexadecimal digits: such an expansion never
    /// encodes them (RFC 6570, section 3.2.3). So `a%2Fb` and `a/b` are two values.
    ///
    /// All path variables are present, in the order of the template. Query variables follow if the URI has them; the URI may have them in any order. If
    /// a separator may also be part of a value, as in `{name}.{extension}`, the last one separates;
    /// before a `{+name}`, the first. Only a `{+name}`, a `{#name}` and a query parameter may be
    /// empty: `users/` does not match `users/{id}`.
    ///
    /// A URI whose normal form is longer than
    /// [`TemplateLimits::max_bytes`](super::TemplateLimits::max_bytes) does not match. Neither does
    /// a URI that could mislead a handler: a value with a NUL, a backslash or a `.` or `..` segment,
    /// encoded or not; a value that is not UTF-8; a value that starts with a slash
    /// after a slash, which would be an absolute path; a repeated or unknown query parameter.
    #[must_use]
    pub fn captures(&self, uri: &str) -> Option<Vec<(String, String)>> {
        let uri = &*normal_form(uri);
        if uri.len() > self.max_bytes {
            return None;
        }
        let (path, query) = match &self.plan.query {
            Some(_) => match uri.split_once('?') {
                Some((path, query)) => (path, Some(query)),
                None => (uri, None),
            },
            None => (uri, None),
        };
        let mut found = self.match_path(path)?;
        if let (Some(parameters), Some(query)) = (&self.plan.query, query) {
            found.extend(match_query(parameters, query)?);
        }
        found.iter().map(|raw| accept(uri, raw)).collect()
    }

    fn match_path<'p, 'u>(&'p self, path: &'u str) -> Option<Vec<Raw<'p, 'u>>> {
        let Plan {
            head, middle, tail, ..
        } = &self.plan;
        let Some(middle) = middle else {
            let (mut found, start) = match_backwards(head, path, true)?;
            found.reverse();
            return (start == 0).then_some(found);
        };
        let (mut behind, end) = match_backwards(tail, path, false)?;
        let (mut found, start) = match_forwards(head, path.get(..end)?)?;
        found.push(raw(middle, path.get(start..end)?, start)?);
        behind.reverse();
        found.append(&mut behind);
        Some(found)
    }
}

/// Matches atoms at the start of `text`, each variable as short as possible. Returns the variables
/// and their end.
fn match_forwards<'p, 'u>(atoms: &'p [Atom], text: &'u str) -> Option<(Vec<Raw<'p, 'u>>, usize)> {
    let mut found = Vec::new();
    let mut at = 0_usize;
    let mut open: Option<&Capture> = None;
    for atom in atoms {
        match (atom, open) {
            (Atom::Capture(capture), _) => open = Some(capture),
            (Atom::Literal(literal), None) => {
                at = text
                    .len()
                    .checked_sub(text.get(at..)?.strip_prefix(literal.as_str())?.len())?;
            }
            (Atom::Literal(literal), Some(capture)) => {
                let rest = text.get(at..)?;
                let first = rest.chars().next()?.len_utf8();
                let length = rest
                    .get(first..)?
                    .find(literal.as_str())?
                    .checked_add(first)?;
                found.push(raw(capture, rest.get(..length)?, at)?);
                at = at.checked_add(length)?.checked_add(literal.len())?;
                open = None;
            }
        }
    }
    // The head of a plan is empty or ends with a literal, because no two variables are adjacent.
    open.is_none().then_some((found, at))
}

/// Matches atoms at the end of `text`, from the last to the first, each variable as short as
/// possible. Returns the variables in reverse order and the start of the first atom. If the atoms
/// are the whole template, the first one must start at the start of the text.
fn match_backwards<'p, 'u>(
    atoms: &'p [Atom],
    text: &'u str,
    is_whole: bool,
) -> Option<(Vec<Raw<'p, 'u>>, usize)> {
    let mut found = Vec::new();
    let mut end = text.len();
    let mut open: Option<&Capture> = None;
    for (index, atom) in atoms.iter().enumerate().rev() {
        let rest = text.get(..end)?;
        match (atom, open) {
            (Atom::Capture(capture), _) => open = Some(capture),
            (Atom::Literal(literal), None) => end = rest.strip_suffix(literal.as_str())?.len(),
            (Atom::Literal(literal), Some(capture)) => {
                let at = if is_whole && index == 0 {
                    rest.starts_with(literal.as_str()).then_some(0)?
                } else {
                    let last = rest.chars().next_back()?.len_utf8();
                    let before = rest.get(..rest.len().checked_sub(last)?)?;
                    before.rfind(literal.as_str())?
                };
                let start = at.checked_add(literal.len())?;
                found.push(raw(capture, rest.get(start..)?, start)?);
                end = at;
                open = None;
            }
        }
    }
    if let Some(capture) = open {
        found.push(raw(capture, text.get(..end)?, 0)?);
        end = 0;
    }
    Some((found, end))
}

fn raw<'p, 'u>(capture: &'p Capture, value: &'u str, start: usize) -> Option<Raw<'p, 'u>> {
    let is_whole = |stop| memchr(stop, value.as_bytes()).is_none();
    let is_there = capture.spans || !value.is_empty();
    (is_there && capture.stops.bytes().all(is_whole)).then_some(Raw {
        name: &capture.name,
        value,
        start,
        keeps_reserved: capture.spans,
    })
}

/// The parameters of a query, in the order of the template.
fn match_query<'p, 'u>(parameters: &'p [Parameter], query: &'u str) -> Option<Vec<Raw<'p, 'u>>> {
    let mut values: Vec<Option<&str>> = vec![None; parameters.len()];
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let index = parameters.iter().position(|known| known.written == name)?;
        let slot = values.get_mut(index).filter(|slot| slot.is_none())?;
        *slot = Some(value).filter(|value| !value.contains('#'));
        slot.as_ref()?;
    }
    let found = parameters.iter().zip(values).filter_map(|(known, value)| {
        let value = value?;
        Some(Raw {
            name: &known.name,
            value,
            start: 0,
            keeps_reserved: false,
        })
    });
    Some(found.collect())
}

/// Decodes a value and refuses one that could mislead a handler, also one that decodes it again.
fn accept(uri: &str, raw: &Raw<'_, '_>) -> Option<(String, String)> {
    let plain = decode(raw.value)?;
    let is_after_slash = uri
        .get(..raw.start)
        .is_some_and(|before| before.ends_with('/'));
    let is_absolute = is_after_slash && plain.starts_with('/');
    // `./a` is another text than `a`, but names the same file (RFC 3986, section 3.3).
    let is_dots = |segment| matches!(segment, "." | "..");
    let climbs = memchr(b'.', plain.as_bytes()).is_some() && plain.split('/').any(is_dots);
    let hides = memchr2(0, b'\\', plain.as_bytes()).is_some();
    if is_absolute || climbs || hides {
        return None;
    }
    let value = if raw.keeps_reserved && memchr(b'%', raw.value.as_bytes()).is_some() {
        decode_reserved(raw.value)?
    } else {
        plain
    };
    Some((raw.name.to_owned(), value))
}

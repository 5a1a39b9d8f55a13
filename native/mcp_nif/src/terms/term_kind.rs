//! The kind of a term, tested one kind at a time.
//!
//! The VM has one call that returns the kind of any term, `enif_term_type`. It aborts the VM for a
//! kind that is newer than the library, such as the native records of OTP 29. The tests for a
//! single kind return false instead, so this module uses only them; `clippy.toml` forbids the other
//! call.

use rustler::Term;

/// The kinds of terms that this library knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermKind {
    Atom,
    Integer,
    Float,
    Map,
    List,
    /// Whole bytes.
    Binary,
    /// Bits that are not whole bytes.
    Bitstring,
    Tuple,
    Function,
    Pid,
    Port,
    Reference,
    /// A kind that is newer than this library.
    Unknown,
}

impl TermKind {
    /// The kind of a term. The kinds with a JSON form are tested first.
    #[inline]
    pub(super) fn of(term: Term<'_>) -> Self {
        if term.is_atom() {
            Self::Atom
        } else if term.is_map() {
            Self::Map
        } else if term.is_list() {
            Self::List
        } else if term.is_number() {
            if term.is_float() {
                Self::Float
            } else {
                Self::Integer
            }
        } else if term.is_binary() {
            Self::Binary
        } else {
            Self::without_form(term)
        }
    }

    #[cold]
    fn without_form(term: Term<'_>) -> Self {
        if term.is_tuple() {
            Self::Tuple
        } else if term.is_fun() {
            Self::Function
        } else if term.is_pid() {
            Self::Pid
        } else if term.is_port() {
            Self::Port
        } else if term.is_ref() {
            Self::Reference
        } else if is_bitstring(term) {
            Self::Bitstring
        } else {
            Self::Unknown
        }
    }

    /// The noun for a term without a JSON form.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Atom => "an atom",
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Map => "a map",
            Self::List => "a list",
            Self::Binary => "a binary",
            Self::Bitstring => "a bitstring that is not whole bytes",
            Self::Tuple => "a tuple",
            Self::Function => "a function",
            Self::Pid => "a pid",
            Self::Port => "a port",
            Self::Reference => "a reference",
            Self::Unknown => "a term of a kind without a JSON form, such as a native record",
        }
    }
}

/// The VM has no test for bitstrings. But they are the last kind in the order of terms, and the
/// empty binary is the first bitstring. Comparing terms of different kinds does not read their
/// contents.
fn is_bitstring(term: Term<'_>) -> bool {
    let empty: Term<'_> = rustler::NewBinary::new(term.get_env(), 0).into();
    term > empty
}

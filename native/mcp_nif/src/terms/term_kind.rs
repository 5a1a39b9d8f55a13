//! What kind of term a term is, asked kind by kind.
//!
//! The VM has one call that tells the kind of any term, `enif_term_type`. It aborts the VM for a kind
//! that is younger than the library, such as the native records of OTP 29. The questions for a single
//! kind answer no instead, so every kind is decided by them; `clippy.toml` forbids the other way.

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
    /// A kind that came after this library was written.
    Unknown,
}

impl TermKind {
    /// The kind of a term. Those that JSON has a form for are asked for first.
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

    /// What a term is called that has no JSON form.
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

/// There is no question for bitstrings. They are the last in the order of terms, the empty binary is the
/// first of them, and the order of two terms of different kinds is known without looking into either.
fn is_bitstring(term: Term<'_>) -> bool {
    let empty: Term<'_> = rustler::NewBinary::new(term.get_env(), 0).into();
    term > empty
}

//! A plan of `mcp_core` with the VM's atoms and structs.

use std::collections::HashMap;

use mcp_core::arguments::{Cast, Keys, Member, ObjectPlan, Place, Plan, Undeclared};
use rustler::{Atom, Env};

/// The empty structs of arguments in the external term format, by module name.
pub(crate) type Structs = HashMap<String, Vec<u8>>;

/// The conversion of a tool's arguments.
pub(crate) struct TermPlan {
    pub(super) root: TermPlace,
}

pub(super) struct TermPlace {
    pub(super) cast: Option<Cast>,
    pub(super) is_integer: bool,
    pub(super) object: Option<TermObject>,
    pub(super) items: Option<Box<TermPlace>>,
}

pub(super) struct TermObject {
    pub(super) drops: bool,
    /// Whether the members go into a new map instead of the client's map.
    pub(super) rebuilds: bool,
    pub(super) base: Option<Vec<u8>>,
    pub(super) members: Vec<TermMember>,
}

pub(super) struct TermMember {
    pub(super) name: String,
    /// The atom key that replaces the name.
    pub(super) key: Option<Atom>,
    pub(super) default: Option<String>,
    pub(super) place: Option<TermPlace>,
}

/// An atom or struct of a plan does not exist. The router rules this out.
pub(crate) struct Missing;

impl TermPlan {
    /// Resolves a plan's atoms and structs.
    ///
    /// # Errors
    /// [`Missing`].
    pub(crate) fn of(env: Env<'_>, plan: &Plan, structs: &Structs) -> Result<Self, Missing> {
        let root = place(env, &plan.root, structs)?;
        Ok(Self { root })
    }
}

fn place(env: Env<'_>, given: &Place, structs: &Structs) -> Result<TermPlace, Missing> {
    let object = given.object.as_ref();
    let items = given.items.as_deref();
    Ok(TermPlace {
        cast: given.cast,
        is_integer: given.is_integer,
        object: object
            .map(|given| self::object(env, given, structs))
            .transpose()?,
        items: items
            .map(|given| place(env, given, structs).map(Box::new))
            .transpose()?,
    })
}

fn object(env: Env<'_>, given: &ObjectPlan, structs: &Structs) -> Result<TermObject, Missing> {
    let is_atoms = given.keys == Keys::Atoms;
    let drops = given.undeclared == Undeclared::Drop || given.r#struct.is_some();
    let members: Result<Vec<TermMember>, Missing> = given
        .members
        .iter()
        .map(|given| member(env, given, is_atoms, structs))
        .collect();
    let base = given.r#struct.as_ref();
    Ok(TermObject {
        drops,
        rebuilds: is_atoms || drops,
        base: base
            .map(|name| structs.get(name).cloned().ok_or(Missing))
            .transpose()?,
        members: members?,
    })
}

fn member(
    env: Env<'_>,
    given: &Member,
    is_atoms: bool,
    structs: &Structs,
) -> Result<TermMember, Missing> {
    let key = is_atoms.then(|| Atom::existing_from_str(env, &given.name).map_err(|_| Missing));
    let place = given.place.as_ref().map(|given| place(env, given, structs));
    Ok(TermMember {
        name: given.name.clone(),
        key: key.transpose()?,
        default: given.default.clone(),
        place: place.transpose()?,
    })
}

//! Options given as a map, read one by one; those it leaves out are the core's.

use rustler::{Decoder, MapIterator, Term};

/// Hands each option to `put`, by its name.
///
/// # Errors
/// What `put` says of one, or that there is no map.
pub(crate) fn each<'a>(
    given: Term<'a>,
    mut put: impl FnMut(&str, Term<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let pairs = MapIterator::new(given).ok_or("the options must be a map")?;
    for (name, value) in pairs {
        put(&name.atom_to_string().unwrap_or_default(), value)?;
    }
    Ok(())
}

/// An option's value.
pub(crate) fn value<'a, T: Decoder<'a>>(name: &str, value: Term<'a>) -> Result<T, String> {
    value
        .decode()
        .map_err(|_| format!("{name} has a value of another type than it takes"))
}

/// What is said of an option that does not exist.
pub(crate) fn unknown(name: &str) -> Result<(), String> {
    Err(format!("there is no option {name:?}"))
}

/// Reads a map of options into the fields of the same names: `read!(given, limits => [max_bytes], limits.json => [max_depth])`.
macro_rules! read {
    ($given:expr, $($place:expr => [$($name:ident),* $(,)?]),* $(,)?) => {
        $crate::options::each($given, |name, value| {
            $($(
                if name == stringify!($name) {
                    $place.$name = $crate::options::value(name, value)?;
                    return Ok(());
                }
            )*)*
            $crate::options::unknown(name)
        })
    };
}
pub(crate) use read;

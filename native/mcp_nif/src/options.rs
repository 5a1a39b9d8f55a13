//! Reads options from a map; absent options have the core's defaults.

use rustler::{Decoder, MapIterator, Term};

/// Passes each option to `put`, with its name.
///
/// # Errors
/// The error of `put`, or that the term is no map.
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

/// Decodes an option's value.
pub(crate) fn value<'a, T: Decoder<'a>>(name: &str, value: Term<'a>) -> Result<T, String> {
    value
        .decode()
        .map_err(|_| format!("{name} has a value of another type than it takes"))
}

/// The error for an unknown option.
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

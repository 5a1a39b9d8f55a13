//! The positive control of `fuzz/sanitize`: a NIF with a mistake that the sanitizer must find.

use rustler::Binary;

/// Reads the byte after a binary's end, which does not belong to it.
#[rustler::nif]
fn byte_behind(binary: Binary<'_>) -> u8 {
    let bytes = binary.as_slice();
    // SAFETY: none. This is the mistake.
    unsafe { bytes.as_ptr().add(bytes.len()).read_volatile() }
}

rustler::init!("Elixir.McpServer.Control");

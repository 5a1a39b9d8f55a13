//! The positive control of `fuzz/sanitize`: a NIF with the mistake that the sanitizer is there to find.

use rustler::Binary;

/// The byte behind a binary's last one, which is not its own.
#[rustler::nif]
fn byte_behind(binary: Binary<'_>) -> u8 {
    let bytes = binary.as_slice();
    // SAFETY: none. This is the mistake.
    unsafe { bytes.as_ptr().add(bytes.len()).read_volatile() }
}

rustler::init!("Elixir.McpServer.Control");

//! The rules of Streamable HTTP: a table of heads, a table of bodies behind heads, and framing.

mod admission;
mod answers;
mod head;
mod heads;
mod parameters;
mod properties;
mod site;
mod sse;

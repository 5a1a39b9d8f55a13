//! The endpoints of dual responses: a table of heads, a table of bodies, and texts.

mod bodies;
mod heads;
mod texts;

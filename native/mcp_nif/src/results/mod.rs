//! Result shapes: the bulk work of presentations, and the rows of stored results.

mod presentation;
mod rows;

//! Terms for the schema validator: a list of values whose texts stay in the terms.

pub(super) mod node;
pub(super) mod node_number;
pub(super) mod node_parts;
pub(super) mod normal_form;
pub(super) mod term_node;
pub(super) mod values;

//! What a user may ask for.

mod patch;
mod test;

pub(crate) use patch::patch;
pub(crate) use test::{nextest, test};

//! `cargo cct doctor`: what of a project a world does not control.
//!
//! Who reaches the real tokio is certain, as cargo says it. All else comes of a search for words in the sources:
//! it knows no meaning and no `cfg`, and does not see what macros write. It says where to look.

mod diagnosis;
mod packages;
mod rules;
mod scan;

pub(crate) use diagnosis::doctor;

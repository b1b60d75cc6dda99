//! What of the unfinished work is there after a crash, as a choice.

use cct_executor::shim;

/// The shape of what survives. The order is that of the choice: the first is what is tried first,
/// and what shrinking aims at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Nothing,
    Everything,
    /// All up to some moment.
    Prefix,
    /// Each piece on its own.
    Each,
}

/// Asks the strategy what survives.
///
/// The shape comes first, so that the extremes and clean cuts are not lost among the many mixtures;
/// every state is still possible.
pub(super) struct Chooser<'a> {
    choose: &'a mut dyn FnMut(u32, &'static str) -> u32,
    torn_sectors: bool,
    /// What is chosen of, for reports.
    about: Option<String>,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(
        torn_sectors: bool,
        choose: &'a mut dyn FnMut(u32, &'static str) -> u32,
    ) -> Chooser<'a> {
        Chooser {
            choose,
            torn_sectors,
            about: None,
        }
    }

    /// Says what the next choices are of.
    pub(super) fn about(&mut self, text: impl FnOnce() -> String) {
        self.about = shim::is_recorded().then(text);
    }

    pub(super) fn shape(&mut self) -> Shape {
        let (shape, part) = match (self.choose)(4, "what survives") {
            0 => (Shape::Nothing, "nothing"),
            1 => (Shape::Everything, "everything"),
            2 => (Shape::Prefix, "the first"),
            _ => (Shape::Each, "some"),
        };
        self.tell(part);
        shape
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: u32, label: &'static str) -> u32 {
        if count < 2 {
            return 0;
        }
        let value = (self.choose)(count, label);
        self.tell("");
        value
    }

    fn tell(&self, part: &str) {
        if let Some(about) = &self.about {
            shim::tell_choice(|| format!("{part} of {about}").trim_start().to_owned());
        }
    }

    /// Whether a sector may survive in part.
    pub(super) fn tears_sectors(&self) -> bool {
        self.torn_sectors
    }
}

//! What of the unfinished work is there after a crash, as a choice.

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
}

impl<'a> Chooser<'a> {
    pub(super) fn new(
        torn_sectors: bool,
        choose: &'a mut dyn FnMut(u32, &'static str) -> u32,
    ) -> Chooser<'a> {
        Chooser {
            choose,
            torn_sectors,
        }
    }

    pub(super) fn shape(&mut self) -> Shape {
        match self.below(4, "what survives the crash") {
            0 => Shape::Nothing,
            1 => Shape::Everything,
            2 => Shape::Prefix,
            _ => Shape::Each,
        }
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: u32, label: &'static str) -> u32 {
        if count < 2 {
            return 0;
        }
        (self.choose)(count, label)
    }

    /// Whether a sector may survive in part.
    pub(super) fn tears_sectors(&self) -> bool {
        self.torn_sectors
    }
}

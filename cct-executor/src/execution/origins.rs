//! What is not known by who made it: counted by where it came from.

/// How many things have come from each origin. There are few origins, so that a list, kept from one
/// iteration to the next, is cheaper than a tree.
#[derive(Default)]
pub(crate) struct Origins {
    /// By origin.
    counts: Vec<(u64, u32)>,
}

impl Origins {
    pub(super) fn clear(&mut self) {
        self.counts.clear();
    }

    /// Counts one more, and returns how many there were before.
    pub(super) fn count(&mut self, origin: u64) -> u32 {
        let at = match self.counts.binary_search_by_key(&origin, |entry| entry.0) {
            Ok(at) => at,
            Err(at) => {
                self.counts.insert(at, (origin, 0));
                at
            }
        };
        let count = &mut self.counts[at].1;
        *count += 1;
        *count - 1
    }
}

#[cfg(test)]
mod tests {
    use super::Origins;

    #[test]
    fn each_origin_has_its_own_count() {
        let mut origins = Origins::default();
        let counted = [7, 3, 7, 9, 3, 7].map(|origin| origins.count(origin));
        assert_eq!(counted, [0, 0, 1, 0, 1, 2]);
        origins.clear();
        assert_eq!(origins.count(7), 0);
    }
}

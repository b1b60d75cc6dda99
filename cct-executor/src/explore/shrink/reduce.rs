//! Leaving out what a failure does not take.
//!
//! After A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002
//! (`ddmin`): halves are left out first, then ever smaller parts. One thing differs: an attempt may turn out
//! to have used less than it was given, and the search goes on from what it used. Parts are tried from the
//! last to the first, as what happens late changes the least of the rest.
//!
//! Guarantee: where the search is not cut short, none of what remains can be left out alone.

/// What came of an attempt.
pub(super) enum Attempt<T> {
    /// The same failure, with no more than these.
    Fails(Vec<T>),
    /// Not the same failure.
    Passes,
    /// There is no time for it.
    OutOfTime,
}

/// What remains of `all`, and whether nothing more can be left out.
pub(super) fn reduce<T: Clone>(
    all: Vec<T>,
    attempt: &mut dyn FnMut(&[T]) -> Attempt<T>,
) -> (Vec<T>, bool) {
    let mut kept = all;
    let mut part = kept.len();
    while part > 0 {
        let before = kept.len();
        let mut end = before;
        while end > 0 {
            let start = end.saturating_sub(part);
            let rest = [&kept[..start], &kept[end..]].concat();
            end = match attempt(&rest) {
                Attempt::Fails(used) if used.len() <= rest.len() => {
                    kept = used;
                    start.min(kept.len())
                }
                // One that took more than it was given leads nowhere: the search would not end.
                Attempt::Fails(_) | Attempt::Passes => start,
                Attempt::OutOfTime => return (kept, false),
            };
        }
        part = match part {
            1 if kept.len() == before => 0,
            1 => kept.len().min(1),
            _ => part.div_ceil(2).min(kept.len()),
        };
    }
    (kept, true)
}

/// What remains of `all` where several in a row are replaced by one, `join` of the first and the last, as far
/// as that will do; and whether the search was not cut short.
pub(super) fn bypass<T: Clone>(
    all: Vec<T>,
    join: fn(&T, &T) -> T,
    attempt: &mut dyn FnMut(&[T]) -> Attempt<T>,
) -> (Vec<T>, bool) {
    let mut kept = all;
    let mut from = 0;
    while from < kept.len() {
        let mut reach = kept.len() - 1 - from;
        while reach > 0 {
            let to = from + reach;
            let joined = [join(&kept[from], &kept[to])];
            let fewer = [&kept[..from], &joined, &kept[to + 1..]].concat();
            reach = match attempt(&fewer) {
                Attempt::Fails(used) if used.len() <= fewer.len() => {
                    kept = used;
                    kept.len().saturating_sub(1 + from)
                }
                Attempt::Fails(_) | Attempt::Passes => reach / 2,
                Attempt::OutOfTime => return (kept, false),
            };
        }
        from += 1;
    }
    (kept, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if the first leads to 9, by itself or through others that lead on.
    fn leads_to_9(links: &[(u32, u32)]) -> Attempt<(u32, u32)> {
        let mut at = 0;
        for link in links {
            if link.0 == at {
                at = link.1;
            }
        }
        match at {
            9 => Attempt::Fails(links.to_vec()),
            _ => Attempt::Passes,
        }
    }

    #[test]
    fn a_way_round_is_left_out() {
        let way = vec![(0, 4), (4, 2), (2, 7), (7, 9)];
        assert_eq!(reduce(way.clone(), &mut leads_to_9), (way.clone(), true));
        let join = |one: &(u32, u32), other: &(u32, u32)| (one.0, other.1);
        assert_eq!(bypass(way, join, &mut leads_to_9), (vec![(0, 9)], true));
        let way: Vec<_> = (0..30).map(|at| (at + 10, at + 11)).collect();
        let way = [vec![(0, 10)], way, vec![(40, 9)]].concat();
        assert_eq!(bypass(way, join, &mut leads_to_9).0, [(0, 9)]);
        assert_eq!(bypass(vec![], join, &mut leads_to_9), (vec![], true));
    }

    /// Fails if these are all there; counts attempts.
    fn needing(all: u32, needed: &[u32], patience: usize) -> (Vec<u32>, bool, usize) {
        let mut attempts = 0;
        let (kept, whole) = reduce((0..all).collect(), &mut |rest| {
            attempts += 1;
            match needed.iter().all(|one| rest.contains(one)) {
                _ if attempts > patience => Attempt::OutOfTime,
                true => Attempt::Fails(rest.to_vec()),
                false => Attempt::Passes,
            }
        });
        (kept, whole, attempts)
    }

    #[test]
    fn what_is_needed_remains_and_nothing_else() {
        for needed in [&[][..], &[0], &[99], &[17, 18], &[3, 50, 98], &[0, 1, 2, 3]] {
            let (kept, whole, _) = needing(100, needed, usize::MAX);
            assert_eq!((kept.as_slice(), whole), (needed, true));
        }
        assert_eq!(needing(1, &[0], usize::MAX).0, [0]);
        assert_eq!(needing(0, &[], usize::MAX), (vec![], true, 0));
    }

    #[test]
    fn few_that_are_needed_among_many_are_found_soon() {
        // Each needed one costs two attempts for each halving.
        let (kept, _, attempts) = needing(4_096, &[5, 3_000], usize::MAX);
        assert_eq!(kept, [5, 3_000]);
        assert!(attempts <= 2 * 2 * 12 + 10, "{attempts}");
        assert_eq!(needing(4_096, &[], usize::MAX).2, 1);
    }

    #[test]
    fn a_search_that_is_cut_short_keeps_what_fails() {
        for patience in 0..40 {
            let (kept, whole, _) = needing(64, &[7, 40], patience);
            assert!(kept.contains(&7) && kept.contains(&40));
            assert!(!whole || kept == [7, 40]);
        }
    }

    #[test]
    fn what_an_attempt_did_not_use_is_gone() {
        // Odd ones are never used.
        let (kept, whole) = reduce((0..64_u32).collect(), &mut |rest| {
            if rest.contains(&8) {
                return Attempt::Fails(rest.iter().copied().filter(|one| one % 2 == 0).collect());
            }
            Attempt::Passes
        });
        assert_eq!((kept, whole), (vec![8], true));
    }

    #[test]
    fn two_of_which_either_will_do_leave_one() {
        let (kept, whole) = reduce((0..10_u32).collect(), &mut |rest| match rest.contains(&2)
            || rest.contains(&6)
        {
            true => Attempt::Fails(rest.to_vec()),
            false => Attempt::Passes,
        });
        assert_eq!((kept.len(), whole), (1, true));
    }
}

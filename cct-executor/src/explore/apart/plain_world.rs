//! A world of a test without an attribute: such a test may build one runtime after the other.

use crate::words::ReplayToken;
use std::fmt;

/// A world of a test, by its number among those that the test's own thread opens, from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::explore) struct PlainWorld {
    pub(in crate::explore) test: String,
    pub(in crate::explore) world: u32,
}

/// No test has as many; to compare that many names takes no time.
const WORLDS_MAX: u32 = 10_000;
/// So many are explored at most.
const EXPLORED_MAX: usize = 4;

impl PlainWorld {
    /// That of this test which a token is of.
    pub(in crate::explore) fn of_token(token: &ReplayToken, test: &str) -> Option<PlainWorld> {
        let mut worlds = (0..WORLDS_MAX).map(|world| PlainWorld {
            test: test.to_owned(),
            world,
        });
        worlds.find(|world| token.for_test(&world.to_string()).is_ok())
    }
}

/// By which tokens and reports know it.
impl fmt::Display for PlainWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.test)?;
        match self.world {
            0 => Ok(()),
            world => write!(f, " (runtime {})", world + 1),
        }
    }
}

/// Which worlds are worth exploring that took so many decisions: those with the most, the first ones first.
pub(super) fn worth_exploring(decisions: &[u64]) -> Vec<usize> {
    let mut worlds: Vec<usize> = (0..decisions.len())
        .filter(|&world| decisions[world] > 0)
        .collect();
    worlds.sort_by_key(|&world| std::cmp::Reverse(decisions[world]));
    worlds.truncate(EXPLORED_MAX);
    worlds.sort_unstable();
    worlds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Trace, WorldConfig};

    #[test]
    fn a_token_says_which_world_it_is_of() {
        for world in [0, 1, 7] {
            let one = PlainWorld {
                test: "a::test".to_owned(),
                world,
            };
            let config = WorldConfig::default();
            let token = ReplayToken::new(&one.to_string(), &config, Trace::default(), 0);
            assert_eq!(PlainWorld::of_token(&token, "a::test"), Some(one));
            assert_eq!(PlainWorld::of_token(&token, "another::test"), None);
        }
    }

    #[test]
    fn those_with_the_most_choices_are_explored() {
        assert!(worth_exploring(&[0, 0]).is_empty());
        assert_eq!(worth_exploring(&[0, 3, 0, 9]), [1, 3]);
        assert_eq!(worth_exploring(&[5, 1, 5, 5, 6, 5]), [0, 2, 3, 4]);
    }
}

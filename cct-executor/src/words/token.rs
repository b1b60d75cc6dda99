//! Replay tokens: everything a replay needs besides the program, as one word of text.
//!
//! Owns the text form. Does not replay, does not read the environment or files.
//!
//! `c1-` names the format. Behind it, in base64 with the URL alphabet (no padding, nothing a shell
//! would need quoted): the length of the body, the body, and a CRC-32 over both. The body holds
//! the settings byte, the hashes, the noise seed unless it is 0, the granularity where the settings have no room for it,
//! the clock's slack, the number of decisions, and the decisions as packed by `pack.rs`.
//!
//! 1. Text that decodes encodes to the same text again.
//! 2. Any change to one character is noticed.
//! 3. Decoding takes any text without panicking, and memory at most in proportion to it: a byte
//!    holds at most 4,096 decisions.
//!
//! A change to any of this, to `pack.rs` included, is a new format number.

mod error;
mod pack;
mod text;

#[cfg(test)]
mod tests;

pub use error::TokenError;

use super::config::{Clock, Granularity, WorldConfig};
use super::fingerprint::hash_of;
use super::seed::Seed;
use super::trace::Trace;
use error::Kind;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use text::Bytes;

/// The format this build writes and reads.
const FORMAT: u32 = 1;
/// In the place of a clock: the granularity is `spawn`, and the clock stands where that should.
const SPAWN: u8 = 3;
/// With [`SPAWN`], in the place of the clock: it is `lagging`, and the granularity has a byte of its own.
const LAGGING: u8 = 3;
const CLOCKS: u8 = 4;
/// Granularities by their number in tokens.
const GRANULARITIES: [Granularity; 5] = [
    Granularity::Await,
    Granularity::Op,
    Granularity::Sync,
    Granularity::Atomic,
    Granularity::Spawn,
];
/// Decisions a token may hold; an iteration with more cannot be replayed from a token.
const DECISIONS_MAX: u128 = 1 << 24;
/// Characters a token may have. 2^24 decisions of a random strategy take fewer.
const CHARACTERS_MAX: usize = 1 << 26;

/// Everything a replay needs besides the program.
///
/// [`Display`](fmt::Display) gives the text that reports print, [`FromStr`] takes it back and
/// tolerates white space around it.
///
/// ```
/// use cct_executor::words::{Decision, DecisionKind, ReplayToken, Trace, WorldConfig};
///
/// let mut trace = Trace::default();
/// trace.push(Decision { kind: DecisionKind::Schedule, index: 1, arity: 3 });
/// let token = ReplayToken::new("transfer_is_atomic", &WorldConfig::default(), trace, 0);
/// let text = token.to_string();
/// assert!(text.starts_with("c1-"));
/// assert_eq!(text.parse(), Ok(token));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ReplayToken {
    /// Which test it belongs to, see [`test_hash`](Self::test_hash).
    pub test: u32,
    /// Seed of the noise generator; 0 makes the token shorter.
    pub noise: Seed,
    /// Where scheduling points lie.
    pub granularity: Granularity,
    /// When virtual time may move.
    pub clock: Clock,
    /// The clock begins paused.
    pub start_paused: bool,
    /// Tasks run under tokio's cooperative budget.
    pub coop_budget: bool,
    /// Tasks are polled now and then although nobody woke them.
    pub spurious_polls: bool,
    /// Streams read and write less than they could now and then.
    pub partial_io: bool,
    /// The decisions.
    pub trace: Trace,
    /// Low bits of the schedule hash at the end, to notice a replay that silently went elsewhere.
    pub end: u32,
}

impl ReplayToken {
    /// The token of an iteration of the test of this name.
    ///
    /// `end` is [`IterationEnd::schedule_hash`](super::IterationEnd::schedule_hash), of which the
    /// token keeps the low bits.
    pub fn new(test: &str, world: &WorldConfig, trace: Trace, end: u64) -> ReplayToken {
        ReplayToken {
            test: ReplayToken::test_hash(test),
            noise: world.noise,
            granularity: world.granularity,
            clock: world.clock,
            start_paused: world.start_paused,
            coop_budget: world.coop_budget,
            spurious_polls: world.spurious_polls,
            partial_io: world.partial_io,
            trace,
            end: end as u32,
        }
    }

    /// Makes a world the one that the token was recorded in. Limits and what counts as a failure
    /// stay the test's own.
    pub fn configure(&self, world: &mut WorldConfig) {
        world.noise = self.noise;
        world.granularity = self.granularity;
        world.clock = self.clock;
        world.start_paused = self.start_paused;
        world.coop_budget = self.coop_budget;
        world.spurious_polls = self.spurious_polls;
        world.partial_io = self.partial_io;
    }

    /// Whether an iteration that ended with this schedule hash went where the recorded one went.
    pub fn ended_like(&self, schedule_hash: u64) -> bool {
        self.end == schedule_hash as u32
    }

    /// What [`test`](Self::test) holds for the test of this name.
    pub fn test_hash(name: &str) -> u32 {
        hash_of(name) as u32
    }

    /// Checks that the token belongs to the test of this name.
    ///
    /// # Errors
    /// If it belongs to another test.
    pub fn for_test(&self, name: &str) -> Result<(), TokenError> {
        if self.test == ReplayToken::test_hash(name) {
            return Ok(());
        }
        Err(Kind::OtherTest {
            name: name.to_owned(),
            token: self.test,
        }
        .into())
    }

    fn settings(&self) -> u8 {
        let granularity = self.granularity_number();
        // Two bits each: the fourth clock stands for the fifth granularity, and the two together for a byte more.
        let both = match (self.clock, granularity) {
            _ if self.has_more_settings() => LAGGING | SPAWN << 2,
            (_, 4) => self.clock_number() | SPAWN << 2,
            _ => granularity | self.clock_number() << 2,
        };
        both | u8::from(self.start_paused) << 4
            | u8::from(self.coop_budget) << 5
            | u8::from(self.spurious_polls) << 6
            | u8::from(self.noise != Seed(0)) << 7
    }

    fn has_more_settings(&self) -> bool {
        self.partial_io || matches!(self.clock, Clock::Lagging(_))
    }

    /// Three bits for the granularity, two for the clock, counted from `LAGGING`, and one for partial I/O.
    fn more_settings(&self) -> u8 {
        let clock = (self.clock_number() + CLOCKS - LAGGING) % CLOCKS;
        self.granularity_number() | clock << 3 | u8::from(self.partial_io) << 5
    }

    fn granularity_number(&self) -> u8 {
        let number = GRANULARITIES
            .iter()
            .position(|&one| one == self.granularity);
        number.expect("cct bug: a granularity without a number") as u8
    }

    fn clock_number(&self) -> u8 {
        match self.clock {
            Clock::Strict => 0,
            Clock::Racing(_) => 1,
            Clock::Adversarial => 2,
            Clock::Lagging(_) => LAGGING,
        }
    }

    fn body(&self) -> Vec<u8> {
        let mut body = vec![self.settings()];
        body.extend(self.test.to_le_bytes());
        body.extend(self.end.to_le_bytes());
        if self.noise != Seed(0) {
            body.extend(self.noise.0.to_le_bytes());
        }
        if self.has_more_settings() {
            body.push(self.more_settings());
        }
        if let Clock::Racing(slack) | Clock::Lagging(slack) = self.clock {
            text::put_number(&mut body, slack.as_nanos());
        }
        let decisions = self.trace.decisions();
        text::put_number(&mut body, decisions.len() as u128);
        body.extend(pack::pack(decisions));
        body
    }

    fn from_body(body: &[u8]) -> Result<ReplayToken, TokenError> {
        let mut bytes = Bytes::new(body);
        let mut token = ReplayToken::new("", &WorldConfig::default(), Trace::default(), 0);
        let [settings] = bytes.array()?;
        token.test = u32::from_le_bytes(bytes.array()?);
        token.end = u32::from_le_bytes(bytes.array()?);
        if settings & 0x80 != 0 {
            token.noise = Seed(u64::from_le_bytes(bytes.array()?));
            if token.noise == Seed(0) {
                return Err(Kind::Impossible("a noise seed of 0, spelled out".into()).into());
            }
        }
        let (granularity, clock) = match (settings & 3, settings >> 2 & 3) {
            (LAGGING, SPAWN) => {
                let [more] = bytes.array()?;
                token.partial_io = more & 0x20 != 0;
                let clock = (LAGGING + (more >> 3 & 3)) % CLOCKS;
                if more > 0x3f || (clock != LAGGING && !token.partial_io) {
                    return Err(Kind::Impossible(format!("settings {more:#04x}")).into());
                }
                (more & 7, clock)
            }
            (clock, SPAWN) => (4, clock),
            (granularity, clock) => (granularity, clock),
        };
        let known = GRANULARITIES.get(usize::from(granularity));
        let Some(&known) = known else {
            return Err(Kind::Impossible(format!("granularity {granularity}")).into());
        };
        token.granularity = known;
        token.clock = match clock {
            0 => Clock::Strict,
            1 => Clock::Racing(duration(bytes.number()?)?),
            2 => Clock::Adversarial,
            _ => Clock::Lagging(duration(bytes.number()?)?),
        };
        token.start_paused = settings & 0x10 != 0;
        token.coop_budget = settings & 0x20 != 0;
        token.spurious_polls = settings & 0x40 != 0;
        let count = bytes.number()?;
        if count > DECISIONS_MAX {
            return Err(Kind::TooManyDecisions {
                count,
                max: DECISIONS_MAX,
            }
            .into());
        }
        token.trace = pack::unpack(bytes.rest(), count as u32)?;
        Ok(token)
    }
}

fn duration(nanos: u128) -> Result<Duration, TokenError> {
    const SECOND: u128 = 1_000_000_000;
    match u64::try_from(nanos / SECOND) {
        Ok(seconds) => Ok(Duration::new(seconds, (nanos % SECOND) as u32)),
        Err(_) => Err(Kind::Impossible(format!("a slack of {nanos} ns")).into()),
    }
}

impl fmt::Display for ReplayToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{FORMAT}-{}", text::seal(&self.body()))
    }
}

impl FromStr for ReplayToken {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<ReplayToken, TokenError> {
        let text = text.trim();
        if text.len() > CHARACTERS_MAX {
            return Err(Kind::TooLong {
                characters: text.len(),
                max: CHARACTERS_MAX,
            }
            .into());
        }
        let (format, word) =
            text::split_format(text).ok_or_else(|| Kind::NotAToken(text::excerpt(text)))?;
        if format != FORMAT {
            return Err(Kind::OtherFormat {
                format,
                ours: FORMAT,
            }
            .into());
        }
        let body = text::unseal(word, text.len() - word.len())?;
        ReplayToken::from_body(&body)
    }
}

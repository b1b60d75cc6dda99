//! Strategies by name: `random`, `pct:d=3,k=200`.
//!
//! Owns the notation and the list of what exists. What a parameter means belongs to its strategy,
//! which describes itself by an [`Entry`].
//!
//! 1. What parses can be built; ranges are checked while parsing.
//! 2. Printing gives the canonical text: parameters in the strategy's order, none twice. Parsing
//!    it gives the same value again.

use super::Strategy;
use super::bonus_max::BonusMax;
use super::exhaustive::Exhaustive;
use super::fest::Fest;
use super::greedy::Greedy;
use super::idb::Idb;
use super::irs::Irs;
use super::negrl_visits;
use super::pct::Pct;
use super::pct_psharp::PctPsharp;
use super::pctcp::Pctcp;
use super::portfolio::Portfolio;
use super::pos::Pos;
use super::preemption_bounding::PreemptionBounding;
use super::ql::Ql;
use super::random::Random;
use super::round_robin::RoundRobin;
use super::ses::Ses;
use super::ss::Ss;
use super::surw::Surw;
use super::urw::Urw;
use super::waypoint::Waypoint;
use std::fmt;
use std::str::FromStr;

/// All strategies, in the order in which help and errors list them.
const ENTRIES: &[Entry] = &[
    Random::ENTRY,
    RoundRobin::ENTRY,
    Pct::ENTRY,
    Exhaustive::ENTRY,
    Ses::ENTRY,
    Ss::ENTRY,
    PreemptionBounding::ENTRY,
    Irs::ENTRY,
    PctPsharp::ENTRY,
    Greedy::ENTRY,
    Idb::ENTRY,
    Ql::ENTRY,
    negrl_visits::ENTRY,
    BonusMax::ENTRY,
    Waypoint::ENTRY,
    Pos::ENTRY,
    Urw::ENTRY,
    Surw::ENTRY,
    Pctcp::ENTRY,
    Fest::ENTRY,
    Portfolio::ENTRY,
];

/// What is known about one strategy without building it.
pub struct Entry {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) build: fn(&Arguments<'_>) -> Box<dyn Strategy>,
}

/// One parameter of a strategy.
pub struct Parameter {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: Kind,
}

/// Which values a parameter takes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// An integer in this range, bounds included.
    Number(u64, u64),
    /// `on` or `off`.
    Switch,
    /// A decimal number in this range, bounds included.
    Real(f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
}

/// The parameters given to a strategy.
pub(super) struct Arguments<'a>(&'a [(&'static str, u64)]);

/// A strategy with its parameters, as a value: a recipe that builds fresh instances.
#[derive(Clone)]
pub struct StrategySpec {
    entry: &'static Entry,
    /// Given parameters, in the entry's order: the number, 0 or 1 for a switch, the bits of a real
    /// number, the position of a word.
    given: Vec<(&'static str, u64)>,
}

/// Why a text does not name a strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrategyError(String);

impl Entry {
    /// The name by which it is chosen.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, in one line.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// Its parameters.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    fn parameter(&self, key: &str) -> Result<&'static Parameter, StrategyError> {
        let name = self.name;
        self.parameters
            .iter()
            .find(|parameter| parameter.name == key)
            .ok_or_else(|| {
                let names = list(self.parameters.iter().map(Parameter::name));
                StrategyError(match self.parameters {
                    [] => format!("unknown parameter `{key}`: strategy `{name}` takes none"),
                    _ => {
                        format!("unknown parameter `{key}` of strategy `{name}`: expected {names}")
                    }
                })
            })
    }
}

impl Parameter {
    /// The name by which it is given.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it means, in one line.
    pub fn help(&self) -> &'static str {
        self.help
    }

    fn parse(&self, text: &str) -> Option<u64> {
        match self.kind {
            Kind::Number(min, max) => text
                .parse()
                .ok()
                .filter(|value| (min..=max).contains(value)),
            Kind::Switch => position(&["off", "on"], text),
            Kind::Real(min, max) => text
                .parse()
                .ok()
                .filter(|value| (min..=max).contains(value))
                .map(f64::to_bits),
            Kind::Word(words) => position(words, text),
        }
    }

    fn write(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Number(..) => write!(f, "{}={value}", self.name),
            Kind::Switch => write!(f, "{}={}", self.name, if value == 0 { "off" } else { "on" }),
            Kind::Real(..) => write!(f, "{}={}", self.name, f64::from_bits(value)),
            Kind::Word(words) => write!(f, "{}={}", self.name, words[value as usize]),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Number(min, max) => write!(f, "an integer from {min} to {max}"),
            Kind::Switch => f.write_str("`on` or `off`"),
            Kind::Real(min, max) => write!(f, "a number from {min} to {max}"),
            Kind::Word(words) => f.write_str(&list(words.iter().copied())),
        }
    }
}

impl Arguments<'_> {
    /// The value given for a parameter, if any.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0
            .iter()
            .find(|(given, _)| *given == name)
            .map(|(_, value)| *value)
    }

    /// The real number given for a parameter, if any.
    pub(super) fn real(&self, name: &str) -> Option<f64> {
        self.number(name).map(f64::from_bits)
    }

    /// The position of the word given for a parameter, if any.
    pub(super) fn word(&self, name: &str) -> Option<usize> {
        self.number(name).map(|position| position as usize)
    }

    /// Whether a switch is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.number(name) == Some(1)
    }
}

impl StrategySpec {
    /// Parses `name` or `name:key=value,key=value`.
    ///
    /// # Errors
    /// If the strategy or a parameter is unknown, or a value is missing, given twice or out of
    /// range. The message names what was given and what was expected.
    pub fn parse(text: &str) -> Result<StrategySpec, StrategyError> {
        let (name, parameters) = match text.split_once(':') {
            Some((name, parameters)) => (name.trim(), Some(parameters)),
            None => (text.trim(), None),
        };
        let entry = ENTRIES
            .iter()
            .find(|entry| entry.name == name)
            .ok_or_else(|| {
                let names = list(ENTRIES.iter().map(Entry::name));
                StrategyError(format!("unknown strategy `{name}`: expected {names}"))
            })?;
        let mut given = Vec::new();
        for item in parameters
            .into_iter()
            .flat_map(|parameters| parameters.split(','))
        {
            let (key, value) = item.split_once('=').ok_or_else(|| {
                StrategyError(format!(
                    "invalid parameter `{}` of strategy `{name}`: expected key=value",
                    item.trim()
                ))
            })?;
            let parameter = entry.parameter(key.trim())?;
            let value = parameter.parse(value.trim()).ok_or_else(|| {
                StrategyError(format!(
                    "invalid value `{}` of parameter `{}` of strategy `{name}`: expected {}",
                    value.trim(),
                    parameter.name,
                    parameter.kind
                ))
            })?;
            if given.iter().any(|(key, _)| *key == parameter.name) {
                return Err(StrategyError(format!(
                    "parameter `{}` of strategy `{name}` is given twice",
                    parameter.name
                )));
            }
            given.push((parameter.name, value));
        }
        let order = |key| {
            entry
                .parameters
                .iter()
                .position(|parameter| parameter.name == key)
        };
        given.sort_by_key(|(key, _)| order(*key));
        Ok(StrategySpec { entry, given })
    }

    /// A fresh instance, which has learnt nothing yet.
    pub fn build(&self) -> Box<dyn Strategy> {
        (self.entry.build)(&Arguments(&self.given))
    }

    /// The strategy's name, without parameters.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// All strategies that can be named.
    pub fn all() -> &'static [Entry] {
        ENTRIES
    }
}

fn position(words: &[&str], text: &str) -> Option<u64> {
    let found = words.iter().position(|word| *word == text);
    found.map(|position| position as u64)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    match names.as_slice() {
        [name] => format!("`{name}`"),
        names => format!("one of {}", names.join(", ")),
    }
}

impl fmt::Display for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (i, (key, value)) in self.given.iter().enumerate() {
            f.write_str(if i == 0 { ":" } else { "," })?;
            let parameter = self.entry.parameter(key).map_err(|_| fmt::Error)?;
            parameter.write(*value, f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StrategySpec({self})")
    }
}

impl PartialEq for StrategySpec {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.given == other.given
    }
}

impl Eq for StrategySpec {}

impl FromStr for StrategySpec {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Self, StrategyError> {
        StrategySpec::parse(text)
    }
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StrategyError {}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;

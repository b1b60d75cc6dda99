//! The command line of a campaign.

use std::fmt;

/// What the campaign is to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// At least 95 of 100 seeds find the bug.
    Found,
    /// No seed finds anything.
    Silent,
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Expect::Found => "found",
            Expect::Silent => "silent",
        })
    }
}

/// How much to run, and with which strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Seeds 1 to this number.
    pub seeds: u64,
    /// Iterations a seed, unless a failure comes first.
    pub iterations: u64,
    /// As in `Checker::strategy_text`.
    pub strategy: String,
    /// What the campaign is to show.
    pub expect: Expect,
}

impl Options {
    /// Reads `--seeds N --iterations N --strategy S --expect found|silent`.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options {
            seeds: 100,
            iterations: 1_000,
            strategy: "random".to_owned(),
            expect: Expect::Found,
        };
        while let Some(name) = words.next() {
            let mut value = || {
                words
                    .next()
                    .ok_or_else(|| format!("option `{name}` needs a value"))
            };
            match name.as_str() {
                "--seeds" => options.seeds = count(&name, &value()?)?,
                "--iterations" => options.iterations = count(&name, &value()?)?,
                "--strategy" => options.strategy = value()?,
                "--expect" => options.expect = expect(&value()?)?,
                _ => {
                    return Err(format!(
                        "unknown option `{name}`: there are --seeds, --iterations, --strategy and \
                         --expect"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn count(name: &str, value: &str) -> Result<u64, String> {
    match value.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!(
            "invalid {name} `{value}`: expected a positive integer"
        )),
    }
}

fn expect(value: &str) -> Result<Expect, String> {
    match value {
        "found" => Ok(Expect::Found),
        "silent" => Ok(Expect::Silent),
        _ => Err(format!(
            "invalid --expect `{value}`: expected `found` or `silent`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<(u64, u64, &str, Expect), &str>) {
        let parsed = Options::parse(line.split_whitespace().map(str::to_owned));
        let got = parsed
            .as_ref()
            .map(|o| (o.seeds, o.iterations, o.strategy.as_str(), o.expect));
        assert_eq!(got.map_err(String::as_str), expected, "{line}");
    }

    #[test]
    fn reads_options() {
        check("", Ok((100, 1_000, "random", Expect::Found)));
        check(
            "--seeds 3 --iterations 9 --strategy pct:d=3 --expect silent",
            Ok((3, 9, "pct:d=3", Expect::Silent)),
        );
    }

    #[test]
    fn names_what_is_wrong() {
        check("--seeds", Err("option `--seeds` needs a value"));
        check(
            "--seeds many",
            Err("invalid --seeds `many`: expected a positive integer"),
        );
        check(
            "--seeds 0",
            Err("invalid --seeds `0`: expected a positive integer"),
        );
        check(
            "--expect quiet",
            Err("invalid --expect `quiet`: expected `found` or `silent`"),
        );
        check(
            "--sedes 3",
            Err(
                "unknown option `--sedes`: there are --seeds, --iterations, --strategy and --expect",
            ),
        );
    }
}

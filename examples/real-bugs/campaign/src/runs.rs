//! The runs of a campaign, and what they show together.

use crate::options::{Expect, Options};
use cct_executor::{Checker, Report, Seed};
use std::fmt::Write;

/// Of 100 seeds, so many must find a bug that is there.
const FOUND_OF_100: u64 = 95;

/// One seed's run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// Whether an iteration failed.
    pub found: bool,
    /// The failing iteration, counted from 1; the number of iterations when none failed.
    pub iteration: u64,
    /// The step at which the failure was noticed; 0 when none failed.
    pub steps: u64,
    /// How the failing iteration ended; `passed` when none failed.
    pub outcome: String,
}

/// All seeds' runs of one scenario under one strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Campaign {
    /// Name of the package.
    pub package: String,
    /// What was asked for.
    pub options: Options,
    /// In order of their seeds.
    pub runs: Vec<Run>,
}

impl Campaign {
    /// Runs the scenario once per seed. An error says why a run could not begin.
    pub fn run(
        package: &str,
        options: &Options,
        run: impl Fn(Checker) -> Report,
    ) -> Result<Self, String> {
        let mut runs = Vec::new();
        for seed in 1..=options.seeds {
            let checker = Checker::new()
                .name(package)
                .seed(Seed(seed))
                .strategy_text(&options.strategy)
                .iterations(options.iterations)
                .time_budget(None)
                .await_check(false)
                .shrink(false)
                .use_environment(false);
            runs.push(Run::of(seed, &run(checker))?);
        }
        Ok(Campaign {
            package: package.to_owned(),
            options: options.clone(),
            runs,
        })
    }

    /// How many seeds found a failure.
    pub fn found(&self) -> u64 {
        self.runs.iter().filter(|run| run.found).count() as u64
    }

    /// The middle one of the failing iterations.
    pub fn median_iteration(&self) -> Option<u64> {
        let mut iterations: Vec<u64> = self
            .runs
            .iter()
            .filter(|run| run.found)
            .map(|run| run.iteration)
            .collect();
        iterations.sort_unstable();
        iterations.get(iterations.len() / 2).copied()
    }

    /// Whether the campaign showed what it is to show.
    pub fn as_expected(&self) -> bool {
        match self.options.expect {
            Expect::Found => self.found() * 100 >= self.runs.len() as u64 * FOUND_OF_100,
            Expect::Silent => self.found() == 0,
        }
    }

    /// One line: the totals, then the runs.
    pub fn to_json(&self) -> String {
        let Options {
            iterations,
            strategy,
            expect,
            ..
        } = &self.options;
        let mut json = format!(
            "{{\"package\":{},\"strategy\":{},\"expect\":\"{expect}\",\"seeds\":{},\
             \"iterations\":{iterations},\"found_seeds\":{},\"median_iteration\":{},\
             \"as_expected\":{},\"runs\":[",
            quoted(&self.package),
            quoted(strategy),
            self.runs.len(),
            self.found(),
            self.median_iteration()
                .map_or("null".to_owned(), |median| median.to_string()),
            self.as_expected(),
        );
        for (index, run) in self.runs.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let Run {
                seed,
                found,
                iteration,
                steps,
                outcome,
            } = run;
            let outcome = quoted(outcome);
            let _ = write!(
                json,
                "{comma}{{\"seed\":{seed},\"found\":{found},\"iteration\":{iteration},\
                 \"steps\":{steps},\"outcome\":{outcome}}}"
            );
        }
        json.push_str("]}");
        json
    }
}

impl Run {
    fn of(seed: u64, report: &Report) -> Result<Self, String> {
        if let Some(error) = report.error() {
            return Err(error.to_owned());
        }
        Ok(match report.failure() {
            Some(failure) => Run {
                seed,
                found: true,
                iteration: failure.iteration() + 1,
                steps: failure.step,
                outcome: failure.kind.to_string(),
            },
            None => Run {
                seed,
                found: false,
                iteration: report.iterations(),
                steps: 0,
                outcome: "passed".to_owned(),
            },
        })
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            c if c < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(expect: Expect, iterations: &[Option<u64>]) -> Campaign {
        let runs = (1..).zip(iterations).map(|(seed, iteration)| Run {
            seed,
            found: iteration.is_some(),
            iteration: iteration.unwrap_or(50),
            steps: 7,
            outcome: "a \"bug\"\n".to_owned(),
        });
        let strategy = "random".to_owned();
        let seeds = iterations.len() as u64;
        Campaign {
            package: "p".to_owned(),
            options: Options {
                seeds,
                iterations: 50,
                strategy,
                expect,
            },
            runs: runs.collect(),
        }
    }

    #[test]
    fn counts_and_takes_the_middle() {
        let campaign = campaign(Expect::Found, &[Some(9), None, Some(2), Some(4)]);
        assert_eq!(
            (campaign.found(), campaign.median_iteration()),
            (3, Some(4))
        );
    }

    #[test]
    fn ninety_five_of_a_hundred_will_do() {
        let with = |found: usize| {
            let runs: Vec<_> = (0..100).map(|n| (n < found).then_some(1)).collect();
            campaign(Expect::Found, &runs).as_expected()
        };
        assert!(with(95) && !with(94));
        assert!(campaign(Expect::Silent, &[None, None]).as_expected());
        assert!(!campaign(Expect::Silent, &[None, Some(3)]).as_expected());
    }

    #[test]
    fn json_is_one_escaped_line() {
        let json = campaign(Expect::Silent, &[Some(3)]).to_json();
        assert_eq!(
            json,
            r#"{"package":"p","strategy":"random","expect":"silent","seeds":1,"iterations":50,"found_seeds":1,"median_iteration":3,"as_expected":false,"runs":[{"seed":1,"found":true,"iteration":3,"steps":7,"outcome":"a \"bug\"\n"}]}"#
        );
    }
}

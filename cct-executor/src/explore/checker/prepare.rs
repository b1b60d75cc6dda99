//! From what was asked for to a campaign: the environment, tokens, and what earlier runs learnt.

use super::{Checker, Chosen, Factory, Isolation};
use crate::explore::campaign::{Campaign, Scenario};
use crate::explore::env::{Settings, WORKER_COUNT};
use crate::explore::knowledge::{self, Knowledge};
use crate::strategy::spec::StrategySpec;
use crate::words::{ReplayToken, Seed};
use std::sync::Arc;

const NOT_APART: &str = "isolation = \"process\" needs a test with the attribute that the standard library's harness \
     runs, on a system with `fork`: use isolation = \"thread\", or set what statics hold where the scenario begins";

const NO_ATOMICS: &str = "granularity `atomic` needs a build in which other crates' code tells of its atomic \
     operations: run `cargo cct test --atomics`, or choose `sync`";

impl Checker {
    /// The function that this is the test of; its path begins with the crate, of which `cargo test`
    /// does not speak.
    pub(in crate::explore) fn test(mut self, path: &str) -> Self {
        let (_, path) = path.split_once("::").unwrap_or(("", path));
        self.test = Some(path.to_owned());
        self
    }

    /// Applies the environment and checks everything.
    pub(in crate::explore) fn prepare(mut self, scenario: Scenario) -> Result<Campaign, String> {
        let mut replay = self.replay.take();
        let mut alone = false;
        if self.use_environment {
            let settings = Settings::from_env().map_err(|error| error.to_string())?;
            alone = cfg!(unix) && settings.apart.is_some();
            replay = self.apply(settings)?.or(replay);
        }
        if let Some(token) = &replay {
            token
                .for_test(&self.name)
                .map_err(|error| self.not_for_this(&error.to_string()))?;
            token.configure(&mut self.world);
        }
        if !self.world.granularity.is_there() {
            return Err(NO_ATOMICS.to_owned());
        }
        if self.isolation == Isolation::Process && replay.is_none() && !alone {
            return Err(NOT_APART.to_owned());
        }
        if self.iterations == 0 {
            return Err("iterations is 0: at least 1 is needed".to_owned());
        }
        if let Some(workers) = self.workers.filter(|n| !WORKER_COUNT.contains(n)) {
            return Err(format!(
                "workers is {workers}: expected a number from 1 to 1024"
            ));
        }
        if self.world.limits.steps == 0 {
            return Err("max_steps is 0: the scenario's first poll is a step".to_owned());
        }
        if self.world.limits.tasks == 0 {
            return Err("max_tasks is 0: the scenario itself is a task".to_owned());
        }
        if self.poll_limit.is_zero() {
            return Err("poll_limit is 0: no poll takes less".to_owned());
        }
        let factory: Factory = match &self.strategy {
            Chosen::Made(factory) => factory.clone(),
            Chosen::Text(text) => {
                let spec = StrategySpec::parse(text).map_err(|error| error.to_string())?;
                Arc::new(move || spec.build())
            }
        };
        let seed = self.seed.unwrap_or_else(|| Seed::of_name(&self.name));
        let knowledge = self.learnt_before(&factory)?;
        Ok(Campaign::new(
            self, scenario, factory, seed, replay, knowledge,
        ))
    }

    /// Says that a token is another checker's; a test written with the attribute has one only.
    fn not_for_this(&self, error: &str) -> String {
        let is_attribute = self.test.as_ref().is_some_and(|t| self.name.ends_with(t));
        if is_attribute {
            return error.to_owned();
        }
        format!(
            "{error}; where one test has several checkers, give the token to its own with \
             `Checker::replay`"
        )
    }

    /// What an earlier run has learnt, tried on an instance.
    fn learnt_before(&self, factory: &Factory) -> Result<Knowledge, String> {
        let Some(path) = &self.knowledge else {
            return Ok(Knowledge::default());
        };
        let mut strategy = factory();
        if strategy.save().is_none() {
            return Err(format!(
                "strategy `{}` learns nothing that could be kept in {}: use one that does, such as `ql`",
                strategy.describe(),
                path.display()
            ));
        }
        let found = knowledge::read(path, &self.name, &strategy.describe())?;
        for piece in &found.pieces {
            strategy
                .load(piece)
                .map_err(|error| knowledge::complain(path, error))?;
        }
        Ok(found)
    }

    fn apply(&mut self, settings: Settings) -> Result<Option<ReplayToken>, String> {
        if let Some(iterations) = settings.iterations {
            self.iterations = iterations;
        }
        if let Some(budget) = settings.time_budget {
            self.time_budget = budget;
        }
        if let Some(seed) = settings.seed {
            self.seed = Some(seed.seed());
        }
        if let Some(strategy) = settings.strategy {
            self.strategy = Chosen::Text(strategy);
        }
        if let Some(granularity) = settings.granularity {
            self.world.granularity = granularity;
            self.usual_granularity = false;
        }
        if let Some(clock) = settings.clock {
            self.world.clock = clock;
            self.usual_clock = false;
        }
        if let Some(spurious) = settings.spurious_polls {
            self.world.spurious_polls = spurious;
        }
        if let Some(partial) = settings.partial_io {
            self.world.partial_io = partial;
        }
        if let Some(steps) = settings.max_steps {
            self.world.limits.steps = steps;
        }
        if let Some(limit) = settings.poll_limit {
            self.poll_limit = limit;
        }
        if let Some(isolation) = settings.isolation {
            self.isolation = isolation;
        }
        if let Some(workers) = settings.workers {
            self.workers = Some(workers);
        }
        if let Some(file) = settings.learnt {
            self.knowledge = Some(file);
        }
        self.replay_with = settings.replay_with;
        self.report_rows = settings.report_rows;
        Ok(settings.replay)
    }
}

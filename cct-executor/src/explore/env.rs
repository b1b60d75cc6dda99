//! PLACEHOLDER until the real one is written.
use crate::words::{ReplayToken, Seed};
use std::time::Duration;
pub(crate) struct SeedSetting(Seed);
impl SeedSetting { pub(crate) fn seed(self) -> Seed { self.0 } }
#[derive(Default)]
pub(crate) struct Settings { pub(crate) iterations: Option<u64>, pub(crate) seed: Option<SeedSetting>, pub(crate) strategy: Option<String>, pub(crate) time_budget: Option<Option<Duration>>, pub(crate) replay: Option<ReplayToken>, pub(crate) workers: Option<usize>, pub(crate) regressions: RegressionsMode }
impl Settings { pub(crate) fn from_env() -> Result<Settings, String> { Ok(Settings::default()) } }
#[derive(Default)] pub(crate) struct RegressionsMode; impl RegressionsMode { pub(crate) fn read(&self) -> bool { false } pub(crate) fn write(&self) -> bool { false } }

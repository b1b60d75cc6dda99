//! Where no test is run once with threads taking part, no process is started.

use super::outside_of_the_world;
use crate::io::ReadBuf;
use std::io;
use std::process::{Command as StdCommand, ExitStatus};
use std::task::{Context, Poll};

#[derive(Debug)]
pub(super) enum Running {}

#[derive(Debug)]
pub(super) enum Pipe {}

pub(super) type Pipes = [Option<Pipe>; 3];

impl Running {
    pub(super) fn start(command: &mut StdCommand, _: bool) -> io::Result<(Running, Pipes)> {
        let program = command.get_program().to_string_lossy();
        Err(outside_of_the_world(format_args!("to start `{program}`")))
    }

    pub(super) fn id(&self) -> Option<u32> {
        match *self {}
    }

    pub(super) fn start_kill(&mut self) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match *self {}
    }

    pub(super) fn poll_wait(&mut self, _: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        match *self {}
    }
}

impl Pipe {
    pub(super) fn of_std<T>(what: &str, _: T) -> io::Result<Pipe> {
        Err(outside_of_the_world(what))
    }

    pub(super) fn poll_read(
        &mut self,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match *self {}
    }

    pub(super) fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        match *self {}
    }
}

//! One step after the other.

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::graph;
use crate::home::Home;
use crate::interrupt;
use crate::lockfile::{Loan, Place};
use crate::patch::{self, Locked, PatchFolder, VERSION};
use crate::project::{self, Project};
use crate::say;
use anyhow::{Context as _, Result, bail};
use cargo_metadata::Metadata;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// What stays the same all the time.
pub(crate) struct Session {
    pub(crate) cargo: Cargo,
    pub(crate) arguments: Arguments,
    pub(crate) project: Project,
    /// The folder in the target folder that is ours.
    pub(crate) place: Place,
    home: Home,
}

/// The project, with ours in the place of tokio.
pub(crate) struct Patched<'a> {
    loan: Loan<'a>,
    folder: PatchFolder,
    /// The graph of packages as it is now.
    pub(crate) metadata: Metadata,
    /// The tokio that was replaced.
    pub(crate) real: Locked,
}

impl Session {
    /// Finds the project, and finishes what an earlier call could not.
    pub(crate) fn open(arguments: Arguments) -> Result<Self> {
        let cargo = Cargo::find();
        cargo.must_be_new_enough()?;
        let home = Home::find(arguments.cct.as_deref())?;
        let project = Project::find(&cargo, &arguments)?;
        let place = Place::enter(project.target.join("cct"), &project.root)?;
        Loan::finish_an_earlier_one(&place)?;
        Ok(Self {
            cargo,
            arguments,
            project,
            place,
            home,
        })
    }

    /// The tokio that the project has without us. May write the lock file, as cargo does where it is not up to date.
    pub(crate) fn real_tokio(&self, loan: &mut Loan<'_>) -> Result<(Metadata, Locked)> {
        let options = match self.arguments.locked {
            true => vec!["--locked".into()],
            false => Vec::new(),
        };
        let metadata = loan.during(|| project::graph(&self.cargo, &self.arguments, &options))?;
        let real = graph::real_tokio(&metadata)?;
        if patch::is_of_use(&real, &self.home)? {
            return Ok((metadata, real));
        }
        self.newer_tokio(loan, &real)
    }

    /// Nearly all of tokio is replaced, so an old one that the project has locked needs not keep cct out.
    fn newer_tokio(&self, loan: &mut Loan<'_>, old: &Locked) -> Result<(Metadata, Locked)> {
        let tokio = format!("tokio@{}", old.version);
        loan.during(|| self.update_one(&tokio, &["--recursive"], &[]))?;
        let metadata = loan.during(|| project::graph(&self.cargo, &self.arguments, &[]))?;
        let real = graph::real_tokio(&metadata)?;
        if !patch::is_of_use(&real, &self.home)? {
            bail!(
                "this project has locked tokio {}, and may not have a newer one than {}, which is too old for cct: \
                 ask for a newer one",
                old.version,
                real.version
            );
        }
        say::note(format_args!(
            "tokio {}, which the project has locked, is too old for cct: I/O traits are those of {}",
            old.version, real.version
        ));
        Ok((metadata, real))
    }

    /// Borrows the project's lock file.
    pub(crate) fn borrow(&self) -> Result<Loan<'_>> {
        if self.project.patches_tokio() {
            bail!(
                "this project has a `[patch]` for tokio already: if it is cct's, run `cargo test`; else remove it first"
            );
        }
        Loan::begin(&self.place, &self.project.lock_file())
    }

    /// Puts ours in the place of tokio, until what is returned ends.
    pub(crate) fn patch(&self) -> Result<Patched<'_>> {
        let mut loan = self.borrow()?;
        let (plain, real) = self.real_tokio(&mut loan)?;
        let others = graph::with_mends(&plain);
        let folder = self.write(&self.place.join("patch"), &real, others)?;
        let metadata = match self.as_last_time(&mut loan, &folder)? {
            Some(metadata) => metadata,
            None => self.anew(&mut loan, &folder, &plain, &real)?,
        };
        Ok(Patched {
            loan,
            folder,
            metadata,
            real,
        })
    }

    /// The systems that are built for.
    pub(crate) fn systems(&self) -> Result<Vec<String>> {
        project::systems(&self.cargo, &self.arguments)
    }

    /// Where the sources of cct are.
    pub(crate) fn root(&self) -> &Path {
        self.home.root()
    }

    /// Writes the folder of a patch.
    pub(crate) fn write(
        &self,
        folder: &Path,
        real: &Locked,
        others: Vec<Locked>,
    ) -> Result<PatchFolder> {
        PatchFolder::write(folder, &self.home, real, others)
    }

    /// If the lock file is what it was when we came last, so may be ours: then nothing is looked up, and the same
    /// versions are taken.
    fn as_last_time(&self, loan: &mut Loan<'_>, folder: &PatchFolder) -> Result<Option<Metadata>> {
        let Some(plain) = loan.present()? else {
            return Ok(None);
        };
        let last = fs::read(self.place.join("last/Cargo.lock.plain")).ok();
        let ours = fs::read(self.place.join("last/Cargo.lock.patched")).ok();
        let (Some(last), Some(ours)) = (last, ours) else {
            return Ok(None);
        };
        if last != plain {
            return Ok(None);
        }
        loan.put(&ours)?;
        let mut options = folder.options();
        options.push("--locked".into());
        let found = project::graph(&self.cargo, &self.arguments, &options);
        match found {
            Ok(metadata) if graph::only_ours(&metadata) => Ok(Some(metadata)),
            _ if interrupt::happened() => bail!("interrupted"),
            // Cct itself may have changed: other dependencies, another tokio.
            _ => {
                loan.put(&plain)?;
                Ok(None)
            }
        }
    }

    /// Has cargo look up what cct depends on, and checks what came of it.
    fn anew(
        &self,
        loan: &mut Loan<'_>,
        folder: &PatchFolder,
        plain: &Metadata,
        real: &Locked,
    ) -> Result<Metadata> {
        let before = loan.present()?;
        let options = folder.options();
        let updated = loan.during(|| self.update(&options, real));
        let metadata = updated
            .and_then(|()| loan.during(|| project::graph(&self.cargo, &self.arguments, &options)));
        let obstacles = || graph::obstacles(plain, &folder.tokio());
        let metadata = metadata.map_err(|error| match &*obstacles() {
            "" => error.context(format!(
                "cargo cannot put cct's tokio in the place of tokio {}",
                real.version
            )),
            some => anyhow::anyhow!(
                "cct's tokio {VERSION} does not fit:{some}\nas cargo says it: {error:#}"
            ),
        })?;
        if !graph::only_ours(&metadata) {
            match &*obstacles() {
                "" => bail!(
                    "cargo keeps the real tokio, and nothing in the project asks for it. Where another source stands in for \
                     crates.io (`[source]` in a configuration of cargo's, as `cargo vendor` has it), cct's own dependencies may \
                     not be found there: try without that configuration"
                ),
                some => {
                    bail!("cargo keeps the real tokio, as cct's, {VERSION}, does not fit:{some}")
                }
            }
        }
        if let (Some(plain), Some(ours)) = (before, loan.present()?) {
            self.remember(&plain, &ours)?;
        }
        Ok(metadata)
    }

    fn remember(&self, plain: &[u8], ours: &[u8]) -> Result<()> {
        let folder = self.place.join("last");
        let write = || {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("Cargo.lock.patched"), ours)?;
            fs::write(folder.join("Cargo.lock.plain"), plain)
        };
        write().with_context(|| format!("cannot write to `{}`", folder.display()))
    }
}

impl Patched<'_> {
    /// What cargo must be told while this lives.
    pub(crate) fn options(&self) -> Vec<OsString> {
        self.folder.options()
    }

    /// Puts the lock file back.
    pub(crate) fn end(self) -> Result<()> {
        self.loan.end()
    }
}

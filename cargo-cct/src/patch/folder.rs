//! Writing the folder, and knowing it again.

use super::files::{read_manifest, write_if_changed};
use super::{copies, facade, features, mends};
use crate::home::Home;
use anyhow::{Context as _, Result, bail};
use semver::Version;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Says whose the folder is, and of what its copies were made; and in each copy, of what that was.
const MARK: &str = "cargo-cct.toml";

/// A package that the project has locked, as cargo has it.
#[derive(Clone, Debug)]
pub(crate) struct Locked {
    pub(crate) name: String,
    pub(crate) version: Version,
    /// The folder with its `Cargo.toml`.
    pub(crate) folder: PathBuf,
}

/// Whether `cct-tokio` can use the traits and utilities of this tokio.
pub(crate) fn is_of_use(tokio: &Locked, home: &Home) -> Result<bool> {
    Ok(facade::needs(home)?.matches(&tokio.version))
}

/// A folder that has been written.
#[derive(Clone, Debug)]
pub(crate) struct PatchFolder {
    folder: PathBuf,
    /// What is in the folder, tokio first.
    replaced: Vec<Replaced>,
}

/// A package that takes the place of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Replaced {
    /// Its name in a `[patch]`, and that of its folder: the package's, or one of its own for an older version.
    pub(crate) key: String,
    pub(crate) package: String,
    folder: PathBuf,
}

impl Replaced {
    fn new(key: String, package: String, among: &Path) -> Self {
        let folder = among.join(&key);
        Self {
            key,
            package,
            folder,
        }
    }

    /// Its folder, to be told to cargo.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether cargo has to be told which package it is.
    pub(crate) fn is_renamed(&self) -> bool {
        self.key != self.package
    }
}

/// The names of packages, of which several may be versions of one.
fn keys(packages: &[Locked]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for Locked { name, version, .. } in packages {
        let is_first = !keys.contains(name);
        let version = version.to_string();
        let version = version.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        keys.push(if is_first {
            name.clone()
        } else {
            format!("{name}-{version}")
        });
    }
    keys
}

impl PatchFolder {
    /// Writes what differs from what is there. Of the `others` those are copied that have a mend.
    pub(crate) fn write(
        folder: &Path,
        home: &Home,
        real: &Locked,
        others: Vec<Locked>,
    ) -> Result<Self> {
        must_be_ours(folder)?;
        let others: Vec<Locked> = others.into_iter().filter(mends::fits).collect();
        let keys = keys(&others);
        let mark = mark(std::iter::once((&real.name, real)).chain(keys.iter().zip(&others)));
        let features = features::of(&real.folder)?;
        let facade = facade::manifest(home, &features)?;
        copied(real, &folder.join("real-tokio"), |into| {
            copies::real_tokio(&real.folder, into)
        })?;
        for (key, other) in keys.iter().zip(&others) {
            copied(other, &folder.join(key), |into| mends::copy(other, into))?;
        }
        write_if_changed(&folder.join("tokio/Cargo.toml"), &facade)?;
        write_if_changed(&folder.join(MARK), &mark)?;
        let others = others.into_iter().map(|other| other.name);
        let tokio = ("tokio".to_owned(), "tokio".to_owned());
        let all = std::iter::once(tokio).chain(keys.into_iter().zip(others));
        Ok(Self {
            folder: folder.to_owned(),
            replaced: all
                .map(|(key, package)| Replaced::new(key, package, folder))
                .collect(),
        })
    }

    /// What the folder was made of, if that is still there: for a project that has taken it for tokio, and does not
    /// name the real one any more.
    pub(crate) fn made_of(folder: &Path) -> Result<(Locked, Vec<Locked>)> {
        let mark = read_manifest(&folder.join(MARK))?;
        let mut copied = mark.iter().filter_map(|(key, item)| {
            let name = item.get("package").and_then(toml_edit::Item::as_str);
            let name = name.unwrap_or(key);
            let folder = PathBuf::from(item.get("folder")?.as_str()?);
            let version = item.get("version")?.as_str()?.parse().ok()?;
            folder.exists().then(|| Locked {
                name: name.to_owned(),
                version,
                folder,
            })
        });
        let real = copied.next().filter(|first| first.name == "tokio");
        let real = real.context("the tokio that it was made of is not there any more")?;
        Ok((real, copied.collect()))
    }

    /// The package named `tokio`.
    pub(crate) fn tokio(&self) -> PathBuf {
        self.folder.join("tokio")
    }

    /// The packages that take the place of others.
    pub(crate) fn packages(&self) -> &[Replaced] {
        &self.replaced
    }

    /// What cargo is told to take them.
    pub(crate) fn options(&self) -> Vec<OsString> {
        let told = self.replaced.iter().flat_map(|replaced| {
            let Replaced { key, package, .. } = replaced;
            let path = toml_edit::Value::from(replaced.folder().to_string_lossy().into_owned());
            let path = format!("patch.crates-io.{key}.path={path}");
            let package = format!("patch.crates-io.{key}.package=\"{package}\"");
            std::iter::once(path).chain(replaced.is_renamed().then_some(package))
        });
        let options = told.flat_map(|told| ["--config".to_owned(), told]);
        options.map(OsString::from).collect()
    }
}

/// Has a package copied, unless that has been done: what depends on a copy is built again whenever that is made.
fn copied(of: &Locked, into: &Path, copy: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let made_of = mark([(&of.name, of)]);
    let file = into.join(MARK);
    if fs::read_to_string(&file).ok().as_ref() != Some(&made_of) {
        copy(into)?;
        // Last, so that a copy that was interrupted is made again.
        write_if_changed(&file, &made_of)?;
    }
    Ok(())
}

fn mark<'a>(copied: impl IntoIterator<Item = (&'a String, &'a Locked)>) -> String {
    let mut text = format!(
        "# Written by `cargo cct`, which writes it again whenever something changes.\n\
         cargo-cct = {:?}\n\
         mends = \"{:016x}\"\n\
         \n\
         # What was copied from where.\n",
        env!("CARGO_PKG_VERSION"),
        mends::digest(),
    );
    for (key, copied) in copied {
        let folder = toml_edit::Value::from(copied.folder.to_string_lossy().into_owned());
        let _ = writeln!(
            text,
            "[{key}]\npackage = \"{}\"\nversion = \"{}\"\nfolder = {folder}",
            copied.name, copied.version
        );
    }
    text
}

/// An empty folder will do as well, and one that does not exist. So will one whose writing was interrupted.
fn must_be_ours(folder: &Path) -> Result<()> {
    let unwritten = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    };
    if unwritten {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        return write_if_changed(&folder.join(MARK), "# Being written by `cargo cct`.\n");
    }
    if !folder.join(MARK).is_file() {
        bail!(
            "`{}` is not empty, and was not written by `cargo cct` (there is no `{MARK}`): name another folder, \
             or remove this one",
            folder.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("cargo-cct-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_folder_of_others_is_not_touched() {
        let folder = scratch("others");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("thesis.txt"), "ten years of work").expect("a file");
        let error = must_be_ours(&folder).expect_err("not ours");
        assert!(error.to_string().contains("name another folder"), "{error}");
        fs::remove_dir_all(&folder).expect("the end");
    }

    #[test]
    fn a_folder_knows_what_it_was_made_of() {
        let folder = scratch("made-of");
        fs::create_dir_all(&folder).expect("a folder");
        let here = |name: &str| Locked {
            name: name.to_owned(),
            version: Version::new(1, 2, 3),
            folder: folder.clone(),
        };
        let gone = Locked {
            folder: folder.join("gone"),
            ..here("fastrand")
        };
        let others = [gone, here("tokio-stream"), here("tokio-stream")];
        let keys = keys(&others);
        assert_eq!(keys, ["fastrand", "tokio-stream", "tokio-stream-1-2-3"]);
        let (first, name) = (here("tokio"), "tokio".to_owned());
        let text = mark(std::iter::once((&name, &first)).chain(keys.iter().zip(&others)));
        fs::write(folder.join(MARK), text).expect("a file");
        let (real, others) = PatchFolder::made_of(&folder).expect("what it was made of");
        assert_eq!(
            (real.name.as_str(), real.version),
            ("tokio", Version::new(1, 2, 3))
        );
        assert_eq!(real.folder, folder);
        let names: Vec<_> = others.iter().map(|other| other.name.as_str()).collect();
        assert_eq!(names, ["tokio-stream", "tokio-stream"]);
        fs::remove_dir_all(&folder).expect("the end");
    }

    #[test]
    fn a_copy_is_made_once_of_each_version() {
        let folder = scratch("copied");
        let of = |minor| Locked {
            name: "fastrand".to_owned(),
            version: Version::new(2, minor, 0),
            folder: folder.clone(),
        };
        let is_made = |minor| {
            let mut made = false;
            let copy = |into: &Path| {
                made = true;
                Ok(fs::create_dir_all(into)?)
            };
            copied(&of(minor), &folder.join("copy"), copy).expect("a copy");
            made
        };
        assert_eq!(
            [0, 0, 1, 1, 0].map(is_made),
            [true, false, true, false, true]
        );
        let failed = copied(&of(3), &folder.join("copy"), |_| bail!("no room"));
        assert!(failed.is_err());
        assert!(is_made(3));
        fs::remove_dir_all(&folder).expect("the end");
    }

    #[test]
    fn a_new_folder_is_marked_at_once() {
        let folder = scratch("marked");
        must_be_ours(&folder).expect("nobody's");
        fs::create_dir_all(folder.join("real-tokio")).expect("half of the work");
        must_be_ours(&folder).expect("ours, if unfinished");
        fs::remove_dir_all(&folder).expect("the end");
    }
}

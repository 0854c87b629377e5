//! Archives that are the same, byte for byte, whenever and wherever they are made.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};

/// Seconds since 1970 that every file was changed last: 26 October 1985, as `npm pack` has it.
const CHANGED_S: u64 = 499_162_500;

/// Packs the files of `folder`, under `prefix`, into `archive`. A file that its owner may run is
/// `0755`, any other `0644`; who made it, and when, is not in it.
pub(crate) fn pack(folder: &Path, prefix: &str, archive: &Path) -> Result<()> {
    let failed = || format!("cannot write {}", archive.display());
    let file = File::create(archive).with_context(failed)?;
    let packed = GzBuilder::new().write(file, Compression::best());
    let mut tar = tar::Builder::new(packed);
    for path in files(folder)? {
        add(&mut tar, folder, &path, prefix).with_context(|| path.display().to_string())?;
    }
    tar.into_inner()
        .and_then(flate2::write::GzEncoder::finish)
        .and_then(|mut file| file.flush())
        .with_context(failed)
}

fn add(tar: &mut tar::Builder<impl Write>, folder: &Path, path: &Path, prefix: &str) -> Result<()> {
    let bytes = fs::read(path)?;
    let name = Path::new(prefix).join(path.strip_prefix(folder)?);
    let mut header = tar::Header::new_ustar();
    header.set_size(u64::try_from(bytes.len())?);
    header.set_mode(if may_run(path)? { 0o755 } else { 0o644 });
    header.set_mtime(CHANGED_S);
    tar.append_data(&mut header, name, bytes.as_slice())?;
    Ok(())
}

/// All files in a folder and those below it, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(unix)]
fn may_run(path: &Path) -> Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o100 != 0)
}

/// Windows has no such mode, and runs files by their ending.
#[cfg(not(unix))]
fn may_run(path: &Path) -> Result<bool> {
    Ok(path.extension().is_some_and(|ending| ending == "exe"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn two_archives_of_equal_files_are_equal_whenever_they_were_written() {
        let temp = tempfile::tempdir().unwrap();
        let pack_fresh = |name: &str, age: u64, order: [&str; 2]| {
            let folder = temp.path().join(name);
            fs::create_dir_all(folder.join("b")).unwrap();
            for file in order {
                fs::write(folder.join(file), file).unwrap();
                let then = SystemTime::UNIX_EPOCH + Duration::from_secs(age);
                let open = File::options().write(true).open(folder.join(file));
                open.unwrap().set_modified(then).unwrap();
            }
            let archive = temp.path().join(format!("{name}.tgz"));
            pack(&folder, "package", &archive).unwrap();
            fs::read(archive).unwrap()
        };
        let one = pack_fresh("one", 1_000, ["a", "b/c"]);
        assert_eq!(one, pack_fresh("two", 2_000_000, ["b/c", "a"]));
        assert_ne!(one, pack_fresh("three", 1_000, ["a", "b/d"]));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_stays_one_and_all_is_below_the_prefix() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("folder");
        fs::create_dir(&folder).unwrap();
        for (name, mode) in [("program", 0o711), ("text", 0o600)] {
            fs::write(folder.join(name), name).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let archive = temp.path().join("folder.tgz");
        pack(&folder, "package", &archive).unwrap();
        let unpacked = flate2::read::GzDecoder::new(File::open(archive).unwrap());
        let mut tar = tar::Archive::new(unpacked);
        let entries = tar.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            (path, entry.header().mode().unwrap())
        });
        let expected = [("package/program", 0o755), ("package/text", 0o644)];
        let expected = expected.map(|(path, mode)| (path.to_owned(), mode));
        assert_eq!(entries.collect::<Vec<_>>(), expected);
    }
}

//! `SHA256SUMS`: what `sha256sum --check` reads.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// The name of the list.
pub(crate) const FILE: &str = "SHA256SUMS";

/// Writes the list of all files of this version in `folder`, sorted by name; also those that runs for
/// other platforms have put there.
pub(crate) fn write(folder: &Path, version: &str) -> Result<()> {
    let mark = format!("-{version}.");
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(&mark) && entry.file_type()?.is_file() {
            lines.push((name, sum(&entry.path())?));
        }
    }
    lines.sort();
    let text: String = lines
        .iter()
        .map(|(name, sum)| format!("{sum}  {name}\n"))
        .collect();
    let list = folder.join(FILE);
    fs::write(&list, text).with_context(|| format!("cannot write {}", list.display()))
}

/// The digest of a file, in hexadecimal digits.
pub(crate) fn sum(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let digest = Sha256::digest(bytes);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_this_version_are_listed_by_name_and_no_others() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["b-1.0.0.tgz", "a-1.0.0.tgz", "a-0.9.0.tgz", "notes"] {
            fs::write(temp.path().join(name), "abc").unwrap();
        }
        fs::create_dir(temp.path().join("c-1.0.0.d")).unwrap();
        write(temp.path(), "1.0.0").unwrap();
        // The digest of "abc" is an example of the standard's.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let list = fs::read_to_string(temp.path().join(FILE)).unwrap();
        assert_eq!(list, format!("{abc}  a-1.0.0.tgz\n{abc}  b-1.0.0.tgz\n"));
    }
}

//! The licences of what is linked into the binary: which are taken, and the texts that must come with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use spdx::{Expression, LicenseItem, LicenseReq, Licensee, ParseMode};

use crate::platform::Platform;
use crate::project::{Part, Project};
use crate::runtime::{self, Runtime};

/// The name of the file with the texts.
pub(crate) const FILE: &str = "THIRD-PARTY.txt";

/// Licences under which other people's packages are taken; where there is a choice, the first of them.
const TAKEN: [&str; 12] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
    "0BSD",
    "CC0-1.0",
    "Unlicense",
];

/// How names of files with licences begin.
const FILES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];

const LINE: &str =
    "================================================================================";

/// The text of [`FILE`]. Fails if a package has no licence among those that are taken.
pub(crate) fn third_party(project: &Project, platform: &Platform) -> Result<String> {
    let mut list = String::from(
        "The program goal-auditor contains code of others, under these licences. Their texts follow.\n\n",
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in project.foreign() {
        let title = format!("{} {}", part.name, part.version);
        writeln!(list, "{title}: {}", canonical(&part.licence)?)?;
        for text in texts_of(part).with_context(|| title.clone())? {
            texts.entry(text).or_default().push(title.clone());
        }
    }
    for runtime in runtime::of(platform) {
        writeln!(
            list,
            "{}: {}\n  {}",
            runtime.name, runtime.licence, runtime.notice
        )?;
        for text in texts_of_runtime(&runtime)? {
            let owners = texts.entry(text).or_default();
            owners.push(runtime.name.to_owned());
        }
    }
    Ok(list + &listed(&texts)?)
}

/// Every text once, under the names of those it belongs to; sorted by these.
fn listed(texts: &BTreeMap<String, Vec<String>>) -> Result<String> {
    let mut all: Vec<_> = texts.iter().map(|(text, owners)| (owners, text)).collect();
    all.sort();
    let mut told = String::new();
    for (owners, text) in all {
        write!(told, "\n{LINE}\n{}\n{LINE}\n\n{text}\n", owners.join("\n"))?;
    }
    Ok(told)
}

/// A licence expression in its standard form.
pub(crate) fn canonical(stated: &str) -> Result<String> {
    let canonical = Expression::canonicalize(stated).map_err(|error| anyhow!("{error}"))?;
    Ok(canonical.unwrap_or_else(|| stated.to_owned()))
}

/// The texts that come with a package, else the standard texts of the licences it is taken under.
fn texts_of(part: &Part) -> Result<Vec<String>> {
    let taken = taken(&part.licence)?;
    let own = own_texts(&part.folder)?;
    if !own.is_empty() {
        return Ok(own);
    }
    let authors = if part.authors.is_empty() {
        format!("the authors of {}", part.name)
    } else {
        part.authors.join(", ")
    };
    let standard = |licence: &LicenseReq| {
        let text = standard_text(licence)?;
        Ok(format!("Copyright {authors}\n\n{text}"))
    };
    taken.iter().map(standard).collect()
}

/// The licences out of an expression that we use the package under.
fn taken(stated: &str) -> Result<Vec<LicenseReq>> {
    let expression =
        Expression::parse_mode(stated, ParseMode::LAX).map_err(|error| anyhow!("{error}"))?;
    let accepted = TAKEN
        .iter()
        .map(|licence| Licensee::parse(licence).map_err(|error| anyhow!("{error}")))
        .collect::<Result<Vec<_>>>()?;
    expression
        .minimized_requirements(&accepted)
        .map_err(|_| anyhow!("its licence, {stated}, is none that is taken: {TAKEN:?}"))
}

/// The licence files in the folder of a package, sorted by name.
fn own_texts(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.is_file() && is_licence(path));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read(path).with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
        Ok(text.trim_matches('\n').to_owned())
    };
    paths.iter().map(read).collect()
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_uppercase();
    FILES.iter().any(|start| name.starts_with(start))
}

fn texts_of_runtime(runtime: &Runtime) -> Result<Vec<String>> {
    let expression = Expression::parse(runtime.licence).map_err(|error| anyhow!("{error}"))?;
    let texts = expression
        .requirements()
        .map(|licence| standard_text(&licence.req));
    texts.collect()
}

fn standard_text(licence: &LicenseReq) -> Result<String> {
    let text = match &licence.license {
        LicenseItem::Spdx { id, .. } => id.text(),
        LicenseItem::Other(_) => return Err(anyhow!("{licence} has no standard text")),
    };
    let exception = licence.addition.as_ref().and_then(|addition| addition.id());
    let exception = exception.map_or_else(String::new, |id| format!("\n\n{}", id.text()));
    Ok(format!("{}{exception}", text.trim_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(stated: &str) -> Option<Vec<String>> {
        let taken = taken(stated).ok()?;
        Some(taken.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn of_a_choice_the_first_licence_we_take_counts_and_of_a_sum_all() {
        for (stated, taken) in [
            ("Apache-2.0 OR MIT", ["MIT"].as_slice()),
            ("Unlicense/MIT", &["MIT"]),
            ("MIT AND BSD-3-Clause", &["MIT", "BSD-3-Clause"]),
            ("GPL-3.0-only OR MIT", &["MIT"]),
        ] {
            assert_eq!(names(stated).unwrap(), taken, "{stated}");
        }
    }

    #[test]
    fn a_licence_that_is_not_taken_ends_the_work() {
        for stated in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "AGPL-3.0-or-later",
            "a licence of my own",
        ] {
            assert_eq!(names(stated), None, "{stated}");
        }
    }

    #[test]
    fn a_package_without_a_licence_file_gets_the_standard_text_with_its_authors() {
        let temp = tempfile::tempdir().unwrap();
        let mut part = Part {
            name: "bare".to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            authors: vec!["A. Uthor".to_owned()],
            repository: None,
            folder: temp.path().to_owned(),
            foreign: true,
            needs: Vec::new(),
        };
        let [text] = &texts_of(&part).unwrap()[..] else {
            panic!("one text");
        };
        assert!(
            text.starts_with("Copyright A. Uthor\n\nMIT License"),
            "{text}"
        );
        fs::write(temp.path().join("license-mit.md"), "its own\r\n").unwrap();
        assert_eq!(texts_of(&part).unwrap(), ["its own"]);
        part.licence = "GPL-2.0-only".to_owned();
        assert!(texts_of(&part).is_err());
    }

    #[test]
    fn the_file_names_every_package_of_others_and_has_each_text_once() {
        for platform in &crate::platform::ALL[..2] {
            let project = Project::read(crate::root(), platform).unwrap();
            let told = third_party(&project, platform).unwrap();
            for part in project.foreign() {
                assert!(
                    told.contains(&format!("\n{} {}: ", part.name, part.version)),
                    "{}",
                    part.name
                );
            }
            for runtime in runtime::of(platform) {
                assert!(told.contains(runtime.name));
            }
            let lesser = told.contains("GNU LESSER GENERAL PUBLIC LICENSE");
            assert_eq!(lesser, platform.libc == Some("glibc"));
            let body = told.split(LINE).skip(2).step_by(2);
            let texts: Vec<_> = body.map(str::trim).collect();
            let mut once = texts.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), texts.len());
        }
    }
}

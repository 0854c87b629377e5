//! The software bill of materials, as CycloneDX 1.5 in JSON.
//!
//! It has no time and no random number in it, so that the same program has the same bill.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use cyclonedx_bom::external_models::normalized_string::NormalizedString;
use cyclonedx_bom::external_models::uri::{Purl, Uri};
use cyclonedx_bom::models::bom::Bom;
use cyclonedx_bom::models::component::{Classification, Component, Components};
use cyclonedx_bom::models::dependency::{Dependencies, Dependency};
use cyclonedx_bom::models::external_reference::{
    ExternalReference, ExternalReferenceType, ExternalReferences, Uri as Reference,
};
use cyclonedx_bom::models::hash::{Hash, HashAlgorithm, HashValue, Hashes};
use cyclonedx_bom::models::license::{LicenseChoice, Licenses};
use cyclonedx_bom::models::metadata::Metadata;
use cyclonedx_bom::models::tool::{Tool, Tools};
use cyclonedx_bom::validation::Validate as _;

use crate::licences::canonical;
use crate::platform::Platform;
use crate::project::{Part, Project};
use crate::{runtime, sums};

/// The bill of `binary`.
pub(crate) fn bill(project: &Project, platform: &Platform, binary: &Path) -> Result<Vec<u8>> {
    let main = crate::BINARY_PACKAGE;
    let (program, parts): (Vec<_>, Vec<_>) =
        project.parts.iter().partition(|part| part.name == main);
    let mut subject = component(program[0], Classification::Application)?;
    subject.hashes = Some(Hashes(vec![Hash {
        alg: HashAlgorithm::SHA_256,
        content: HashValue(sums::sum(binary)?),
    }]));
    let mut components = parts
        .into_iter()
        .map(|part| component(part, Classification::Library))
        .collect::<Result<Vec<_>>>()?;
    components.extend(runtime::of(platform).iter().map(linked));
    let bom = Bom {
        // A fresh one would be drawn at random.
        serial_number: None,
        metadata: Some(Metadata {
            tools: Some(Tools::List(vec![Tool::new(
                main,
                "goal-dist",
                &project.version,
            )])),
            component: Some(subject),
            ..Metadata::default()
        }),
        components: Some(Components(components)),
        dependencies: Some(Dependencies(project.parts.iter().map(needs).collect())),
        ..Bom::default()
    };
    let mistakes = bom.validate();
    ensure!(
        mistakes.passed(),
        "the bill of materials is not valid: {mistakes:?}"
    );
    let mut json = Vec::new();
    bom.output_as_json_v1_5(&mut json)
        .map_err(|error| anyhow!("{error}"))?;
    json.push(b'\n');
    Ok(json)
}

fn component(part: &Part, kind: Classification) -> Result<Component> {
    let mut component = Component::new(kind, &part.name, &part.version, Some(part.key()));
    component.purl = Some(Purl::new("cargo", &part.name, &part.version)?);
    component.licenses = Some(licence(&canonical(&part.licence)?));
    component.external_references = part.repository.as_deref().map(source);
    Ok(component)
}

/// A library of the toolchain: of its version we know nothing.
fn linked(runtime: &runtime::Runtime) -> Component {
    let mut component = Component::new(
        Classification::Library,
        runtime.name,
        "",
        Some(runtime.name.to_owned()),
    );
    component.version = None;
    component.licenses = Some(licence(runtime.licence));
    component.copyright = Some(NormalizedString::new(runtime.notice));
    component
}

fn licence(expression: &str) -> Licenses {
    Licenses(vec![LicenseChoice::expression(expression)])
}

fn source(repository: &str) -> ExternalReferences {
    let place = Reference::Url(Uri::new(repository));
    let kind = ExternalReferenceType::Vcs;
    ExternalReferences(vec![ExternalReference::new(kind, place)])
}

fn needs(part: &Part) -> Dependency {
    Dependency {
        dependency_ref: part.key(),
        dependencies: part.needs.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn bill_of(text: &str) -> Value {
        let temp = tempfile::tempdir().unwrap();
        let binary = temp.path().join("binary");
        std::fs::write(&binary, text).unwrap();
        let platform = Platform::of("x86_64-unknown-linux-musl").unwrap();
        let project = Project::read(crate::root(), platform).unwrap();
        serde_json::from_slice(&bill(&project, platform, &binary).unwrap()).unwrap()
    }

    #[test]
    fn the_bill_names_the_program_and_everything_in_it_with_version_and_licence() {
        let bill = bill_of("abc");
        assert_eq!(bill["bomFormat"], "CycloneDX");
        assert_eq!(bill["specVersion"], "1.5");
        let subject = &bill["metadata"]["component"];
        assert_eq!(subject["type"], "application");
        assert_eq!(subject["name"], "goal-auditor");
        assert_eq!(subject["version"], env!("CARGO_PKG_VERSION"));
        // The digest of "abc" is an example of the standard's.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(
            subject["hashes"],
            json!([{ "alg": "SHA-256", "content": abc }])
        );

        let components = bill["components"].as_array().unwrap();
        for component in components {
            let name = component["name"].as_str().unwrap();
            let licence = component["licenses"][0]["expression"].as_str();
            assert!(licence.is_some_and(|licence| !licence.is_empty()), "{name}");
            let of_cargo = component["purl"].as_str();
            let of_cargo = of_cargo.is_some_and(|purl| purl.starts_with("pkg:cargo/"));
            let of_toolchain = runtime::of(Platform::of(platform::ALL[1].triple).unwrap());
            let linked = of_toolchain.iter().any(|runtime| runtime.name == name);
            assert!(of_cargo != linked, "{component}");
            assert_eq!(component["version"].is_string(), of_cargo, "{component}");
        }
        for name in ["goal-engine", "serde_json", "musl libc"] {
            assert!(
                components.iter().any(|component| component["name"] == name),
                "{name}"
            );
        }
    }

    #[test]
    fn what_depends_on_what_is_told_of_known_parts_only() {
        let bill = bill_of("abc");
        let components = bill["components"].as_array().unwrap().iter();
        let subject = &bill["metadata"]["component"];
        let known: BTreeSet<_> = components
            .chain([subject])
            .map(|component| component["bom-ref"].as_str().unwrap())
            .collect();
        let mut told = 0;
        for dependency in bill["dependencies"].as_array().unwrap() {
            assert!(
                known.contains(dependency["ref"].as_str().unwrap()),
                "{dependency}"
            );
            for needed in dependency["dependsOn"].as_array().into_iter().flatten() {
                assert!(known.contains(needed.as_str().unwrap()), "{needed}");
                told += 1;
            }
        }
        assert!(told > known.len());
    }

    #[test]
    fn the_same_program_has_the_same_bill() {
        assert_eq!(bill_of("abc"), bill_of("abc"));
        assert_ne!(bill_of("abc"), bill_of("abd"));
    }
}

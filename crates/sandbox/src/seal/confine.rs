//! What a sealed process may not do, beyond what it cannot see.

use std::fs;
use std::path::Path;

use landlock::{ABI, Access as _, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::plan::Plan;
use super::sys;
use crate::error::{Doing as _, SealError};

/// Processes and threads in one seal.
pub const PROCESSES_MAX: u64 = 4_096;
/// The kernel knows fewer than 64 capabilities; each is one bit.
const CAPABILITIES_MAX: u32 = 64;
/// Since this version a limit on processes is the namespace's own and not the whole machine's.
const OWN_PID_MAX_SINCE: (u32, u32) = (6, 14);
/// Since this version processes are counted by user namespace, so those outside do not count.
const OWN_PROCESS_COUNT_SINCE: (u32, u32) = (5, 14);

/// Limits the pid namespace, where the kernel can; `proc` is its own /proc.
pub(super) fn limit_processes(proc: &Path) -> Result<(), SealError> {
    let doing = || "limiting the number of processes".to_owned();
    if kernel_version() >= Some(OWN_PID_MAX_SINCE) {
        fs::write(proc.join("sys/kernel/pid_max"), PROCESSES_MAX.to_string()).doing(doing)?;
    }
    Ok(())
}

/// Gives up, for this process and all it starts, everything it does not need. There is no way back.
pub(super) fn confine(plan: &Plan) -> Result<(), SealError> {
    sys::leave_session_keyring();
    // If the machine runs out of memory, what is in here goes first.
    fs::write("/proc/self/oom_score_adj", "1000").doing(|| "offering itself".to_owned())?;
    limit_resources(plan)?;
    drop_capabilities()?;
    rustix::thread::set_no_new_privs(true).doing(|| "renouncing new privileges".to_owned())?;
    scope()?;
    // Nothing inside may look into process 1 or what it forks, which hold descriptors from outside.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .doing(|| "closing itself to debuggers".to_owned())
}

fn limit_resources(plan: &Plan) -> Result<(), SealError> {
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, plan.scratch_bytes)?;
    lower(Resource::Data, plan.memory_bytes / 4 * 3)?;
    if kernel_version() >= Some(OWN_PROCESS_COUNT_SINCE) {
        lower(Resource::Nproc, PROCESSES_MAX)?;
    }
    Ok(())
}

/// Lowers a limit; one that is lower already stays.
fn lower(resource: Resource, to: u64) -> Result<(), SealError> {
    let now = getrlimit(resource);
    let lowest = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    let limit = Rlimit {
        current: lowest(now.current),
        maximum: lowest(now.maximum),
    };
    setrlimit(resource, limit).doing(|| format!("limiting {resource:?}"))
}

fn drop_capabilities() -> Result<(), SealError> {
    let doing = || "dropping capabilities".to_owned();
    for number in 0..CAPABILITIES_MAX {
        // Numbers the kernel does not know are refused, and then there is nothing to drop.
        let _ = rustix::thread::remove_capability_from_bounding_set(
            CapabilitySet::from_bits_retain(1 << number),
        );
    }
    rustix::thread::clear_ambient_capability_set().doing(doing)?;
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED;
    rustix::thread::set_capabilities_secure_bits(bits).doing(doing)?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    rustix::thread::set_capabilities(None, sets).doing(doing)
}

/// With the host's network, the host's abstract sockets would be in reach; Landlock closes that on
/// kernels that can (6.12 and later).
fn scope() -> Result<(), SealError> {
    let doing = "setting Landlock scopes";
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.scope(Scope::from_all(ABI::V6));
    let rules = rules.and_then(Ruleset::create);
    let rules = rules.map_err(|error| SealError::new(doing, error))?;
    rules
        .restrict_self()
        .map_err(|error| SealError::new(doing, error))?;
    Ok(())
}

fn kernel_version() -> Option<(u32, u32)> {
    let name = rustix::system::uname();
    let mut parts = name.release().to_str().ok()?.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

//! The tree of files a sealed command sees, and the way into it.
//!
//! Runs in process 1 of the seal, in namespaces of its own: nothing mounted here is seen outside,
//! and all of it is gone with the last process of the seal.

use std::ffi::CString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, move_mount, open_tree, unmount,
};

use super::plan::{Plan, inside};
use super::sys;
use crate::error::{Doing as _, SealError};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];
/// Parts of /proc through which the system's root could change the machine: it may write there
/// without any capability, and a seal made by root runs as root.
const PROC_READ_ONLY: &[&str] = &["sys", "irq", "bus", "fs", "sysrq-trigger", "acpi", "scsi"];
/// Parts of /proc that show the kernel's memory and keys.
const PROC_HIDDEN: &[&str] = &["kcore", "keys", "timer_list", "kmsg"];
/// Largest staging folder: a few empty folders.
const STAGE_OPTIONS: &str = "size=1m,mode=755";
const ANYBODY: u32 = 0o1777;

/// A mount tree taken from the view outside, before anything covers it.
struct Taken {
    place: PathBuf,
    tree: OwnedFd,
    is_dir: bool,
}

/// Puts the tree together and makes it this process's root.
pub(super) fn enter(plan: &Plan) -> Result<(), SealError> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).doing(|| "cutting the mounts loose".to_owned())?;
    let everything = take(Path::new("/"))?;
    let lowers = take_all(&plan.overlaid)?;
    let kept = take_all(&plan.kept)?;
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name));
    let devices = take_all(&devices.collect::<Vec<_>>())?;

    let stage = Stage::make(plan)?;
    let root = stage.0.join("root");
    restrict(everything.tree.as_fd(), READ_ONLY | HARMLESS)
        .doing(|| "making all file systems read-only".to_owned())?;
    attach(&everything, &root)?;
    for (number, folder) in plan.private.iter().enumerate() {
        let source = stage.folder(&format!("private{number}"), ANYBODY)?;
        bind(&source, &inside(&root, folder), HARMLESS)?;
    }
    make_devices(&stage, &root, &devices)?;
    make_proc(&stage, &root)?;
    for (number, lower) in lowers.iter().enumerate() {
        overlay(&stage, &root, number, lower)?;
    }
    for each in &kept {
        keep(&root, each)?;
    }
    for path in &plan.hidden {
        hide(&stage, &inside(&root, path))?;
    }
    pivot(&root)
}

fn take_all(places: &[PathBuf]) -> Result<Vec<Taken>, SealError> {
    places.iter().map(|place| take(place)).collect()
}

fn take(place: &Path) -> Result<Taken, SealError> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let doing = || format!("taking {} into the seal", place.display());
    Ok(Taken {
        tree: open_tree(CWD, place, flags).doing(doing)?,
        is_dir: fs::metadata(place).doing(doing)?.is_dir(),
        place: place.to_owned(),
    })
}

fn attach(taken: &Taken, at: &Path) -> Result<(), SealError> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(taken.tree.as_fd(), "", CWD, at, flags)
        .doing(|| format!("showing {} inside", taken.place.display()))
}

fn restrict(tree: BorrowedFd<'_>, attributes: u64) -> std::io::Result<()> {
    sys::set_mount_attributes(tree, attributes)
}

/// The folder where all is put together: it covers a private folder of the view outside.
struct Stage(PathBuf);

impl Stage {
    fn make(plan: &Plan) -> Result<Self, SealError> {
        let stage = Self(plan.stage.clone());
        mount_tmpfs(&stage.0, STAGE_OPTIONS)?;
        for name in ["root", "scratch", "mask"] {
            make_dir(&stage.0.join(name), 0o755)?;
        }
        let size = format!("size={},mode=755", plan.scratch_bytes);
        mount_tmpfs(&stage.0.join("scratch"), &size)?;
        make_dir(&stage.0.join("mask/folder"), 0)?;
        make_file(&stage.0.join("mask/file"), 0)?;
        Ok(stage)
    }

    /// A new folder on the file system of limited size.
    fn folder(&self, name: &str, mode: u32) -> Result<PathBuf, SealError> {
        let path = self.0.join("scratch").join(name);
        make_dir(&path, mode)?;
        Ok(path)
    }
}

fn mount_tmpfs(at: &Path, options: &str) -> Result<(), SealError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let doing = || format!("mounting a temporary file system at {}", at.display());
    let options = CString::new(options).map_err(|error| SealError::new(doing(), error))?;
    mount("tmpfs", at, "tmpfs", flags, options.as_c_str()).doing(doing)
}

fn make_dir(path: &Path, mode: u32) -> Result<(), SealError> {
    let doing = || format!("making the folder {}", path.display());
    DirBuilder::new().mode(0o700).create(path).doing(doing)?;
    fs::set_permissions(path, Permissions::from_mode(mode)).doing(doing)
}

fn make_file(path: &Path, mode: u32) -> Result<(), SealError> {
    let doing = || format!("making the file {}", path.display());
    File::create(path).doing(doing)?;
    fs::set_permissions(path, Permissions::from_mode(mode)).doing(doing)
}

/// Shows a folder or file of the stage at another place.
fn bind(source: &Path, at: &Path, attributes: u64) -> Result<(), SealError> {
    let taken = take(source)?;
    restrict(taken.tree.as_fd(), attributes)
        .doing(|| format!("restricting {}", source.display()))?;
    attach(&taken, at)
}

/// A /dev with nothing but what every program expects.
fn make_devices(stage: &Stage, root: &Path, devices: &[Taken]) -> Result<(), SealError> {
    let dev = stage.folder("dev", 0o755)?;
    let at = root.join("dev");
    bind(&dev, &at, libc::MOUNT_ATTR_NOSUID)?;
    for device in devices {
        let name = device.place.file_name().unwrap_or_default();
        make_file(&dev.join(name), 0o666)?;
        attach(device, &at.join(name))?;
    }
    for (target, name) in DEVICE_LINKS {
        symlink(target, dev.join(name)).doing(|| format!("making /dev/{name}"))?;
    }
    make_dir(&dev.join("shm"), ANYBODY)?;
    make_dir(&dev.join("pts"), 0o755)?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", at.join("pts"), "devpts", flags, options)
        .doing(|| "mounting terminals".to_owned())
}

/// A /proc of this pid namespace. On the way, user namespaces are forbidden from here on.
fn make_proc(stage: &Stage, root: &Path) -> Result<(), SealError> {
    let at = root.join("proc");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", &at, "proc", flags, None)
        .doing(|| "mounting /proc (masked by a container?)".to_owned())?;
    fs::write(at.join("sys/user/max_user_namespaces"), "0")
        .doing(|| "forbidding further user namespaces".to_owned())?;
    super::confine::limit_processes(&at)?;
    for name in PROC_READ_ONLY {
        let path = at.join(name);
        if path.exists() {
            bind(&path, &path, READ_ONLY)?;
        }
    }
    for name in PROC_HIDDEN {
        if at.join(name).exists() {
            hide(stage, &at.join(name))?;
        }
    }
    Ok(())
}

fn overlay(stage: &Stage, root: &Path, number: usize, lower: &Taken) -> Result<(), SealError> {
    // Short names of our own: the user's may hold what separates overlayfs's options.
    let below = stage.0.join(format!("lower{number}"));
    make_dir(&below, 0o755)?;
    attach(lower, &below)?;
    let upper = stage.folder(&format!("upper{number}"), 0o700)?;
    look_like(&below, &upper).doing(|| format!("copying the owner of {}", below.display()))?;
    let work = stage.folder(&format!("work{number}"), 0o755)?;
    let options = format!(
        "userxattr,lowerdir={},upperdir={},workdir={}",
        below.display(),
        upper.display(),
        work.display(),
    );
    let at = inside(root, &lower.place);
    let doing = || format!("making an overlay over {}", lower.place.display());
    let options = CString::new(options).map_err(|error| SealError::new(doing(), error))?;
    fs::create_dir_all(&at).doing(doing)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("overlay", &at, "overlay", flags, options.as_c_str()).doing(doing)
}

/// The top folder of an overlay shows the owner and mode of its upper layer. An owner without a
/// number in here cannot be given; then the folder is the user's own.
fn look_like(model: &Path, folder: &Path) -> std::io::Result<()> {
    let seen = fs::metadata(model)?;
    let _ = std::os::unix::fs::chown(folder, Some(seen.uid()), Some(seen.gid()));
    fs::set_permissions(folder, seen.permissions())
}

/// Shows again, read-only, what a private folder covers.
fn keep(root: &Path, kept: &Taken) -> Result<(), SealError> {
    let at = inside(root, &kept.place);
    let doing = || format!("keeping {} visible", kept.place.display());
    if kept.is_dir {
        fs::create_dir_all(&at).doing(doing)?;
    } else {
        fs::create_dir_all(at.parent().unwrap_or(root)).doing(doing)?;
        File::create(&at).doing(doing)?;
    }
    restrict(kept.tree.as_fd(), READ_ONLY | HARMLESS).doing(doing)?;
    attach(kept, &at)
}

/// Covers a path with something empty that cannot be opened. A path that is not there inside has
/// nothing to hide.
fn hide(stage: &Stage, path: &Path) -> Result<(), SealError> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let mask = if found.is_dir() { "folder" } else { "file" };
    bind(&stage.0.join("mask").join(mask), path, READ_ONLY | HARMLESS)
}

fn pivot(root: &Path) -> Result<(), SealError> {
    let doing = || "changing to the new root".to_owned();
    rustix::process::chdir(root).doing(doing)?;
    rustix::process::pivot_root(".", ".").doing(doing)?;
    unmount(".", UnmountFlags::DETACH).doing(|| "leaving the old root".to_owned())?;
    rustix::process::chdir("/").doing(doing)
}

//! What a hostile command may try. Each is a bash script; see `World` for its environment.

use self::Control::{Never, RootOnly, Same, Script};
use self::Effect::{Call, Files, Process, Says, Victim};

/// How it would be noticed that an attempt got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A file, or a setting of the machine, is not as it was.
    Files,
    /// The script says `REACHED`: it read a secret, or was allowed what it must not be.
    Says,
    /// A process is left behind.
    Process,
    /// A process outside was harmed.
    Victim,
    /// A server outside was called.
    Call,
}

/// The positive control: the same without a seal does have the effect.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Control {
    /// The script itself.
    Same,
    /// The script itself, but only root can do it at all.
    RootOnly,
    /// A milder script for the same effect.
    Script(&'static str),
    /// None: unsealed, it would harm this machine, or no user could do it.
    Never,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) script: &'static str,
    pub(crate) effect: Effect,
    pub(crate) control: Control,
    /// Further options of the seal.
    pub(crate) options: &'static [&'static str],
}

const fn a(name: &'static str, effect: Effect, control: Control, script: &'static str) -> Attempt {
    Attempt {
        name,
        script,
        effect,
        control,
        options: &[],
    }
}

const fn with(options: &'static [&'static str], attempt: Attempt) -> Attempt {
    Attempt { options, ..attempt }
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // The workspace.
    a("create a file", Files, Same, "echo x > new"),
    a("create a folder", Files, Same, "mkdir -p a/b"),
    a("truncate", Files, Same, ": > tracked.txt"),
    a("append", Files, Same, "echo x >> tracked.txt"),
    a(
        "write in place",
        Files,
        Same,
        "printf X | dd of=tracked.txt conv=notrunc status=none",
    ),
    a("rename", Files, Same, "mv tracked.txt moved.txt"),
    a("rename over", Files, Same, "echo x > n; mv n tracked.txt"),
    a("unlink", Files, Same, "rm tracked.txt"),
    a("remove everything", Files, Same, "rm -rf ./* ./.[!.]*"),
    a("remove the workspace itself", Files, Same, "rm -rf \"$WS\""),
    a(
        "move the workspace away",
        Files,
        Same,
        "mv \"$WS\" \"$WS-away\" || mv \"$WS\" /tmp/away",
    ),
    a("chmod", Files, Same, "chmod 777 tracked.txt"),
    a(
        "make a program setuid",
        Files,
        Same,
        "cp /bin/true t && chmod 4755 t",
    ),
    a("chown", Files, RootOnly, "chown 12345 tracked.txt"),
    a("set times", Files, Same, "touch -d 2001-01-01 tracked.txt"),
    a(
        "set an extended attribute",
        Files,
        Same,
        "/usr/bin/python3 -c 'import os; os.setxattr(\"tracked.txt\", \"user.x\", b\"1\")'",
    ),
    a(
        "hard link and write",
        Files,
        Same,
        "ln tracked.txt l && echo x >> l",
    ),
    a("symbolic link", Files, Same, "ln -s /etc/passwd l"),
    a(
        "write through a symbolic link",
        Files,
        Same,
        "ln -s \"$OUT/file\" l && echo x > l",
    ),
    a("make a pipe", Files, Same, "mkfifo p"),
    a("make a device", Files, RootOnly, "mknod d b 254 0"),
    a(
        "write through a memory map",
        Files,
        Same,
        "/usr/bin/python3 -c '
import mmap
with open(\"tracked.txt\", \"r+b\") as f:
    m = mmap.mmap(f.fileno(), 0)
    m[0:1] = b\"X\"
    m.flush()
'",
    ),
    a(
        "punch a hole",
        Files,
        Same,
        "fallocate -p -o 0 -l 4 tracked.txt || : > tracked.txt",
    ),
    a(
        "swap with an open file",
        Files,
        Same,
        "exec 5<>tracked.txt; echo gone >&5",
    ),
    // Git.
    a("git stash", Files, Same, "git stash -q"),
    a("git checkout", Files, Same, "git checkout -q -- ."),
    a("git reset", Files, Same, "git reset -q --hard"),
    a("git clean", Files, Same, "git clean -qfdx"),
    a("git commit", Files, Same, "git commit -qam x"),
    a("git branch", Files, Same, "git branch other"),
    a("git tag and gc", Files, Same, "git tag t; git gc -q"),
    a(
        "a git hook",
        Files,
        Same,
        "echo 'rm -rf ~' > .git/hooks/post-commit",
    ),
    a(
        "git config",
        Files,
        Same,
        "git config core.fsmonitor 'rm -rf ~'",
    ),
    a(
        "git config --global",
        Files,
        Same,
        "git config --global alias.st '!rm -rf ~'",
    ),
    // The home.
    a("~/.bashrc", Files, Same, "echo evil >> ~/.bashrc"),
    a("~/.profile", Files, Same, "echo evil > ~/.profile"),
    a(
        "~/.ssh/authorized_keys",
        Files,
        Same,
        "mkdir -p ~/.ssh; echo evil > ~/.ssh/authorized_keys",
    ),
    a(
        "pi's settings",
        Files,
        Same,
        "echo '{\"x\":1}' > \"$AGENT/settings.json\"",
    ),
    a(
        "an extension for pi",
        Files,
        Same,
        "mkdir -p \"$AGENT/extensions\"; echo x > \"$AGENT/extensions/x.ts\"",
    ),
    a(
        "our settings",
        Files,
        Same,
        "echo '{\"sandbox\":\"off\"}' > \"$AGENT/goal-auditor.json\"",
    ),
    a(
        "the session file",
        Files,
        Same,
        "echo '{\"type\":\"custom\"}' >> \"$AGENT/sessions/one.jsonl\"",
    ),
    a("remove the home", Files, Same, "rm -rf ~"),
    a(
        "autostart of the desktop",
        Files,
        Same,
        "mkdir -p ~/.config/autostart; echo x > ~/.config/autostart/x.desktop",
    ),
    // Elsewhere.
    a("create outside", Files, Same, "echo x > \"$OUT/new\""),
    a("write outside", Files, Same, "echo x > \"$OUT/file\""),
    a("remove outside", Files, Same, "rm -rf \"$OUT\""),
    a("through ..", Files, Same, "echo x > ../out/new"),
    a("/tmp", Files, Same, "echo x > /tmp/$MARK"),
    a("/var/tmp", Files, Same, "echo x > /var/tmp/$MARK"),
    a("/dev/shm", Files, Same, "echo x > /dev/shm/$MARK"),
    a(
        "cron",
        Files,
        RootOnly,
        "echo '# nothing' > /etc/cron.d/$MARK",
    ),
    // Ways around the view.
    a(
        "/proc/self/root",
        Files,
        Same,
        "echo x > /proc/self/root\"$OUT/new\"",
    ),
    a(
        "everybody's root and folder",
        Files,
        Script("echo x > /proc/$VICTIM/root\"$OUT/new\""),
        "for p in /proc/[0-9]*; do echo x > $p/root\"$OUT/new\"; echo x > $p/cwd/new; done",
    ),
    a(
        "everybody's open files",
        Files,
        Script("echo x >> /proc/self/fd/8"),
        "for f in /proc/[0-9]*/fd/[3-9]*; do [ -f $f ] && echo x >> $f; [ -d $f ] && echo x > $f/new; done",
    ),
    a("an inherited file", Files, Same, "echo x >> /dev/fd/8"),
    a(
        "an inherited folder",
        Files,
        Same,
        "echo x > /proc/self/fd/9/new",
    ),
    a(
        "standard input, opened anew",
        Files,
        Same,
        "echo x > /proc/self/fd/0",
    ),
    a(
        "umount the overlay",
        Files,
        Same,
        "umount -l \"$WS\" ~; cd /; echo x > \"$WS/new\"",
    ),
    a(
        "remount everything writable",
        Files,
        Script("echo x > \"$OUT/new\""),
        "mount -o remount,rw /; mount -o remount,bind,rw /; echo x > \"$OUT/new\"",
    ),
    a(
        "bind mount",
        Files,
        Script("echo x > \"$OUT/new\""),
        "mkdir b; mount --bind \"$OUT\" b; mount -o remount,bind,rw b; echo x > \"$OUT/new\"; echo x > b/new",
    ),
    a("change root", Says, RootOnly, "chroot / echo REACHED"),
    a("a user namespace", Says, Same, "unshare -Ur echo REACHED"),
    a(
        "mounts in a user namespace",
        Files,
        Script("echo x > \"$OUT/new\""),
        "unshare -Urm sh -c 'mount -o remount,bind,rw /; echo x > \"$OUT/new\"'",
    ),
    a(
        "enter another's namespaces",
        Says,
        Script("readlink /proc/$VICTIM/ns/mnt > /dev/null && echo REACHED"),
        "nsenter -t $VICTIM -m echo REACHED; readlink /proc/$VICTIM/ns/mnt && echo REACHED",
    ),
    a(
        "open by handle",
        Says,
        RootOnly,
        "/usr/bin/python3 -c '
import ctypes, os, struct
c = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(struct.pack(\"Ii\", 128, 0) + bytes(128))
mount = ctypes.c_int()
path = os.environ[\"OUT\"].encode()
c.name_to_handle_at(-100, path, handle, ctypes.byref(mount), 0)
where = os.open(path, os.O_RDONLY)
if c.open_by_handle_at(where, handle, os.O_RDONLY) >= 0:
    print(\"REACHED\")
'",
    ),
    a(
        "devices of the machine",
        Says,
        Never,
        "ls /dev | grep -E '^(sd|vd|nvme|dm-|mem|kmsg|loop|fuse|kvm)' && echo REACHED",
    ),
    // Other processes.
    a("kill another process", Victim, Same, "kill -9 $VICTIM"),
    a("kill everything", Victim, Never, "kill -9 -1"),
    a(
        "stop another process",
        Victim,
        Script("kill -9 $VICTIM"),
        "kill -STOP $VICTIM; kill -9 $VICTIM",
    ),
    a(
        "trace another process",
        Says,
        RootOnly,
        "/usr/bin/python3 -c '
import ctypes, os
if ctypes.CDLL(None).ptrace(16, int(os.environ[\"VICTIM\"]), None, None) == 0:
    print(\"REACHED\")
'",
    ),
    a(
        "another's memory",
        Says,
        Same,
        "exec 5</proc/$VICTIM/mem && echo REACHED",
    ),
    a(
        "another's environment",
        Says,
        Same,
        "tr '\\0' '\\n' < /proc/$VICTIM/environ",
    ),
    a(
        "the first process's memory",
        Says,
        Script("exec 5<>/proc/self/mem && echo REACHED"),
        "exec 5<>/proc/1/mem && echo REACHED",
    ),
    a(
        "the first process's environment",
        Says,
        Script("env"),
        "tr '\\0' '\\n' < /proc/1/environ; cat /proc/[0-9]*/environ",
    ),
    a(
        "trace the first process",
        Says,
        Never,
        "/usr/bin/python3 -c '
import ctypes
for pid in (1, 2):
    if ctypes.CDLL(None).ptrace(16, pid, None, None) == 0:
        print(\"REACHED\")
'",
    ),
    a(
        "steal the first process's files",
        Says,
        Never,
        "ls /proc/1/fd/0 && echo REACHED",
    ),
    a(
        "a daemon",
        Process,
        Same,
        "setsid sh -c \"sleep 300; : $MARK\" > /dev/null 2>&1 < /dev/null &",
    ),
    a(
        "a daemon, forked twice",
        Process,
        Same,
        "(setsid sh -c \"trap '' TERM HUP INT; sleep 300; : $MARK\" > /dev/null 2>&1 < /dev/null &) &",
    ),
    // Servers.
    a(
        "a server on loopback",
        Call,
        Same,
        "echo x > /dev/tcp/127.0.0.1/$PORT",
    ),
    a(
        "a server on the machine's own address",
        Call,
        Same,
        "echo x > /dev/tcp/$HOSTIP/$PORT",
    ),
    with(
        &["--net", "off"],
        a(
            "without any network",
            Call,
            Same,
            "echo x > /dev/tcp/127.0.0.1/$PORT",
        ),
    ),
    a("an abstract socket", Call, Same, CALL_ABSTRACT),
    with(
        &["--net", "host"],
        a(
            "an abstract socket, on the host's network",
            Call,
            Same,
            CALL_ABSTRACT,
        ),
    ),
    a("a socket in /tmp", Call, Same, CALL_IN_TMP),
    a("a socket in the workspace", Call, Same, CALL_IN_WORKSPACE),
    a("a socket in the home", Call, Same, CALL_IN_HOME),
    // Secrets.
    a("a private key", Says, Same, "cat ~/.ssh/id_rsa"),
    a("a cloud login", Says, Same, "cat ~/.aws/credentials"),
    a("a registry's token", Says, Same, "cat ~/.npmrc"),
    a("pi's logins", Says, Same, "cat \"$AGENT/auth.json\""),
    a(
        "a hidden file, made readable",
        Says,
        Same,
        "chmod 644 ~/.npmrc; cat ~/.npmrc",
    ),
    a("a hidden file, linked", Says, Same, "ln ~/.npmrc l; cat l"),
    a(
        "a hidden folder, moved",
        Says,
        Same,
        "mv ~/.ssh ~/away; cat ~/away/id_rsa",
    ),
    a(
        "a hidden folder, uncovered",
        Says,
        Same,
        "umount ~/.ssh; rmdir ~/.ssh; cat ~/.ssh/id_rsa",
    ),
    with(
        &["--hide", ".env"],
        a(
            "a file the user hides",
            Says,
            Same,
            "cat .env; cp .env e; cat e; cat ./*; git add -f .env; git show :.env",
        ),
    ),
    a(
        "secrets in the environment",
        Says,
        Same,
        "echo $MY_API_KEY; env | grep redis",
    ),
    a(
        "keys of the kernel",
        Says,
        Never,
        "cat /proc/keys && echo REACHED; cat /proc/kcore | head -c1 | grep -q . && echo REACHED",
    ),
    // The machine.
    a(
        "the program run for crashes",
        Files,
        Never,
        "echo '|/bin/false' > /proc/sys/kernel/core_pattern",
    ),
    a(
        "the name of the machine",
        Files,
        Never,
        "hostname $MARK; echo $MARK > /proc/sys/kernel/hostname",
    ),
    a(
        "allow user namespaces again",
        Says,
        Script("unshare -Ur echo REACHED"),
        "echo 1000 > /proc/sys/user/max_user_namespaces; unshare -Ur echo REACHED",
    ),
    a(
        "the kernel's emergency keys",
        Says,
        Never,
        "echo h > /proc/sysrq-trigger && echo REACHED",
    ),
    a(
        "control groups",
        Says,
        Never,
        "find /sys/fs/cgroup -maxdepth 3 -type d 2> /dev/null | while read d; do mkdir $d/$MARK && echo REACHED; done",
    ),
    a(
        "capabilities",
        Says,
        RootOnly,
        "grep -E 'Cap(Prm|Eff|Bnd|Amb|Inh):.*[1-9a-f]' /proc/self/status && echo REACHED",
    ),
    a(
        "new privileges",
        Says,
        Same,
        "grep 'NoNewPrivs:.*0' /proc/self/status && echo REACHED",
    ),
    a(
        "survive when memory runs out",
        Says,
        Never,
        "echo -500 > /proc/self/oom_score_adj && echo REACHED",
    ),
    a(
        "all memory for one process",
        Says,
        Same,
        "[ \"$(ulimit -d)\" = unlimited ] && echo REACHED",
    ),
    a(
        "raise a limit again",
        Says,
        Never,
        "ulimit -d unlimited && ulimit -u unlimited && echo REACHED",
    ),
    with(
        &["--scratch-mb", "64"],
        a(
            "fill the disk",
            Says,
            Same,
            "dd if=/dev/zero of=big bs=1M count=80 status=none && echo REACHED",
        ),
    ),
    with(
        &["--scratch-mb", "64"],
        a(
            "fill the disk in pieces",
            Says,
            Same,
            "for d in \"$WS\" ~ /tmp /var/tmp /dev/shm; do dd if=/dev/zero of=$d/$MARK bs=1M count=16 status=none || exit; done; rm $d/$MARK /dev/shm/$MARK /tmp/$MARK /var/tmp/$MARK; echo REACHED",
        ),
    ),
    a(
        "programs of other users' rights",
        Says,
        RootOnly,
        "setpriv --reuid=1 --clear-groups echo REACHED",
    ),
];

const CALL_ABSTRACT: &str = "/usr/bin/python3 -c '
import os, socket
socket.socket(socket.AF_UNIX).connect(\"\\0\" + os.environ[\"MARK\"])
'";
const CALL_IN_WORKSPACE: &str = "/usr/bin/python3 -c '
import os, socket
socket.socket(socket.AF_UNIX).connect(\"socket\")
'";
const CALL_IN_HOME: &str = "cd ~; /usr/bin/python3 -c '
import os, socket
socket.socket(socket.AF_UNIX).connect(\"socket\")
'";
const CALL_IN_TMP: &str = "/usr/bin/python3 -c '
import os, socket
socket.socket(socket.AF_UNIX).connect(\"/tmp/\" + os.environ[\"MARK\"] + \"-socket\")
'";

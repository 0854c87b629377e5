//! Which environment variables an auditor's command does not get.
//!
//! By name: keys, tokens, secrets, passwords, credentials, authentication (its sockets too), cookies
//! and addresses of databases. By value: addresses that carry a password. The shim holds the same
//! rule for the rungs without a seal.

use std::ffi::OsStr;

/// Parts of names, upper case.
const PARTS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "BEARER",
    "COOKIE",
    "PRIVATE",
    "DATABASE_URL",
    "CONNECTION_STRING",
];
/// Ends of names, upper case.
const ENDS: &[&str] = &["_PAT", "_PWD", "_DSN"];
/// Addresses of helpers that act for the user, whole names.
const HELPERS: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "GPG_AGENT_INFO",
    "DOCKER_HOST",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "VSCODE_GIT_IPC_HANDLE",
    "VSCODE_IPC_HOOK_CLI",
];

/// Whether a variable stays outside.
#[must_use]
pub fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    PARTS.iter().any(|part| name.contains(part))
        || ENDS.iter().any(|end| name.ends_with(end))
        || HELPERS.contains(&name.as_str())
        || names_authentication(&name)
        || carries_a_password(&value.to_string_lossy())
}

/// `AUTH`, but not as the start of `AUTHOR`.
fn names_authentication(name: &str) -> bool {
    name.match_indices("AUTH")
        .any(|(at, _)| !name[at..].starts_with("AUTHOR"))
}

/// `scheme://user:password@host`, with a password that is not empty.
fn carries_a_password(value: &str) -> bool {
    value.match_indices("://").any(|(at, mark)| {
        let rest = &value[at + mark.len()..];
        let end = rest.find(|c: char| c == '/' || c.is_whitespace());
        let authority = &rest[..end.unwrap_or(rest.len())];
        let login = authority.split_once('@').map(|(login, _)| login);
        login
            .and_then(|login| login.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secrets_are_known_by_name_or_by_a_password_in_an_address() {
        for (name, value) in [
            ("OPENAI_API_KEY", "x"),
            ("github_token", "x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("PGPASSWORD", "x"),
            ("MYSQL_PWD", "x"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("NPM_AUTH", "x"),
            ("MY_PAT", "x"),
            ("SENTRY_DSN", "x"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/0/bus"),
            ("CACHE", "redis://:hunter2@localhost"),
            ("REMOTE", "see https://me:pw@example.org/x"),
        ] {
            assert!(is_secret(name.as_ref(), value.as_ref()), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("PWD", "/work"),
            ("GIT_AUTHOR_NAME", "Me"),
            ("XAUTHORITY", "/home/me/.Xauthority"),
            ("CACHE", "redis://localhost:6379/0"),
            ("REMOTE", "https://me@example.org/a:b@c"),
            ("REMOTE", "https://me:@example.org"),
        ] {
            assert!(!is_secret(name.as_ref(), value.as_ref()), "{name}={value}");
        }
    }
}

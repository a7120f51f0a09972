//! The refusal of file systems on which SQLite loses data.

use std::path::Path;

use crate::failure::Failure;

/// Refuses a network file system, whose locks and shared memory do not reach other machines.
#[cfg(target_os = "linux")]
#[allow(clippy::useless_conversion, reason = "the type of the field depends on the platform")]
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The file may be a link to another file system. A path that cannot be examined cannot be opened either.
    let found = rustix::fs::statfs(path).or_else(|_| rustix::fs::statfs(folder));
    match found {
        Ok(found) if is_network(i64::from(found.f_type)) => {
            Err(Failure::Incompatible("the file is on a network file system"))
        }
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn check(_path: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Returns `true` for the type of a network file system, as `statfs(2)` lists them.
///
/// FUSE and 9P are not among them: containers and virtual machines use both for local folders.
#[cfg(any(target_os = "linux", test))]
fn is_network(kind: i64) -> bool {
    // The kernel's numbers have 32 bits, and some platforms extend their sign.
    matches!(
        kind & 0xffff_ffff,
        0x6969 // NFS
            | 0x517b // SMB
            | 0xfe53_4d42 // SMB 2
            | 0xff53_4d42 // CIFS
            | 0x00c3_6400 // Ceph
            | 0x5346_414f // AFS
            | 0x6b41_4653 // AFS of the kernel
            | 0x7375_7245 // Coda
            | 0x0bd0_0bd0 // Lustre
    )
}

#[cfg(test)]
mod tests {
    use super::is_network;

    #[test]
    fn network_file_systems_are_known() {
        for network in [0x6969, 0x517b, 0xff53_4d42, i64::from(0xff53_4d42_u32.cast_signed())] {
            assert!(is_network(network), "{network:#x}");
        }
        // ext4, tmpfs, overlay, btrfs, xfs, FUSE
        for local in [0xef53, 0x0102_1994, 0x794c_7630, 0x9123_683e, 0x5846_5342, 0x6573_5546] {
            assert!(!is_network(local), "{local:#x}");
        }
    }
}

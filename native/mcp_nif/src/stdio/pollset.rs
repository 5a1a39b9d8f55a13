//! What the VM polls, before something else takes the descriptor's number.
//!
//! Linux keeps a polled descriptor by its number *and* the file it was opened on. After a `dup2` over the number the
//! file stays in the set, and nobody can name it any more: each event of it, such as the end of the client's pipe,
//! wakes a scheduler that finds nothing, without end. So it leaves the sets while the number still means the file.
//!
//! Other systems forget a descriptor that is replaced.
#![cfg_attr(
    target_os = "linux",
    expect(
        unsafe_code,
        reason = "the sets are the VM's: only their numbers are known, from /proc"
    )
)]

use std::os::fd::BorrowedFd;

/// Takes a descriptor out of every set of this process. Without `/proc` none is found, and the sets stay as they are.
#[cfg(target_os = "linux")]
pub(super) fn forget(descriptor: BorrowedFd<'_>) {
    use rustix::event::epoll;

    let sets = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    for entry in sets.flatten().filter(is_set) {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(number) = number {
            // SAFETY: the number was a set a moment ago, and the VM never closes its sets. Were it another's that is
            // closed meanwhile, the call that gets it fails, as on any descriptor that is no set.
            let set = unsafe { BorrowedFd::borrow_raw(number) };
            // Most do not have it.
            let _ = epoll::delete(set, descriptor);
        }
    }
}

#[cfg(target_os = "linux")]
fn is_set(entry: &std::fs::DirEntry) -> bool {
    std::fs::read_link(entry.path()).is_ok_and(|target| target.ends_with("anon_inode:[eventpoll]"))
}

/// Takes a descriptor out of every set of this process.
#[cfg(not(target_os = "linux"))]
pub(super) fn forget(_descriptor: BorrowedFd<'_>) {}

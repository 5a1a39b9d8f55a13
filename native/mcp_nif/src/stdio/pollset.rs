//! Removes a descriptor from the VM's poll sets before another file takes its number.
//!
//! Linux identifies a polled descriptor by its number *and* its open file. After a `dup2` over the
//! number the file stays in the set, and no call can remove it. Each of its events, such as the end
//! of the client's pipe, would wake a scheduler without work again and again. So it must leave the
//! sets before the `dup2`.
//!
//! Other systems remove a replaced descriptor themselves.
#![cfg_attr(
    target_os = "linux",
    expect(
        unsafe_code,
        reason = "the sets are the VM's: only their numbers are known, from /proc"
    )
)]

use std::os::fd::BorrowedFd;

/// Removes a descriptor from all sets of this process. Without `/proc` it finds no sets.
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
            // SAFETY: the number was just found to be a set, and the VM never closes its sets. If
            // it was a set of other code, which closed it since, the call fails, as it does for
            // every descriptor that is no set.
            let set = unsafe { BorrowedFd::borrow_raw(number) };
            // Most sets do not contain it, so an error is normal.
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

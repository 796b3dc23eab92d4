// SPDX-License-Identifier: LGPL-2.1-or-later
//! Threads of ordinary programs as hard real-time tasks, on stock Linux kernels with Tactus.
//!
//! ```no_run
//! # fn control() {}
//! tactus::lock_memory()?;
//! let mut rt = tactus::Attr::new(1_000_000, 200_000).priority(10).enter()?;
//! for _ in 0..10_000 {
//!     rt.wait()?; // one job
//!     control();
//! }
//! drop(rt); // back to Linux
//! # Ok::<(), tactus::Error>(())
//! ```
//!
//! Between `enter()` and the drop nothing may need Linux: no allocation, no printing. What does is
//! no error: the thread is demoted, and the next `wait()` brings it back; see libtactus(3).
#![no_std]

use core::ffi::{c_char, c_int, c_uint, c_void, CStr};
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The end of a wait that has none.
pub const NO_DEADLINE: i64 = i64::MAX;

mod sys {
    use super::*;

    #[repr(C)]
    pub struct Attr {
        pub period_ns: i64,
        pub start_ns: i64,
        pub deadline_ns: i64,
        pub budget_ns: i64,
        pub priority: u32,
        pub cpu: i32,
        pub flags: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct Job {
        pub release_ns: i64,
        pub number: i64,
    }

    extern "C" {
        pub fn rt_enter(attr: *const Attr) -> c_int;
        pub fn rt_why() -> *const c_char;
        pub fn rt_wait(job: *mut Job) -> c_int;
        pub fn rt_sleep_until(when: i64) -> c_int;
        pub fn rt_leave() -> c_int;
        pub fn rt_now() -> i64;
        pub fn rt_stat(stat: *mut Stat) -> c_int;
        pub fn rt_sem_open(name: *const c_char, count: c_uint) -> c_int;
        pub fn rt_sem_wait_until(sem: c_int, until: i64) -> c_int;
        pub fn rt_sem_post(sem: c_int) -> c_int;
        pub fn rt_evt_open(name: *const c_char, flags: c_uint) -> c_int;
        pub fn rt_evt_wait_until(
            evt: c_int,
            flags: c_uint,
            how: c_uint,
            got: *mut c_uint,
            until: i64,
        ) -> c_int;
        pub fn rt_evt_set(evt: c_int, flags: c_uint) -> c_int;
        pub fn rt_evt_clear(evt: c_int, flags: c_uint) -> c_int;
        pub fn rt_mbx_open(name: *const c_char, bytes: usize, room: c_uint) -> c_int;
        pub fn rt_mbx_send_until(mbx: c_int, message: *const c_void, until: i64) -> c_int;
        pub fn rt_mbx_receive_until(mbx: c_int, message: *mut c_void, until: i64) -> c_int;
        pub fn mlockall(flags: c_int) -> c_int;
    }
}

/// What went wrong: an errno of Linux, above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub i32);

impl Error {
    /// The wait ended without what it was for; of `wait()`: the job was released late.
    pub const TIMED_OUT: Error = Error(110);
    /// A signal came: the thread is in Linux.
    pub const INTERRUPTED: Error = Error(4);
    /// Not in RT mode.
    pub const NOT_IN_RT: Error = Error(38);
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "errno {}", self.0)
    }
}

impl core::error::Error for Error {}

fn check(result: c_int) -> Result<c_int, Error> {
    if result < 0 {
        Err(Error(-result))
    } else {
        Ok(result)
    }
}

const SENTENCE_BYTES: usize = 96;

/// A sentence of the kernel's or the library's.
#[derive(Clone, Copy)]
pub struct Sentence {
    bytes: [u8; SENTENCE_BYTES],
    length: usize,
}

impl Sentence {
    /// The text; empty if there was no error.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Why the calling thread's last `enter()` was refused. A copy: the library's own goes with the
/// thread.
pub fn why() -> Sentence {
    // SAFETY: a string of this thread's, ended by 0; nobody else writes it.
    let text = unsafe { CStr::from_ptr(sys::rt_why()) }.to_bytes();
    let length = text.len().min(SENTENCE_BYTES);
    let mut bytes = [0; SENTENCE_BYTES];
    bytes[..length].copy_from_slice(&text[..length]);
    Sentence { bytes, length }
}

/// Keep all memory of the process, now and later, in RAM: before `enter()`.
pub fn lock_memory() -> Result<(), Error> {
    // SAFETY: no memory is handed over.
    if unsafe { sys::mlockall(3) } == 0 {
        Ok(())
    } else {
        Err(Error(12))
    }
}

/// The clock of RT mode, ns, without a call; 0 before the first `enter()` or object.
pub fn now() -> i64 {
    // SAFETY: no memory is handed over.
    unsafe { sys::rt_now() }
}

/// How a thread runs in RT mode. Times are in ns.
#[derive(Clone, Copy, Debug)]
pub struct Attr {
    period: i64,
    start: i64,
    deadline: i64,
    budget: i64,
    priority: u32,
    cpu: i32,
}

impl Attr {
    /// Released each `period`, each job with `budget` of CPU time.
    pub const fn new(period: i64, budget: i64) -> Self {
        Attr {
            period,
            start: 0,
            deadline: 0,
            budget,
            priority: 10,
            cpu: -1,
        }
    }

    /// The first release, by `now()`; otherwise a period from `enter()`.
    pub const fn start(self, start: i64) -> Self {
        Attr { start, ..self }
    }

    /// Of each job, after its release; otherwise the period.
    pub const fn deadline(self, deadline: i64) -> Self {
        Attr { deadline, ..self }
    }

    /// 1, the highest, to 1000000; otherwise 10.
    pub const fn priority(self, priority: u32) -> Self {
        Attr { priority, ..self }
    }

    /// Where; otherwise where the thread is.
    pub const fn cpu(self, cpu: i32) -> Self {
        Attr { cpu, ..self }
    }

    /// The calling thread goes on in RT mode, at its first release. `why()` explains an error.
    pub fn enter(self) -> Result<Rt, Error> {
        let attr = sys::Attr {
            period_ns: self.period,
            start_ns: self.start,
            deadline_ns: self.deadline,
            budget_ns: self.budget,
            priority: self.priority,
            cpu: self.cpu,
            flags: 0,
            reserved: 0,
        };
        // SAFETY: it is read only, before the call returns.
        check(unsafe { sys::rt_enter(&attr) })?;
        Ok(Rt {
            of_this_thread: PhantomData,
        })
    }
}

/// A job that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// When it was released, by `now()`.
    pub release: i64,
    /// k, if that was at start + k * period.
    pub number: i64,
    /// The job before still ran then.
    pub late: bool,
}

/// The calling thread is in RT mode, or comes back to it at `wait()`. Dropping it leaves.
#[derive(Debug)]
pub struct Rt {
    /// Neither Send nor Sync: RT mode is the thread's.
    of_this_thread: PhantomData<*mut ()>,
}

impl Rt {
    /// End the job; return when the next is released.
    pub fn wait(&mut self) -> Result<Job, Error> {
        let mut job = sys::Job {
            release_ns: 0,
            number: 0,
        };
        // SAFETY: the job is ours, and written before the call returns.
        let late = match check(unsafe { sys::rt_wait(&mut job) }) {
            Ok(_) => false,
            Err(Error::TIMED_OUT) => true,
            Err(error) => return Err(error),
        };
        Ok(Job {
            release: job.release_ns,
            number: job.number,
            late,
        })
    }

    /// Let the job rest until a moment of `now()`.
    pub fn sleep_until(&mut self, when: i64) -> Result<(), Error> {
        // SAFETY: no memory is handed over.
        check(unsafe { sys::rt_sleep_until(when) }).map(drop)
    }
}

impl Drop for Rt {
    fn drop(&mut self) {
        // SAFETY: no memory is handed over. In Linux already: so it stays.
        unsafe { sys::rt_leave() };
    }
}

/// What happened to the calling thread; see struct rt_stat in rt(4).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// How often it entered RT mode.
    pub promotions: u64,
    /// How often it left, by reason: RT_END_*.
    pub demotions: [u64; 7],
    /// Of the last demotion, as are the next five.
    pub reason: u32,
    /// Of the exception.
    pub vector: u32,
    /// Address of the instruction.
    pub ip: u64,
    /// Of the memory.
    pub address: u64,
    /// Of the exception.
    pub error_code: u64,
    /// Of the system call.
    pub nr: u64,
    /// In RT mode's address space.
    pub pages: u64,
    /// What making or checking it took the last time.
    pub pages_ns: u64,
    /// How many of 2 MiB are in it; `pages` counts 512 for each.
    pub huge_pages: u64,
}

/// Promotions and demotions of the calling thread. It demotes.
pub fn stat() -> Result<Stat, Error> {
    let mut stat = MaybeUninit::<Stat>::zeroed();
    // SAFETY: of the size that the library writes.
    check(unsafe { sys::rt_stat(stat.as_mut_ptr()) })?;
    // SAFETY: all zeros are a Stat, too.
    Ok(unsafe { stat.assume_init() })
}

fn name_of(name: Option<&CStr>) -> *const c_char {
    name.map_or(core::ptr::null(), CStr::as_ptr)
}

/// A semaphore: by name the same for all programs of a user and for the kernel's RT tasks.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore(c_int);

impl Semaphore {
    /// Find it, or make it with `count`. No name: this process's own. Before RT mode.
    pub fn open(name: Option<&CStr>, count: u32) -> Result<Self, Error> {
        // SAFETY: a string ended by 0, or null, only read.
        check(unsafe { sys::rt_sem_open(name_of(name), count) }).map(Semaphore)
    }

    /// In RT mode: count down, waiting for a post if there is nothing left.
    pub fn wait_until(&self, until: i64) -> Result<(), Error> {
        // SAFETY: no memory is handed over.
        check(unsafe { sys::rt_sem_wait_until(self.0, until) }).map(drop)
    }

    /// Let one wait end.
    pub fn post(&self) -> Result<(), Error> {
        // SAFETY: no memory is handed over.
        check(unsafe { sys::rt_sem_post(self.0) }).map(drop)
    }
}

/// 32 flags, by name as a semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Event(c_int);

/// Which of the flags a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Any of them.
    Any,
    /// All at once.
    All,
}

impl Event {
    /// Find it, or make it with `flags`. Before RT mode.
    pub fn open(name: Option<&CStr>, flags: u32) -> Result<Self, Error> {
        // SAFETY: a string ended by 0, or null, only read.
        check(unsafe { sys::rt_evt_open(name_of(name), flags) }).map(Event)
    }

    /// In RT mode: wait for flags, clear them if `take`; those that were set.
    pub fn wait_until(&self, flags: u32, want: Want, take: bool, until: i64) -> Result<u32, Error> {
        let how = u32::from(want == Want::All) | u32::from(take) << 1;
        let mut got = 0;
        // SAFETY: the result is ours, and written before the call returns.
        check(unsafe { sys::rt_evt_wait_until(self.0, flags, how, &mut got, until) })?;
        Ok(got)
    }

    /// Set flags: every task that has what it waits for goes on.
    pub fn set(&self, flags: u32) -> Result<(), Error> {
        // SAFETY: no memory is handed over.
        check(unsafe { sys::rt_evt_set(self.0, flags) }).map(drop)
    }

    /// Clear flags.
    pub fn clear(&self, flags: u32) -> Result<(), Error> {
        // SAFETY: no memory is handed over.
        check(unsafe { sys::rt_evt_clear(self.0, flags) }).map(drop)
    }
}

/// What may be a message: any bytes of its size are one.
///
/// # Safety
///
/// Whoever else uses the mailbox by its name may send anything. So each pattern of bytes must be a
/// valid value, and there must be no padding.
pub unsafe trait Message: Copy + 'static {}

macro_rules! messages {
    ($($kind:ty),*) => { $(
        // SAFETY: a number, or an array of numbers: no padding, no invalid value.
        unsafe impl Message for $kind {}
        // SAFETY: likewise.
        unsafe impl<const N: usize> Message for [$kind; N] {}
    )* };
}

messages!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// A bounded queue of messages, by name as a semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Mailbox<T: Message> {
    number: c_int,
    messages: PhantomData<fn(T) -> T>,
}

impl<T: Message> Mailbox<T> {
    /// Find it, or make it with room for `room` messages. Before RT mode.
    pub fn open(name: Option<&CStr>, room: u32) -> Result<Self, Error> {
        // SAFETY: a string ended by 0, or null, only read.
        let number =
            check(unsafe { sys::rt_mbx_open(name_of(name), core::mem::size_of::<T>(), room) })?;
        Ok(Mailbox {
            number,
            messages: PhantomData,
        })
    }

    /// Put a message in, waiting for room. Outside RT mode it does not wait.
    pub fn send_until(&self, message: &T, until: i64) -> Result<(), Error> {
        let at = (message as *const T).cast();
        // SAFETY: the mailbox's messages have T's size; it is only read.
        check(unsafe { sys::rt_mbx_send_until(self.number, at, until) }).map(drop)
    }

    /// Take the oldest message out, waiting for one. Outside RT mode it does not wait.
    pub fn receive_until(&self, until: i64) -> Result<T, Error> {
        let mut message = MaybeUninit::<T>::zeroed();
        let at = message.as_mut_ptr().cast();
        // SAFETY: the mailbox's messages have T's size.
        check(unsafe { sys::rt_mbx_receive_until(self.number, at, until) })?;
        // SAFETY: whole, and Message says that any bytes are a value.
        Ok(unsafe { message.assume_init() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::size_of;

    #[test]
    fn the_structures_have_the_header_s_size() {
        assert_eq!(size_of::<sys::Attr>(), 48);
        assert_eq!(size_of::<sys::Job>(), 16);
        assert_eq!(size_of::<Stat>(), 8 + 7 * 8 + 8 + 7 * 8);
    }

    #[test]
    fn without_the_module_there_is_an_error_and_a_sentence() {
        if cfg!(miri) || Semaphore::open(None, 0).is_ok() {
            return;
        }
        assert!(Attr::new(1_000_000, 1000).enter().is_err());
        assert!(why().as_str().contains("/dev/rt"));
        assert_eq!(now(), 0);
    }
}

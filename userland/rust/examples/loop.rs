// SPDX-License-Identifier: LGPL-2.1-or-later
//! A loop of 1 kHz in RT mode that sends how late it was to the program's other thread.

use tactus::{Attr, Error, Event, Mailbox, Want};

const JOBS: usize = 200;

fn control(late: Mailbox<i64>, start: Event) -> Result<(), Error> {
    let mut rt = Attr::new(1_000_000, 200_000).enter()?;
    start.wait_until(1, Want::All, true, tactus::NO_DEADLINE)?;
    // Releases that passed meanwhile come first.
    while rt.wait()?.late {}
    for _ in 0..JOBS {
        let job = rt.wait()?;
        late.send_until(&(tactus::now() - job.release), 0)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tactus::lock_memory()?;
    let late = Mailbox::open(None, JOBS as u32)?;
    let start = Event::open(None, 0)?;
    let thread = std::thread::Builder::new()
        .stack_size(1 << 18)
        .spawn(move || control(late, start).map_err(|error| (error, tactus::why())))?;
    std::thread::sleep(std::time::Duration::from_millis(100));
    start.set(1)?;
    thread
        .join()
        .unwrap()
        .map_err(|(error, why)| format!("{error}: {why}"))?;
    let (mut jobs, mut worst) = (0, 0);
    while let Ok(ns) = late.receive_until(0) {
        jobs += 1;
        worst = worst.max(ns);
    }
    println!("{jobs} jobs, at most {worst} ns late");
    Ok(())
}

// SPDX-License-Identifier: LGPL-2.1-or-later
//! Where libtactus.a lies: TACTUS_LIB_DIR, or where the linker looks anyway.

fn main() {
    println!("cargo:rerun-if-env-changed=TACTUS_LIB_DIR");
    if let Ok(folder) = std::env::var("TACTUS_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=static=tactus");
}

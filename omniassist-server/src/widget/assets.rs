//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "3e089ca99079";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-YDglhIMGF2O3Rcklu1et5CrZWTqzxaAe8msS1gI2BrMUx/MohR6jXLYVQFEf1k9H",
    identity: include_bytes!("../../assets/widget/widget-3e089ca99079.js"),
    gzip: include_bytes!("../../assets/widget/widget-3e089ca99079.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-3e089ca99079.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "ar-GYTOCICD.js",
    integrity: "sha384-M7mt44/WtfwMCIGLSg/Tmo/7ajXMAvrTwqRFeuqzDdZpg4ecuLIaYBMhzEpAllfe",
    identity: include_bytes!("../../assets/widget/ar-GYTOCICD.js"),
    gzip: include_bytes!("../../assets/widget/ar-GYTOCICD.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-GYTOCICD.js.br"),
},
Asset {
    name: "client-G37WTUT5.js",
    integrity: "sha384-4HP/SW5XpLVZ5rh60qBuzEERXYQrjcFvWJqO2oC2MdznrXEcsEBFguudYJvHFc5l",
    identity: include_bytes!("../../assets/widget/client-G37WTUT5.js"),
    gzip: include_bytes!("../../assets/widget/client-G37WTUT5.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-G37WTUT5.js.br"),
},
Asset {
    name: "component-NNNZ4ND6.js",
    integrity: "sha384-sQT26CHHAemr6De4Xk04ntlx0I8cFn7YL1kdTk4Eg+wlrCtxxX0X+sxVwCGcLvyS",
    identity: include_bytes!("../../assets/widget/component-NNNZ4ND6.js"),
    gzip: include_bytes!("../../assets/widget/component-NNNZ4ND6.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-NNNZ4ND6.js.br"),
},
Asset {
    name: "de-VODNJKFT.js",
    integrity: "sha384-tJavGFZS+FAxJct9ejoP/Vxo62D/yJC7byl9xhbfzq3ZFS7yEnL2ci4E93+ZWYCB",
    identity: include_bytes!("../../assets/widget/de-VODNJKFT.js"),
    gzip: include_bytes!("../../assets/widget/de-VODNJKFT.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-VODNJKFT.js.br"),
},
Asset {
    name: "es-GVTZU3D3.js",
    integrity: "sha384-z2IFtvBms7vLXA8HPp1F/msfmDjBk0ni8vajPIUNelx1YTxNujRrMLhZMdTvmdeg",
    identity: include_bytes!("../../assets/widget/es-GVTZU3D3.js"),
    gzip: include_bytes!("../../assets/widget/es-GVTZU3D3.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-GVTZU3D3.js.br"),
},
Asset {
    name: "highlight-M73TANYB.js",
    integrity: "sha384-cb7B1/23Fp8wkOaLVrlKfAcdNaGSJD54pZbxrHPTE/az5/uSpnjd4wd536s6Sf74",
    identity: include_bytes!("../../assets/widget/highlight-M73TANYB.js"),
    gzip: include_bytes!("../../assets/widget/highlight-M73TANYB.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-M73TANYB.js.br"),
},
Asset {
    name: "page-7BJAIRTU.js",
    integrity: "sha384-W8e/esMPLZC9f0mCSrmoHPEID4QJ5IywtLRWyomKb0+0266Xlu6J6QL9b5h+WR8r",
    identity: include_bytes!("../../assets/widget/page-7BJAIRTU.js"),
    gzip: include_bytes!("../../assets/widget/page-7BJAIRTU.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-7BJAIRTU.js.br"),
},
Asset {
    name: "rare-MWVKGVLF.js",
    integrity: "sha384-wnA/1ljoMWomS/kvSdQYudF4deeMH176p0UpRAe1d5SFShCjZ0Y669o8afnkVTAx",
    identity: include_bytes!("../../assets/widget/rare-MWVKGVLF.js"),
    gzip: include_bytes!("../../assets/widget/rare-MWVKGVLF.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-MWVKGVLF.js.br"),
},
Asset {
    name: "tree-5SHEG4TS.js",
    integrity: "sha384-xu8qJLC0RQzD6ZRuBgJQAQnATJYwp8Oa1/t8aXujDu/zoSEwPlsmwV+89EqOJppF",
    identity: include_bytes!("../../assets/widget/tree-5SHEG4TS.js"),
    gzip: include_bytes!("../../assets/widget/tree-5SHEG4TS.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-5SHEG4TS.js.br"),
},
];

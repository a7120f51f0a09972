//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "4c717155296a";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-HqxPhbh0He8y92lvVgHgSLEWM+m5JZHk8Odchs3eeNZI3d08/8Ek0D84ZPbJbM05",
    identity: include_bytes!("../../assets/widget/widget-4c717155296a.js"),
    gzip: include_bytes!("../../assets/widget/widget-4c717155296a.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-4c717155296a.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "ar-EQKDI7CM.js",
    integrity: "sha384-Lc2z8+Msg2lX/sTCh3u5WAO9a1UtkpTrcpk58MzTm3XwoUgkC23Y1Bb4LfAPavq2",
    identity: include_bytes!("../../assets/widget/ar-EQKDI7CM.js"),
    gzip: include_bytes!("../../assets/widget/ar-EQKDI7CM.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-EQKDI7CM.js.br"),
},
Asset {
    name: "client-JHDQ32UZ.js",
    integrity: "sha384-juxijCr7IvWIVqmYV9p+olBOWM1jyGXYlbSP6cK6aaKzjviu0IjIk7+CH2U1vrz4",
    identity: include_bytes!("../../assets/widget/client-JHDQ32UZ.js"),
    gzip: include_bytes!("../../assets/widget/client-JHDQ32UZ.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-JHDQ32UZ.js.br"),
},
Asset {
    name: "component-NNNZ4ND6.js",
    integrity: "sha384-sQT26CHHAemr6De4Xk04ntlx0I8cFn7YL1kdTk4Eg+wlrCtxxX0X+sxVwCGcLvyS",
    identity: include_bytes!("../../assets/widget/component-NNNZ4ND6.js"),
    gzip: include_bytes!("../../assets/widget/component-NNNZ4ND6.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-NNNZ4ND6.js.br"),
},
Asset {
    name: "de-SU6KD3E5.js",
    integrity: "sha384-CDWuX9dEEJ64RBU6hpzvf0NCoqOfl36WfkklVIphYUdvhOVRSWr5hzpDYZ2VJ4Vy",
    identity: include_bytes!("../../assets/widget/de-SU6KD3E5.js"),
    gzip: include_bytes!("../../assets/widget/de-SU6KD3E5.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-SU6KD3E5.js.br"),
},
Asset {
    name: "es-LC4BSUIM.js",
    integrity: "sha384-BlsbrWRQ219bwOgVp2GVps5RUnMawvu16WYuxIO0FcViswsbXg1CeP2oUO6FI19e",
    identity: include_bytes!("../../assets/widget/es-LC4BSUIM.js"),
    gzip: include_bytes!("../../assets/widget/es-LC4BSUIM.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-LC4BSUIM.js.br"),
},
Asset {
    name: "highlight-M73TANYB.js",
    integrity: "sha384-cb7B1/23Fp8wkOaLVrlKfAcdNaGSJD54pZbxrHPTE/az5/uSpnjd4wd536s6Sf74",
    identity: include_bytes!("../../assets/widget/highlight-M73TANYB.js"),
    gzip: include_bytes!("../../assets/widget/highlight-M73TANYB.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-M73TANYB.js.br"),
},
Asset {
    name: "page-U5RSIE6M.js",
    integrity: "sha384-kJuvz/BWcMB+ejoxs/OUx59PDH78PlzpwnwBy8yqvMgM/4gmRcmkyIQeTJYbnIUU",
    identity: include_bytes!("../../assets/widget/page-U5RSIE6M.js"),
    gzip: include_bytes!("../../assets/widget/page-U5RSIE6M.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-U5RSIE6M.js.br"),
},
Asset {
    name: "rare-ZPPLGP6Y.js",
    integrity: "sha384-wnA/1ljoMWomS/kvSdQYudF4deeMH176p0UpRAe1d5SFShCjZ0Y669o8afnkVTAx",
    identity: include_bytes!("../../assets/widget/rare-ZPPLGP6Y.js"),
    gzip: include_bytes!("../../assets/widget/rare-ZPPLGP6Y.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-ZPPLGP6Y.js.br"),
},
Asset {
    name: "tree-HJMPIZFL.js",
    integrity: "sha384-v95YdMOibuPhVr1hesxlvcAMqLB5W1HXtc5oEZx4MVrfdYEPgj6w/IJfSGFIckDZ",
    identity: include_bytes!("../../assets/widget/tree-HJMPIZFL.js"),
    gzip: include_bytes!("../../assets/widget/tree-HJMPIZFL.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-HJMPIZFL.js.br"),
},
];

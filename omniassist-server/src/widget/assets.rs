//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "98e51c9a1da7";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-HI/7C+FQxpMAfgqVV0r4rOT8jG5EO7Tc3/1PAm/xpkYV3ZJ6tsJyFy+fASy5gkMt",
    identity: include_bytes!("../../assets/widget/widget-98e51c9a1da7.js"),
    gzip: include_bytes!("../../assets/widget/widget-98e51c9a1da7.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-98e51c9a1da7.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "ar-MWZPPFJB.js",
    integrity: "sha384-9pDKDFo5QhCsaBp+NJjS2vq6s7qytTN2R+GMPWOXz8S0Eh2sRUL7sVg+Rv1WQfEV",
    identity: include_bytes!("../../assets/widget/ar-MWZPPFJB.js"),
    gzip: include_bytes!("../../assets/widget/ar-MWZPPFJB.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-MWZPPFJB.js.br"),
},
Asset {
    name: "client-YMWIUUB6.js",
    integrity: "sha384-Npam3KtbPOkfitDdZm603qHRMRoV1f1XJeyoa6A1TGawmO93V9U4oHOU6DMQ7TF6",
    identity: include_bytes!("../../assets/widget/client-YMWIUUB6.js"),
    gzip: include_bytes!("../../assets/widget/client-YMWIUUB6.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-YMWIUUB6.js.br"),
},
Asset {
    name: "component-3TS4VUEL.js",
    integrity: "sha384-v/KiMKQuCsLnVbFS0Q+zLSpMFf07SNVzfxd79cRSQvUi8YM7sPRe1pkiEZ9W94Xe",
    identity: include_bytes!("../../assets/widget/component-3TS4VUEL.js"),
    gzip: include_bytes!("../../assets/widget/component-3TS4VUEL.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-3TS4VUEL.js.br"),
},
Asset {
    name: "de-RSIXCOFN.js",
    integrity: "sha384-mQADauHA/7Vr6KvBZ5icNCSDaOZFzXUfdjcpteoAC1fy/LuaOCB3hfr505ktDnH7",
    identity: include_bytes!("../../assets/widget/de-RSIXCOFN.js"),
    gzip: include_bytes!("../../assets/widget/de-RSIXCOFN.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-RSIXCOFN.js.br"),
},
Asset {
    name: "es-AB7QSEDB.js",
    integrity: "sha384-FxMlnDChGK+aVRDa/bcp87qVaCDI8vdnJzRUPfXc+BNX01lRuRBtZQnTrX9jtUrM",
    identity: include_bytes!("../../assets/widget/es-AB7QSEDB.js"),
    gzip: include_bytes!("../../assets/widget/es-AB7QSEDB.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-AB7QSEDB.js.br"),
},
Asset {
    name: "highlight-M73TANYB.js",
    integrity: "sha384-cb7B1/23Fp8wkOaLVrlKfAcdNaGSJD54pZbxrHPTE/az5/uSpnjd4wd536s6Sf74",
    identity: include_bytes!("../../assets/widget/highlight-M73TANYB.js"),
    gzip: include_bytes!("../../assets/widget/highlight-M73TANYB.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-M73TANYB.js.br"),
},
Asset {
    name: "page-JVKYZFLN.js",
    integrity: "sha384-y2Z0dFMt7+hJIC5reqqkuI9FvTzvQ79IP2YVbj1JpErHZp0mS1fSBFfYKmlnMPTI",
    identity: include_bytes!("../../assets/widget/page-JVKYZFLN.js"),
    gzip: include_bytes!("../../assets/widget/page-JVKYZFLN.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-JVKYZFLN.js.br"),
},
Asset {
    name: "rare-MFHM2NUR.js",
    integrity: "sha384-r4PQP61YLW5+ByvYdA1t4lmQ4hzO+T7UjsWinNE98ehtHy+9/syqU0JX5fA9Wpk2",
    identity: include_bytes!("../../assets/widget/rare-MFHM2NUR.js"),
    gzip: include_bytes!("../../assets/widget/rare-MFHM2NUR.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-MFHM2NUR.js.br"),
},
Asset {
    name: "tree-LJTD4LY5.js",
    integrity: "sha384-sukgI4C7RuBdBc4r8jmigkQAE9pWHYOz360MptMy62/bHZXxXi7KdgOED79CrKtE",
    identity: include_bytes!("../../assets/widget/tree-LJTD4LY5.js"),
    gzip: include_bytes!("../../assets/widget/tree-LJTD4LY5.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-LJTD4LY5.js.br"),
},
];

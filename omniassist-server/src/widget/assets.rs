//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "441560f626b5";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-lqgaEF+qH8/oW0FgC/lT2VGfv2fzuNEXdFNn20vN8vyYBWJ60ysxjGoX3CZkOrll",
    identity: include_bytes!("../../assets/widget/widget-441560f626b5.js"),
    gzip: include_bytes!("../../assets/widget/widget-441560f626b5.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-441560f626b5.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-SVOY4MKV.js",
    integrity: "sha384-J+YsGsTAGt3VkyK3RpsfW0hDor+EeqXDdnni2SY97ZWXxA1/XuA/WFWNK+7wK+3w",
    identity: include_bytes!("../../assets/widget/app-SVOY4MKV.js"),
    gzip: include_bytes!("../../assets/widget/app-SVOY4MKV.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-SVOY4MKV.js.br"),
},
Asset {
    name: "ar-EDWJOFGF.js",
    integrity: "sha384-pMDqh7vb+eoenBTi9eyhYY8qTn8P1GlnGRArfTbUNA8lezlvIfgCPPed7YUvNeFR",
    identity: include_bytes!("../../assets/widget/ar-EDWJOFGF.js"),
    gzip: include_bytes!("../../assets/widget/ar-EDWJOFGF.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-EDWJOFGF.js.br"),
},
Asset {
    name: "client-XD2S4NZ5.js",
    integrity: "sha384-cCZ3D+AwpnVlyhlL9or28u5oM+U1oaduACKjyajG5o0lDQzrm9gQXQVZovCVB285",
    identity: include_bytes!("../../assets/widget/client-XD2S4NZ5.js"),
    gzip: include_bytes!("../../assets/widget/client-XD2S4NZ5.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-XD2S4NZ5.js.br"),
},
Asset {
    name: "component-ZIB723GQ.js",
    integrity: "sha384-g2k4Ex7EokqDcfIT2ctuxzPp5REy9c+Y69SSqnpxuiEMRlsJCEIJg2DXPxsd5Oxb",
    identity: include_bytes!("../../assets/widget/component-ZIB723GQ.js"),
    gzip: include_bytes!("../../assets/widget/component-ZIB723GQ.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-ZIB723GQ.js.br"),
},
Asset {
    name: "de-B4UEGENZ.js",
    integrity: "sha384-/9A11POrPXeliBVi7lpEFcTCaenQKIKvi9kKO2CLYvSnz8D4c/OZi253PDRsDOiR",
    identity: include_bytes!("../../assets/widget/de-B4UEGENZ.js"),
    gzip: include_bytes!("../../assets/widget/de-B4UEGENZ.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-B4UEGENZ.js.br"),
},
Asset {
    name: "es-RXIBAW6R.js",
    integrity: "sha384-+bni+fejP+2t7F1+9Lmq/OVyKIgonsVDiMP6wK0/Y5gP2m1+JXgjFLoYUOKrUEd1",
    identity: include_bytes!("../../assets/widget/es-RXIBAW6R.js"),
    gzip: include_bytes!("../../assets/widget/es-RXIBAW6R.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-RXIBAW6R.js.br"),
},
Asset {
    name: "highlight-M73TANYB.js",
    integrity: "sha384-MtRgG6l+GxX5D/gWCHCQDFC5gRw/u82tsujPJEenJE2mtGGpNOpqSeoLoXUdAkgH",
    identity: include_bytes!("../../assets/widget/highlight-M73TANYB.js"),
    gzip: include_bytes!("../../assets/widget/highlight-M73TANYB.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-M73TANYB.js.br"),
},
Asset {
    name: "page-TDJOAIWH.js",
    integrity: "sha384-CqVg1kSuxCB6DiZXmoGDY8mmF/kJ9Tw1aW8QwgY9OJrwi2VcAmKQLKjGxZm4ha7I",
    identity: include_bytes!("../../assets/widget/page-TDJOAIWH.js"),
    gzip: include_bytes!("../../assets/widget/page-TDJOAIWH.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-TDJOAIWH.js.br"),
},
Asset {
    name: "rare-4BGAWIZ2.js",
    integrity: "sha384-torxcL/Z6pHH/xHzUcqXLROkCe/YluToI/HdrFcRBqN7wB4h4ztHc7bup6mNzNbT",
    identity: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js"),
    gzip: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js.br"),
},
Asset {
    name: "tree-HIOYOLH4.js",
    integrity: "sha384-wbSsylyl7ONsTzEAX9Rso9P0ZsprpYUmMaWyx4+Brr8sSd3esom7kX7Bq43WKTmV",
    identity: include_bytes!("../../assets/widget/tree-HIOYOLH4.js"),
    gzip: include_bytes!("../../assets/widget/tree-HIOYOLH4.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-HIOYOLH4.js.br"),
},
];

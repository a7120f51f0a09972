//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "1d8bbb96816f";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-H7sy8cPvUGKPTSyhSYY0sU6e60uizVDw01IZ8Q1gMOAo/gNrc0hxplvhrfgFA16+",
    identity: include_bytes!("../../assets/widget/widget-1d8bbb96816f.js"),
    gzip: include_bytes!("../../assets/widget/widget-1d8bbb96816f.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-1d8bbb96816f.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-SVOY4MKV.js",
    integrity: "sha384-/MUz43pmvD2FZNmKe7ysGuXSBFaadIsDJ+24M6VKzCEF+jmyDt/4lwO76PXkrAQ+",
    identity: include_bytes!("../../assets/widget/app-SVOY4MKV.js"),
    gzip: include_bytes!("../../assets/widget/app-SVOY4MKV.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-SVOY4MKV.js.br"),
},
Asset {
    name: "ar-PHOBKG6W.js",
    integrity: "sha384-U2vSGiuBOWCWPjEXdbJiuNBAZRpSZio2L9WYKxbWZcbYdXH74ZhmBLTizrKYO9Im",
    identity: include_bytes!("../../assets/widget/ar-PHOBKG6W.js"),
    gzip: include_bytes!("../../assets/widget/ar-PHOBKG6W.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-PHOBKG6W.js.br"),
},
Asset {
    name: "client-GW2V7XI5.js",
    integrity: "sha384-m9F05EJLWe4h5J/eV1B8dOlfl8cF9nmzFbJtgszE84Ip47T2z+HJcf1wdyg2mM11",
    identity: include_bytes!("../../assets/widget/client-GW2V7XI5.js"),
    gzip: include_bytes!("../../assets/widget/client-GW2V7XI5.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-GW2V7XI5.js.br"),
},
Asset {
    name: "component-ZIB723GQ.js",
    integrity: "sha384-g2k4Ex7EokqDcfIT2ctuxzPp5REy9c+Y69SSqnpxuiEMRlsJCEIJg2DXPxsd5Oxb",
    identity: include_bytes!("../../assets/widget/component-ZIB723GQ.js"),
    gzip: include_bytes!("../../assets/widget/component-ZIB723GQ.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-ZIB723GQ.js.br"),
},
Asset {
    name: "de-3N4BG6GF.js",
    integrity: "sha384-AUGAK7UJUNa8YznsaI4EJraIdgYBru3EDfDlrMTXMryI6jI73V7l16ThvMtHNte4",
    identity: include_bytes!("../../assets/widget/de-3N4BG6GF.js"),
    gzip: include_bytes!("../../assets/widget/de-3N4BG6GF.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-3N4BG6GF.js.br"),
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
    name: "page-BVH7OPK7.js",
    integrity: "sha384-WAe0lJ1SMBRlk2pSNa8s/oebdjxYhHop7qZ882iOrUjekE067EE39bJzqLMWBCF8",
    identity: include_bytes!("../../assets/widget/page-BVH7OPK7.js"),
    gzip: include_bytes!("../../assets/widget/page-BVH7OPK7.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-BVH7OPK7.js.br"),
},
Asset {
    name: "rare-4BGAWIZ2.js",
    integrity: "sha384-h5xv2Ke6PjvKWtZr7huOOKvfzZW5z7acpqvsHKSDZUFuHCtJuRWSKiavTCQT/4/T",
    identity: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js"),
    gzip: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js.br"),
},
Asset {
    name: "tree-SO5Q7GE7.js",
    integrity: "sha384-wbSsylyl7ONsTzEAX9Rso9P0ZsprpYUmMaWyx4+Brr8sSd3esom7kX7Bq43WKTmV",
    identity: include_bytes!("../../assets/widget/tree-SO5Q7GE7.js"),
    gzip: include_bytes!("../../assets/widget/tree-SO5Q7GE7.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-SO5Q7GE7.js.br"),
},
];

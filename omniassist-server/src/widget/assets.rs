//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "af8c3f9f69d7";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-HPoS3CdTI5aA5Azr4c+EiEAv8EFWa54UPezlSDXexGpGE0hfW/rvxgYH+alMH1/E",
    identity: include_bytes!("../../assets/widget/widget-af8c3f9f69d7.js"),
    gzip: include_bytes!("../../assets/widget/widget-af8c3f9f69d7.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-af8c3f9f69d7.js.br"),
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
    name: "client-2WXLUZDH.js",
    integrity: "sha384-oAOmrqYakbYc6/f3CK8tirbT+9uws0z/HF5zwtDcR+FodMcdmCDqxsJtJy1MTTr1",
    identity: include_bytes!("../../assets/widget/client-2WXLUZDH.js"),
    gzip: include_bytes!("../../assets/widget/client-2WXLUZDH.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-2WXLUZDH.js.br"),
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
    name: "page-XBNQUJ5T.js",
    integrity: "sha384-B3le9ZSXRu4Byiqb7nFfk0OWSGw3T2AfbLSeIBX3P7lFpsoZgQ28cyJ2jlODdYyU",
    identity: include_bytes!("../../assets/widget/page-XBNQUJ5T.js"),
    gzip: include_bytes!("../../assets/widget/page-XBNQUJ5T.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-XBNQUJ5T.js.br"),
},
Asset {
    name: "rare-4BGAWIZ2.js",
    integrity: "sha384-h5xv2Ke6PjvKWtZr7huOOKvfzZW5z7acpqvsHKSDZUFuHCtJuRWSKiavTCQT/4/T",
    identity: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js"),
    gzip: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-4BGAWIZ2.js.br"),
},
Asset {
    name: "tree-LTYQMSNV.js",
    integrity: "sha384-wbSsylyl7ONsTzEAX9Rso9P0ZsprpYUmMaWyx4+Brr8sSd3esom7kX7Bq43WKTmV",
    identity: include_bytes!("../../assets/widget/tree-LTYQMSNV.js"),
    gzip: include_bytes!("../../assets/widget/tree-LTYQMSNV.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-LTYQMSNV.js.br"),
},
];

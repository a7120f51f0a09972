//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "87fabf05c164";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-RfEW5vlYtj7t9H18P7Wnu63i1+74mKTYXLzHau2qiRc5+a/u789fk+Hxlh6AL0iu",
    identity: include_bytes!("../../assets/widget/widget-87fabf05c164.js"),
    gzip: include_bytes!("../../assets/widget/widget-87fabf05c164.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-87fabf05c164.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-K3LKGNXQ.js",
    integrity: "sha384-Lt0a52K+OJ1WhO5/m/FZhWSr6f8y85s43cRRsSMOeTSyI0XWy6327j0FlqicD9ww",
    identity: include_bytes!("../../assets/widget/app-K3LKGNXQ.js"),
    gzip: include_bytes!("../../assets/widget/app-K3LKGNXQ.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-K3LKGNXQ.js.br"),
},
Asset {
    name: "ar-NACLTZXD.js",
    integrity: "sha384-tkuBzNClPAraixWcPDpG9wLMhBlGuCxyZSWLtWF+1Xleds7tvjBp7Clhh5QJD55t",
    identity: include_bytes!("../../assets/widget/ar-NACLTZXD.js"),
    gzip: include_bytes!("../../assets/widget/ar-NACLTZXD.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-NACLTZXD.js.br"),
},
Asset {
    name: "client-O7UVEXXW.js",
    integrity: "sha384-WJ2k0b1nnAM9B28w+qpoUxn01urT/7UyRO7U3r8Y6DOQLpU/3mgx/5WjDtHQYGn2",
    identity: include_bytes!("../../assets/widget/client-O7UVEXXW.js"),
    gzip: include_bytes!("../../assets/widget/client-O7UVEXXW.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-O7UVEXXW.js.br"),
},
Asset {
    name: "component-NIHNYAR4.js",
    integrity: "sha384-C0tc+Y3qeEGveoq0yLfvftxTjToAiQK+0lIF281JX51OruLcbTCQICShO90O3mqu",
    identity: include_bytes!("../../assets/widget/component-NIHNYAR4.js"),
    gzip: include_bytes!("../../assets/widget/component-NIHNYAR4.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-NIHNYAR4.js.br"),
},
Asset {
    name: "de-2OQIYARY.js",
    integrity: "sha384-4+8G2gFSGsr1aj8VRVsxDbqXsGeCgH88qAwntMnlfuyd7i+1s7msi1lmZWO5cBqP",
    identity: include_bytes!("../../assets/widget/de-2OQIYARY.js"),
    gzip: include_bytes!("../../assets/widget/de-2OQIYARY.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-2OQIYARY.js.br"),
},
Asset {
    name: "es-E2IPOXPP.js",
    integrity: "sha384-1Dl50xNunhFdkSRdCo449xBArV9YTb3SNwMMru4Bp7aktabpf6qaFl3XQsaFb9xw",
    identity: include_bytes!("../../assets/widget/es-E2IPOXPP.js"),
    gzip: include_bytes!("../../assets/widget/es-E2IPOXPP.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-E2IPOXPP.js.br"),
},
Asset {
    name: "highlight-M73TANYB.js",
    integrity: "sha384-eYZfdqHlLcH7KEDsg1rO8Zcq4oNm53wfkMCfyzrWbCO5RC8GNFk1kP2tyC3I2EcF",
    identity: include_bytes!("../../assets/widget/highlight-M73TANYB.js"),
    gzip: include_bytes!("../../assets/widget/highlight-M73TANYB.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-M73TANYB.js.br"),
},
Asset {
    name: "page-MPB5VELP.js",
    integrity: "sha384-jAjHdhBlSQXVJx4A9AEHc4K+dUA84qi59quQ94f9UUxsW6MvRijpOQeyM83AQncv",
    identity: include_bytes!("../../assets/widget/page-MPB5VELP.js"),
    gzip: include_bytes!("../../assets/widget/page-MPB5VELP.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-MPB5VELP.js.br"),
},
Asset {
    name: "rare-3KJU3JBV.js",
    integrity: "sha384-k+qbYoPVgeRQJfMQ3neU6d0NcvCVILTd7tKTTD2B2K8pRMbSUizP0cl3JNjRh1Ma",
    identity: include_bytes!("../../assets/widget/rare-3KJU3JBV.js"),
    gzip: include_bytes!("../../assets/widget/rare-3KJU3JBV.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-3KJU3JBV.js.br"),
},
Asset {
    name: "tree-OAOXSO2X.js",
    integrity: "sha384-tS7OEt3pxwpcoV6KmxTbb8oCYm9VcYtex6gP/V8ox0FK95kx7jFWvNQHfYW9/ZI4",
    identity: include_bytes!("../../assets/widget/tree-OAOXSO2X.js"),
    gzip: include_bytes!("../../assets/widget/tree-OAOXSO2X.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-OAOXSO2X.js.br"),
},
];

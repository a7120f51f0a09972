//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "254f2474fa5e";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-w7ApUG4vjZpR3dORDavudsVXCYmrrKoLko/5htHPifbndZx2XgissubUiYlbm8Xk",
    identity: include_bytes!("../../assets/widget/widget-254f2474fa5e.js"),
    gzip: include_bytes!("../../assets/widget/widget-254f2474fa5e.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-254f2474fa5e.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-YUVSRWKE.js",
    integrity: "sha384-+qfD1yERLrArzjAlZy9iBepwLEhuVwzvdK1wJZKaj5GH0sOVINORPwHgHGdbmqnc",
    identity: include_bytes!("../../assets/widget/app-YUVSRWKE.js"),
    gzip: include_bytes!("../../assets/widget/app-YUVSRWKE.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-YUVSRWKE.js.br"),
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
    name: "page-37V2M7KQ.js",
    integrity: "sha384-5JwBNJyPO8TN6+YTGfzvF2R88vVnZt3q8PHPYDrMrD3H1ogM8iQYChKsMSigcAUB",
    identity: include_bytes!("../../assets/widget/page-37V2M7KQ.js"),
    gzip: include_bytes!("../../assets/widget/page-37V2M7KQ.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-37V2M7KQ.js.br"),
},
Asset {
    name: "rare-UJCXH75G.js",
    integrity: "sha384-3pdPyMLillieb7xy/WDU09fl/yI84ZR67+CxfhNX3Xe7R/VAM4XlnyHt8QMzvEMz",
    identity: include_bytes!("../../assets/widget/rare-UJCXH75G.js"),
    gzip: include_bytes!("../../assets/widget/rare-UJCXH75G.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-UJCXH75G.js.br"),
},
Asset {
    name: "tree-F6LXYU75.js",
    integrity: "sha384-llOe15RDQTBUGqBpAqoZcVA6ZSklWL6C+rawX0OENPx7OA4+fucjRbcurOQgO5Tc",
    identity: include_bytes!("../../assets/widget/tree-F6LXYU75.js"),
    gzip: include_bytes!("../../assets/widget/tree-F6LXYU75.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-F6LXYU75.js.br"),
},
];

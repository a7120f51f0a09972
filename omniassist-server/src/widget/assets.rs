//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "25744c2a7b0a";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-NLzcoMYQxyuaH8qABNlO7mRxEpKtgunBsY3VNc3LaXniIKVDiQHSi/syxXqzuEYA",
    identity: include_bytes!("../../assets/widget/widget-25744c2a7b0a.js"),
    gzip: include_bytes!("../../assets/widget/widget-25744c2a7b0a.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-25744c2a7b0a.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-KXCKFZ2T.js",
    integrity: "sha384-q0xPunujfqrHf4Sl9dmx3rF5QCmlTlj2OI6pspBjpRk1vog2iMhG7YSgFUoea9Kn",
    identity: include_bytes!("../../assets/widget/app-KXCKFZ2T.js"),
    gzip: include_bytes!("../../assets/widget/app-KXCKFZ2T.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-KXCKFZ2T.js.br"),
},
Asset {
    name: "ar-NACLTZXD.js",
    integrity: "sha384-tkuBzNClPAraixWcPDpG9wLMhBlGuCxyZSWLtWF+1Xleds7tvjBp7Clhh5QJD55t",
    identity: include_bytes!("../../assets/widget/ar-NACLTZXD.js"),
    gzip: include_bytes!("../../assets/widget/ar-NACLTZXD.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-NACLTZXD.js.br"),
},
Asset {
    name: "client-WYZ4642C.js",
    integrity: "sha384-clUC44VH2G6QHwvx87hDKDrYLT2v5mEGjoTSYSSCV3ztWw3Tp3Tz8Cs49nI8R+hT",
    identity: include_bytes!("../../assets/widget/client-WYZ4642C.js"),
    gzip: include_bytes!("../../assets/widget/client-WYZ4642C.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-WYZ4642C.js.br"),
},
Asset {
    name: "component-5KOZHM66.js",
    integrity: "sha384-C0tc+Y3qeEGveoq0yLfvftxTjToAiQK+0lIF281JX51OruLcbTCQICShO90O3mqu",
    identity: include_bytes!("../../assets/widget/component-5KOZHM66.js"),
    gzip: include_bytes!("../../assets/widget/component-5KOZHM66.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-5KOZHM66.js.br"),
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
    name: "page-JNVTVPY6.js",
    integrity: "sha384-XvJW9kj1v2YMXY4m05Jxk11/5B2htxaIunZujxl0d9jU05c/1/4sA/xp9gvF6zbn",
    identity: include_bytes!("../../assets/widget/page-JNVTVPY6.js"),
    gzip: include_bytes!("../../assets/widget/page-JNVTVPY6.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-JNVTVPY6.js.br"),
},
Asset {
    name: "rare-V5F55FZQ.js",
    integrity: "sha384-ctHmeVHLF/cIM8lrLGPzzZeOeZ60u+VQKmBWCDEPxyEmGCjiZuAphjF8X04oYVzW",
    identity: include_bytes!("../../assets/widget/rare-V5F55FZQ.js"),
    gzip: include_bytes!("../../assets/widget/rare-V5F55FZQ.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-V5F55FZQ.js.br"),
},
Asset {
    name: "tree-KVWP55I2.js",
    integrity: "sha384-btUc88w4abSoSWVq4YhzJ8c0F8AtFRu+8I2B/iiDL8SrFwnasvvPn52cXgYNqZri",
    identity: include_bytes!("../../assets/widget/tree-KVWP55I2.js"),
    gzip: include_bytes!("../../assets/widget/tree-KVWP55I2.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-KVWP55I2.js.br"),
},
];

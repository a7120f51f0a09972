//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "59a7eb883bad";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-OECBzS5Vesw4CG0t2biY+CX2sWy1Fi3PZ+rSvL+wraLm3aU0MAgeOLwyq1iPh8z4",
    identity: include_bytes!("../../assets/widget/widget-59a7eb883bad.js"),
    gzip: include_bytes!("../../assets/widget/widget-59a7eb883bad.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-59a7eb883bad.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-NL6TR3J7.js",
    integrity: "sha384-AVGIcXCRD/uH4VowJzJltw1FtesFe3o0kw2oEYCj3jP40ELVWctjO/iv+cUd5MXz",
    identity: include_bytes!("../../assets/widget/app-NL6TR3J7.js"),
    gzip: include_bytes!("../../assets/widget/app-NL6TR3J7.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-NL6TR3J7.js.br"),
},
Asset {
    name: "ar-NACLTZXD.js",
    integrity: "sha384-tkuBzNClPAraixWcPDpG9wLMhBlGuCxyZSWLtWF+1Xleds7tvjBp7Clhh5QJD55t",
    identity: include_bytes!("../../assets/widget/ar-NACLTZXD.js"),
    gzip: include_bytes!("../../assets/widget/ar-NACLTZXD.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-NACLTZXD.js.br"),
},
Asset {
    name: "client-BHJUEI54.js",
    integrity: "sha384-TM4c9LE8u96sthBVb9ozp4kX4Zg7USpeXCYU+bbrvHqyLlZV05u9Zx3AWyVe9zM1",
    identity: include_bytes!("../../assets/widget/client-BHJUEI54.js"),
    gzip: include_bytes!("../../assets/widget/client-BHJUEI54.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-BHJUEI54.js.br"),
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
    integrity: "sha384-Pm47NqhlDHfhH7Pt/5fzwI2pYBr/Oa9+RwKJHES/W88V0RfHWt7CwV1RD+aHvlnG",
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

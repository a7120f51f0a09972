//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "914e63a654a0";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-/LZ3VeRuMjI6O3eOx2w7rDs1LAAYeJCc3H3LBXiQkt1R8xMwqdKapenqZHWm9nxI",
    identity: include_bytes!("../../assets/widget/widget-914e63a654a0.js"),
    gzip: include_bytes!("../../assets/widget/widget-914e63a654a0.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-914e63a654a0.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "ar-UJLXIL5H.js",
    integrity: "sha384-f2S0YYXiHyIiaqdi7eqmFiHcyE8sDswRA3F9I4goi4+OxTr/v0cUQ6ATSUe1kSNV",
    identity: include_bytes!("../../assets/widget/ar-UJLXIL5H.js"),
    gzip: include_bytes!("../../assets/widget/ar-UJLXIL5H.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-UJLXIL5H.js.br"),
},
Asset {
    name: "client-NC7H7THZ.js",
    integrity: "sha384-nbhznherwldK1wnVPgYgaiKKCUMPC/I3bLTVafcAImbq2UcbCwH/oJ+6dO/ojwsM",
    identity: include_bytes!("../../assets/widget/client-NC7H7THZ.js"),
    gzip: include_bytes!("../../assets/widget/client-NC7H7THZ.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-NC7H7THZ.js.br"),
},
Asset {
    name: "component-6IKQX6HP.js",
    integrity: "sha384-NhRStqZOegYtBI1mTQl5MOMOODTBUs5v1I+h2aX8K2Z2dIYh67/1hUn7pFldppcG",
    identity: include_bytes!("../../assets/widget/component-6IKQX6HP.js"),
    gzip: include_bytes!("../../assets/widget/component-6IKQX6HP.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-6IKQX6HP.js.br"),
},
Asset {
    name: "de-Z35MNQ72.js",
    integrity: "sha384-/7GW1Cbk2QP6qYq/Zi3FxjY67NIw+3Otogl6W9Zrx4liJh8QLgeCR2gCV8V5b/3c",
    identity: include_bytes!("../../assets/widget/de-Z35MNQ72.js"),
    gzip: include_bytes!("../../assets/widget/de-Z35MNQ72.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-Z35MNQ72.js.br"),
},
Asset {
    name: "es-6IT2V4GV.js",
    integrity: "sha384-l4f+xYSTaK3SLgT2DdZhUQSgnLQ0bi2dLitBf4GP4EXVcGGoz1FLwEY1llLBK7Zj",
    identity: include_bytes!("../../assets/widget/es-6IT2V4GV.js"),
    gzip: include_bytes!("../../assets/widget/es-6IT2V4GV.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-6IT2V4GV.js.br"),
},
Asset {
    name: "highlight-X3GFNEDG.js",
    integrity: "sha384-asNs5KTwJcJAR6cPr5pkivBgoI7eLiS9bJJ3nkUuIkud7V5n9y9WpKi5o3tbl2SY",
    identity: include_bytes!("../../assets/widget/highlight-X3GFNEDG.js"),
    gzip: include_bytes!("../../assets/widget/highlight-X3GFNEDG.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-X3GFNEDG.js.br"),
},
Asset {
    name: "page-73TUF5DC.js",
    integrity: "sha384-58gqGNRDuFB4wdI6s4VNRMO9HGG3SHVWuR4msFjRpraAnrp7QHsNOMxI07HM6yU/",
    identity: include_bytes!("../../assets/widget/page-73TUF5DC.js"),
    gzip: include_bytes!("../../assets/widget/page-73TUF5DC.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-73TUF5DC.js.br"),
},
Asset {
    name: "rare-Y2Y6PCPZ.js",
    integrity: "sha384-uIWxcoVYdbChNf04pgM30qKZ5zqCGlvSYJ/uENuqWdazQQuioyI14AUTt+OPSRcu",
    identity: include_bytes!("../../assets/widget/rare-Y2Y6PCPZ.js"),
    gzip: include_bytes!("../../assets/widget/rare-Y2Y6PCPZ.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-Y2Y6PCPZ.js.br"),
},
Asset {
    name: "tree-VN76GMDH.js",
    integrity: "sha384-sEmWMXeiNXgqwP5VInyqK4VFYGbDFv0+YkDEUpum+BWmrIwPlzxjO8Bmj4zyd3CK",
    identity: include_bytes!("../../assets/widget/tree-VN76GMDH.js"),
    gzip: include_bytes!("../../assets/widget/tree-VN76GMDH.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-VN76GMDH.js.br"),
},
];

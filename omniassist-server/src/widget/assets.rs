//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "fff0358c924d";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-ZdOy8glegUW3hVomylUiQl2qW1YEJHclfhpTJpSOjOdoey6bgPGFMbRlFGcx+3Vj",
    identity: include_bytes!("../../assets/widget/widget-fff0358c924d.js"),
    gzip: include_bytes!("../../assets/widget/widget-fff0358c924d.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-fff0358c924d.js.br"),
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
    name: "client-BVTECNUQ.js",
    integrity: "sha384-QbHtBDeKj0/P21KDQHd7CUpyWBSYrjU7AgXifgaQXWgmsqxe9oM/MH/7KH5PyEgD",
    identity: include_bytes!("../../assets/widget/client-BVTECNUQ.js"),
    gzip: include_bytes!("../../assets/widget/client-BVTECNUQ.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-BVTECNUQ.js.br"),
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
    integrity: "sha384-F6XEMG75fYuRfsyRigKChRB0GorOakX25JZNjUUv5vAnRn2QQFwdMyWKr0VWwKoY",
    identity: include_bytes!("../../assets/widget/page-73TUF5DC.js"),
    gzip: include_bytes!("../../assets/widget/page-73TUF5DC.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-73TUF5DC.js.br"),
},
Asset {
    name: "rare-ETT4XHAD.js",
    integrity: "sha384-lp3gjuP/vgkPMqGg24yD9nb6zGxeW7GepAXBUliTZcpWVlz8n5qn2dcu3gk5+Chb",
    identity: include_bytes!("../../assets/widget/rare-ETT4XHAD.js"),
    gzip: include_bytes!("../../assets/widget/rare-ETT4XHAD.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-ETT4XHAD.js.br"),
},
Asset {
    name: "tree-WD7DF6XY.js",
    integrity: "sha384-MfkcyLg+G2awRN3kfKjlJf1PNv9m7sQKNlg7SIFHKsdNeJFfn6OZ3mNhqy5gX7FW",
    identity: include_bytes!("../../assets/widget/tree-WD7DF6XY.js"),
    gzip: include_bytes!("../../assets/widget/tree-WD7DF6XY.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-WD7DF6XY.js.br"),
},
];

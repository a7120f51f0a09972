//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "b9971f8f6bb4";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-ydTbmBAwBSnr/OCik321Id+Feaulav+KRu+o/OeIFY+wg1QNHlTjfusl43/bUKrn",
    identity: include_bytes!("../../assets/widget/widget-b9971f8f6bb4.js"),
    gzip: include_bytes!("../../assets/widget/widget-b9971f8f6bb4.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-b9971f8f6bb4.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-4R6ODXYJ.js",
    integrity: "sha384-1f+AqUa95pxwvWOySvuCxepUt4hOBse3znzLSdW/CjxfK/uYsIsEmALgZeqjPicc",
    identity: include_bytes!("../../assets/widget/app-4R6ODXYJ.js"),
    gzip: include_bytes!("../../assets/widget/app-4R6ODXYJ.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-4R6ODXYJ.js.br"),
},
Asset {
    name: "ar-UOSSHCJ3.js",
    integrity: "sha384-+i5jzf9SXmTiP3l0nxX3I+vWIOEsCR3oF+eHJCXYw9D1rN2vesKqazHqOOZ4EhKZ",
    identity: include_bytes!("../../assets/widget/ar-UOSSHCJ3.js"),
    gzip: include_bytes!("../../assets/widget/ar-UOSSHCJ3.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-UOSSHCJ3.js.br"),
},
Asset {
    name: "client-APFAMHQS.js",
    integrity: "sha384-2J9/UAuuemJb45cGXpLCIQKSlxfXrd3mZ2c760GmaVPQjb2yD0JH9W1MRCZCrzCm",
    identity: include_bytes!("../../assets/widget/client-APFAMHQS.js"),
    gzip: include_bytes!("../../assets/widget/client-APFAMHQS.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-APFAMHQS.js.br"),
},
Asset {
    name: "component-EZXL2GFM.js",
    integrity: "sha384-W7AuREOBLUJJg71STbI1dpO7L3A+O5HFpEkD/1etBjiNDo0Tf9bfzrf6hyVuNgYI",
    identity: include_bytes!("../../assets/widget/component-EZXL2GFM.js"),
    gzip: include_bytes!("../../assets/widget/component-EZXL2GFM.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-EZXL2GFM.js.br"),
},
Asset {
    name: "de-C3FIGHWN.js",
    integrity: "sha384-DthrDLU4LtscrEzjsUrODSpUSsd4Nn770XV02zpiF8mrV6xVNYLe4T3zXGxij6ma",
    identity: include_bytes!("../../assets/widget/de-C3FIGHWN.js"),
    gzip: include_bytes!("../../assets/widget/de-C3FIGHWN.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-C3FIGHWN.js.br"),
},
Asset {
    name: "es-XVG4IY5A.js",
    integrity: "sha384-2AvcknPnY34i4bHuxkzS+D+GUc0W4bZgGiJ/bsLup9HRKUPeZb3ob98+3MW58rJo",
    identity: include_bytes!("../../assets/widget/es-XVG4IY5A.js"),
    gzip: include_bytes!("../../assets/widget/es-XVG4IY5A.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-XVG4IY5A.js.br"),
},
Asset {
    name: "highlight-NR7E2ZDU.js",
    integrity: "sha384-BkfiYSyDteuUJfRQ5tYi8RIQnIB/BNQZXQO7uHMw15nQx3eN7koUhhUH+XazjAJl",
    identity: include_bytes!("../../assets/widget/highlight-NR7E2ZDU.js"),
    gzip: include_bytes!("../../assets/widget/highlight-NR7E2ZDU.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-NR7E2ZDU.js.br"),
},
Asset {
    name: "page-VQDYDEUD.js",
    integrity: "sha384-sAJ9d30+rtL+kHTw069Iyt2NgVCag1DZ3a6UnQwWetJyOQhW+STSsWawJFgt7hGD",
    identity: include_bytes!("../../assets/widget/page-VQDYDEUD.js"),
    gzip: include_bytes!("../../assets/widget/page-VQDYDEUD.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-VQDYDEUD.js.br"),
},
Asset {
    name: "rare-WSOXXSYA.js",
    integrity: "sha384-xHXhWQ049W6yzUIRwKwwMxz+lV0jBQjFDN9fnQDURH1XZ75S3jRakIsvmFS0x+Gd",
    identity: include_bytes!("../../assets/widget/rare-WSOXXSYA.js"),
    gzip: include_bytes!("../../assets/widget/rare-WSOXXSYA.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-WSOXXSYA.js.br"),
},
Asset {
    name: "tree-CVBWQM5L.js",
    integrity: "sha384-whYC//Lm9ErEL0Qyew6NSFDEGSZT7QUBptFs6p6hRrmYXawgGbQ8PB8Xv5m4KwyR",
    identity: include_bytes!("../../assets/widget/tree-CVBWQM5L.js"),
    gzip: include_bytes!("../../assets/widget/tree-CVBWQM5L.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-CVBWQM5L.js.br"),
},
];

//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "44638aae2147";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-2zqdrdTk9RZlYlNsuALjcDjG+Yf9/UO7N4JqDsBzyPB0bp1doCnDeL6D72MkaoyU",
    identity: include_bytes!("../../assets/widget/widget-44638aae2147.js"),
    gzip: include_bytes!("../../assets/widget/widget-44638aae2147.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-44638aae2147.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-23LKKG27.js",
    integrity: "sha384-1f+AqUa95pxwvWOySvuCxepUt4hOBse3znzLSdW/CjxfK/uYsIsEmALgZeqjPicc",
    identity: include_bytes!("../../assets/widget/app-23LKKG27.js"),
    gzip: include_bytes!("../../assets/widget/app-23LKKG27.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-23LKKG27.js.br"),
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
    name: "component-HJU45LKU.js",
    integrity: "sha384-PBJSAL3v+WXC3F5svaltTBoWo1z2rJxfis6cfo+sKFPmupdMicWVtr/U8wnCbA++",
    identity: include_bytes!("../../assets/widget/component-HJU45LKU.js"),
    gzip: include_bytes!("../../assets/widget/component-HJU45LKU.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-HJU45LKU.js.br"),
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
    name: "tree-J26WLR3K.js",
    integrity: "sha384-whYC//Lm9ErEL0Qyew6NSFDEGSZT7QUBptFs6p6hRrmYXawgGbQ8PB8Xv5m4KwyR",
    identity: include_bytes!("../../assets/widget/tree-J26WLR3K.js"),
    gzip: include_bytes!("../../assets/widget/tree-J26WLR3K.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-J26WLR3K.js.br"),
},
];

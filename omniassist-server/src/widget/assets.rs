//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "9d007f957faf";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-ai9vIIBddXSIKs40K58563ALjEiE7dHmJJVYsK31d9U0SUVunRECtosllK77DXEN",
    identity: include_bytes!("../../assets/widget/widget-9d007f957faf.js"),
    gzip: include_bytes!("../../assets/widget/widget-9d007f957faf.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-9d007f957faf.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-BMOSCMU6.js",
    integrity: "sha384-16+Pnkagu0HBsy75oS2ldEVIMQxXU8MaHlRqiSW1vj/I0ce2v5lTagz2fQ2sD6Ax",
    identity: include_bytes!("../../assets/widget/app-BMOSCMU6.js"),
    gzip: include_bytes!("../../assets/widget/app-BMOSCMU6.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-BMOSCMU6.js.br"),
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
    integrity: "sha384-wmH7ruleGvlCpSxfkMMc7RHxUAJvm62Y3DenymUXbHwWYBn+WN4RGwMPhXgY/OBc",
    identity: include_bytes!("../../assets/widget/client-GW2V7XI5.js"),
    gzip: include_bytes!("../../assets/widget/client-GW2V7XI5.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-GW2V7XI5.js.br"),
},
Asset {
    name: "component-DIQAI7WU.js",
    integrity: "sha384-mKlsBY1POUyrlpznfzF7WEooEtSmDVYSIzU/d8tArnqs0sESPEKisnMUnPIU23gd",
    identity: include_bytes!("../../assets/widget/component-DIQAI7WU.js"),
    gzip: include_bytes!("../../assets/widget/component-DIQAI7WU.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-DIQAI7WU.js.br"),
},
Asset {
    name: "de-4UQQZKTI.js",
    integrity: "sha384-qepQmmxim0o6tzXqLCu73zof3dSszZX73DyQkE/27/6tlob4zEvHlqC7kgb7ucWf",
    identity: include_bytes!("../../assets/widget/de-4UQQZKTI.js"),
    gzip: include_bytes!("../../assets/widget/de-4UQQZKTI.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-4UQQZKTI.js.br"),
},
Asset {
    name: "es-RWCV27ZJ.js",
    integrity: "sha384-vStWSUMl79rMwmHDdRJ/7GL6U81G4dDHFWHFBaMKWdaytDQEhTSb541jh6GzQhxY",
    identity: include_bytes!("../../assets/widget/es-RWCV27ZJ.js"),
    gzip: include_bytes!("../../assets/widget/es-RWCV27ZJ.js.gz"),
    brotli: include_bytes!("../../assets/widget/es-RWCV27ZJ.js.br"),
},
Asset {
    name: "highlight-M73TANYB.js",
    integrity: "sha384-eYZfdqHlLcH7KEDsg1rO8Zcq4oNm53wfkMCfyzrWbCO5RC8GNFk1kP2tyC3I2EcF",
    identity: include_bytes!("../../assets/widget/highlight-M73TANYB.js"),
    gzip: include_bytes!("../../assets/widget/highlight-M73TANYB.js.gz"),
    brotli: include_bytes!("../../assets/widget/highlight-M73TANYB.js.br"),
},
Asset {
    name: "page-EZQVJQXB.js",
    integrity: "sha384-xwUqR9aDyN2cBWvGBG/ryfhMsVawQAbB4RyneXopbgkhYT6ibD0dVQ/GaD84AtH6",
    identity: include_bytes!("../../assets/widget/page-EZQVJQXB.js"),
    gzip: include_bytes!("../../assets/widget/page-EZQVJQXB.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-EZQVJQXB.js.br"),
},
Asset {
    name: "rare-VKY22MPB.js",
    integrity: "sha384-IKF0EHMJ72oWDSKpbEijMGyhSSfj2NZFX9h5vsG+7wU+lugTEGLpMa3QG4Sn2R8x",
    identity: include_bytes!("../../assets/widget/rare-VKY22MPB.js"),
    gzip: include_bytes!("../../assets/widget/rare-VKY22MPB.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-VKY22MPB.js.br"),
},
Asset {
    name: "tree-2Q5SQHLC.js",
    integrity: "sha384-glVPyi143KIqV807qP4/bBizO8aYKgOKuAKnk+925DjLCpvphnlRHlnujFkVAD7S",
    identity: include_bytes!("../../assets/widget/tree-2Q5SQHLC.js"),
    gzip: include_bytes!("../../assets/widget/tree-2Q5SQHLC.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-2Q5SQHLC.js.br"),
},
];

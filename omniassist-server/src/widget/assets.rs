//! The modules of the widget. `npm run build` in `widget/` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "0b6dd6793c62";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = Asset {
    name: "widget.js",
    integrity: "sha384-Y/MKCUnU6veI3aCw8a+xE7KrsPfoWAf3TEqjJ0FC1dm4stWintHTe7OW3HB93lYJ",
    identity: include_bytes!("../../assets/widget/widget-0b6dd6793c62.js"),
    gzip: include_bytes!("../../assets/widget/widget-0b6dd6793c62.js.gz"),
    brotli: include_bytes!("../../assets/widget/widget-0b6dd6793c62.js.br"),
};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
Asset {
    name: "app-6PI32BCR.js",
    integrity: "sha384-16+Pnkagu0HBsy75oS2ldEVIMQxXU8MaHlRqiSW1vj/I0ce2v5lTagz2fQ2sD6Ax",
    identity: include_bytes!("../../assets/widget/app-6PI32BCR.js"),
    gzip: include_bytes!("../../assets/widget/app-6PI32BCR.js.gz"),
    brotli: include_bytes!("../../assets/widget/app-6PI32BCR.js.br"),
},
Asset {
    name: "ar-PHOBKG6W.js",
    integrity: "sha384-U2vSGiuBOWCWPjEXdbJiuNBAZRpSZio2L9WYKxbWZcbYdXH74ZhmBLTizrKYO9Im",
    identity: include_bytes!("../../assets/widget/ar-PHOBKG6W.js"),
    gzip: include_bytes!("../../assets/widget/ar-PHOBKG6W.js.gz"),
    brotli: include_bytes!("../../assets/widget/ar-PHOBKG6W.js.br"),
},
Asset {
    name: "client-O7UVEXXW.js",
    integrity: "sha384-WJ2k0b1nnAM9B28w+qpoUxn01urT/7UyRO7U3r8Y6DOQLpU/3mgx/5WjDtHQYGn2",
    identity: include_bytes!("../../assets/widget/client-O7UVEXXW.js"),
    gzip: include_bytes!("../../assets/widget/client-O7UVEXXW.js.gz"),
    brotli: include_bytes!("../../assets/widget/client-O7UVEXXW.js.br"),
},
Asset {
    name: "component-DIQAI7WU.js",
    integrity: "sha384-mKlsBY1POUyrlpznfzF7WEooEtSmDVYSIzU/d8tArnqs0sESPEKisnMUnPIU23gd",
    identity: include_bytes!("../../assets/widget/component-DIQAI7WU.js"),
    gzip: include_bytes!("../../assets/widget/component-DIQAI7WU.js.gz"),
    brotli: include_bytes!("../../assets/widget/component-DIQAI7WU.js.br"),
},
Asset {
    name: "de-GJW6A3MH.js",
    integrity: "sha384-OSpwPyJ+dNHgbjHJSs2P3L6LmU+lqltSE79pksQrcQ7U954vcJAzVkHOJT+aCyWT",
    identity: include_bytes!("../../assets/widget/de-GJW6A3MH.js"),
    gzip: include_bytes!("../../assets/widget/de-GJW6A3MH.js.gz"),
    brotli: include_bytes!("../../assets/widget/de-GJW6A3MH.js.br"),
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
    name: "page-D57CRYIP.js",
    integrity: "sha384-5JwBNJyPO8TN6+YTGfzvF2R88vVnZt3q8PHPYDrMrD3H1ogM8iQYChKsMSigcAUB",
    identity: include_bytes!("../../assets/widget/page-D57CRYIP.js"),
    gzip: include_bytes!("../../assets/widget/page-D57CRYIP.js.gz"),
    brotli: include_bytes!("../../assets/widget/page-D57CRYIP.js.br"),
},
Asset {
    name: "rare-VKY22MPB.js",
    integrity: "sha384-IKF0EHMJ72oWDSKpbEijMGyhSSfj2NZFX9h5vsG+7wU+lugTEGLpMa3QG4Sn2R8x",
    identity: include_bytes!("../../assets/widget/rare-VKY22MPB.js"),
    gzip: include_bytes!("../../assets/widget/rare-VKY22MPB.js.gz"),
    brotli: include_bytes!("../../assets/widget/rare-VKY22MPB.js.br"),
},
Asset {
    name: "tree-F3IPYIV3.js",
    integrity: "sha384-glVPyi143KIqV807qP4/bBizO8aYKgOKuAKnk+925DjLCpvphnlRHlnujFkVAD7S",
    identity: include_bytes!("../../assets/widget/tree-F3IPYIV3.js"),
    gzip: include_bytes!("../../assets/widget/tree-F3IPYIV3.js.gz"),
    brotli: include_bytes!("../../assets/widget/tree-F3IPYIV3.js.br"),
},
];

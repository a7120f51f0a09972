// The cases share one browser.

import '../testing/page-cases/capture.mjs';
import '../testing/page-cases/discover.mjs';
import '../testing/page-cases/fill.mjs';
import '../testing/page-cases/frameworks.mjs';
import '../testing/page-cases/navigate.mjs';
import '../testing/page-cases/posts.mjs';
import '../testing/page-cases/private.mjs';
import '../testing/page-cases/webmcp.mjs';

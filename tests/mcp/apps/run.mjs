import { runSuite } from '../../lib/runner.mjs';

runSuite(import.meta.url);

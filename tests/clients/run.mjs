import { runSuite } from '../lib/runner.mjs';

runSuite(import.meta.url, { concurrency: 2 });

import { runSuite } from '../../tests/lib/runner.mjs';

runSuite(import.meta.url, { concurrency: 2 });

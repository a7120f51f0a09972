// Pages of the AI SDK on one server that is lost, and comes back.

import { startQuickstart } from '../lib/quickstart.mjs';
import { matrix } from './resumed-matrix.mjs';

matrix((settings) => startQuickstart(settings, { stored: true }));

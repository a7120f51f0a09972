// Pages of AG-UI and CopilotKit on one server that is lost, and comes back.

import { startQuickstart } from '../lib/quickstart.mjs';
import { matrix } from './resumed-agents-matrix.mjs';

matrix((settings) => startQuickstart(settings, { stored: true }));

// Starts the research desk (examples/research-desk) with its demo, on a free port.

import { startServer } from './server.mjs';

/** Starts the binary named by `RESEARCH_DESK_BIN`, which inherits only `PATH`. */
export const startResearchDesk = (settings = {}) =>
  startServer('RESEARCH_DESK_BIN', { PATH: process.env.PATH, ...settings });

// Pages of the AI SDK on three servers behind a proxy. The server of their runs is lost, and the others go on.

import { startCluster } from '../lib/cluster.mjs';
import { matrix } from './resumed-matrix.mjs';
import { STATES } from './resumed.mjs';

matrix(startCluster, ', of three servers', [Object.keys(STATES)]);

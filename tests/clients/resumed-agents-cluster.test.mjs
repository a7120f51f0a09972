// Pages of AG-UI and CopilotKit on three servers behind a proxy. The server of their runs is lost, and the others go on.

import { startCluster } from '../lib/cluster.mjs';
import { matrix } from './resumed-agents-matrix.mjs';

let cluster;
// All pages share it.
matrix((settings) => (cluster ??= startCluster(settings)), ', of three servers');

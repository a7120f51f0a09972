// Starts the shared-cart binary on a free port.

import { startServer } from './server.mjs';

/** The settings for a scripted model. */
export const openai = (baseUrl) => ({
  OPENAI_BASE_URL: baseUrl,
  OPENAI_API_KEY: 'sk-canary-of-the-suite',
  OMNIASSIST_MODEL: 'scripted-model',
});

/** Starts the binary named by `SHARED_CART_BIN`, which inherits only `PATH`. */
export const startSharedCart = (settings) => startServer('SHARED_CART_BIN', { PATH: process.env.PATH, ...settings });

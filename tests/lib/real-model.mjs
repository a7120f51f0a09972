// A quickstart that answers with the model of `OMNIASSIST_E2E_BASE_URL`, and questions that even a small model
// answers with the right tool when it has seen examples (examples.json, in tests/real-model).

import { startQuickstart } from './quickstart.mjs';

export const real = {
  lookUp: { question: 'What is the status of order 1012?', tool: 'order_status', order: 1012 },
  navigate: { question: 'Open the customers page.', tool: 'navigate', page: 'customers' },
  long: { question: 'Tell me a long story' },
};

export function startWithRealModel() {
  const { OMNIASSIST_E2E_BASE_URL: url, OMNIASSIST_E2E_MODEL: model, OMNIASSIST_E2E_API_KEY: key } = process.env;
  if (!url) throw new Error('OMNIASSIST_E2E_BASE_URL is not set');
  return startQuickstart({
    OMNIASSIST_PROVIDER: 'openai-chat',
    OPENAI_BASE_URL: url,
    ...(model && { OMNIASSIST_MODEL: model }),
    ...(key && { OPENAI_API_KEY: key }),
  });
}

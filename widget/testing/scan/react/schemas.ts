import { z } from 'zod';

export const priority = z.enum(['low', 'high']);

import { z } from 'zod';
import { priority } from '../schemas';

export const TicketSchema = z.object({
  subject: z.string().trim().min(1).max(200),
  priority: priority.default('low'),
  order: z.number().int().positive().optional(),
  tags: z.array(z.string()).max(5),
  email: z.email(),
  notes: z.string().describe('Anything else').nullish(),
});

export function Ticket({ hint, more }: { hint: string; more: boolean }) {
  return (
    <form data-assistant="ticket" method="post">
      <label>
        Subject <input name="subject" required maxLength={200} />
      </label>
      <label htmlFor="details">Details</label>
      <textarea id="details" name="details" placeholder={hint} />
      <select name="priority" defaultValue="low">
        <option value="low">Low</option>
        <option value="high">High</option>
      </select>
      <input type="radio" name="channel" value="mail" />
      <input type="radio" name="channel" value="phone" />
      <input type="checkbox" name="urgent" />
      <input type="checkbox" name="days" value="mo" />
      <input type="checkbox" name="days" value="fr" />
      {more && <input type="number" name="amount" min={0} max="100" />}
      <input type="date" name="due" />
      <DateField name="until" label="Until" />
      <input type="password" name="password" />
      <input name="card" autoComplete="cc-number" />
      <input name="locked" readOnly />
      <div data-assistant-ignore>
        <input name="ignored" />
      </div>
      <input type="hidden" name="csrf" />
    </form>
  );
}

const DateField = (props: { name: string; label: string }) => <input {...props} />;

export const Login = () => (
  <form>
    <input name="user" />
  </form>
);

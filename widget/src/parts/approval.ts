import type { ToolPart } from '../chat/types.js';
import { button } from '../ui/button.js';
import { element, filled, setHidden, setText } from '../ui/dom.js';
import { type Field, fieldsOf, firstFault } from './fields.js';
import { focusNext, hasFocus } from './focus.js';
import { freshId, labelOf, type QuestionContext, type QuestionView } from './kinds.js';
import { membersOf, seen, valueList } from './values.js';

/** Returns a schema for the edit of arguments whose schema the page does not have. */
function schemaFor(input: unknown): Record<string, unknown> {
  const kinds = membersOf(input).map(([name, value]) => [
    name,
    { type: value === null || typeof value === 'object' ? 'json' : typeof value, default: value },
  ]);
  return { properties: Object.fromEntries(kinds) };
}

/** Returns the values of fields as JSON. */
const written = (fields: readonly Field[]) => fields.map((one) => JSON.stringify(one.read()));

/**
 * Returns the edited arguments. Those whose field is as it was `before` are sent as they were. A text that the user cleared is
 * empty, and another value that was cleared is left out.
 */
function valuesAfterEdit(fields: readonly Field[], before: readonly unknown[], input: unknown): Record<string, unknown> {
  const now = written(fields);
  const members = membersOf(input).flatMap(([name, value], at) => {
    if (now[at] === before[at]) return [[name, value]];
    const edited = fields[at]?.read();
    if (edited !== undefined) return [[name, edited]];
    return typeof value === 'string' ? [[name, '']] : [];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

/** Asks if a call may run. A decision is sent once. */
export function approvalView(context: QuestionContext): QuestionView {
  const { chat, texts, locale } = context;
  const question = element('p', { part: 'ask', id: freshId() });
  const values = element('div', { part: 'fields' });
  const reason = element('input', { part: 'input reason', maxlength: '500', autocomplete: 'off', placeholder: texts.reason });
  reason.setAttribute('aria-label', texts.reason);
  let call: ToolPart | undefined;
  let sent = false;
  let shown = '';
  let fields: Field[] | undefined;
  let before: unknown[] = [];

  async function decide(approved: boolean): Promise<void> {
    if (!call || sent) return;
    if (approved && fields && firstFault(fields)) return;
    sent = true;
    const part = call;
    const edited = approved && fields ? valuesAfterEdit(fields, before, part.input) : undefined;
    const text = reason.value.trim();
    lock(true);
    const options = { ...(text && { reason: text }), ...(edited && { input: edited }) };
    await chat.approve(part, approved, options).catch(() => undefined);
    sent = false;
    lock(false);
  }

  const yes = button(texts.approve, 'approve primary', () => void decide(true));
  const no = button(texts.deny, 'deny', () => void decide(false));
  const edit = button(texts.approvalEdit, 'quiet', () => {
    setHidden(edit, true);
    fields = fieldsOf(schemaFor(call?.input), texts, locale, false);
    before = written(fields);
    values.replaceChildren(...fields.map((one) => one.node));
    fields[0]?.control.focus();
  });
  for (const one of [yes, no]) one.setAttribute('aria-describedby', question.id);
  const lock = (isLocked: boolean) => {
    for (const one of [yes, no]) one.setAttribute('aria-disabled', String(isLocked));
  };
  const node = element(
    'div',
    { part: 'approval', role: 'group', 'aria-labelledby': question.id, hidden: true },
    question,
    values,
    element('div', { part: 'buttons' }, reason, element('span', { part: 'buttons' }, edit, no, yes)),
  );

  return {
    node,
    update(part, { message }, now) {
      call = part;
      const isAsked = now === 'approval-requested';
      const loses = !isAsked && hasFocus(node);
      setHidden(node, !isAsked);
      if (loses) focusNext(node);
      if (!isAsked) return;
      const label = labelOf(part, message);
      const asked = part.approval?.requestReason ?? label.message ?? filled(texts.approvalQuestion, { title: label.title });
      setText(question, seen(asked));
      const members = membersOf(part.input);
      const canEdit = label.editable === true && members.length > 0 && members.every(([name]) => name !== '');
      setHidden(edit, !canEdit || !!fields);
      const given = JSON.stringify(part.input) ?? '';
      if (fields || given === shown) return;
      shown = given;
      values.replaceChildren(valueList(part.input, texts));
    },
  };
}

// Controls and reads CopilotKit's chat in examples/copilotkit-chat.

export const isOver = (view) => view.page.locator('[data-copilot-running=false]').first().waitFor();

/** Sends a message as soon as the runtime has sent its agent. */
export async function say(view, text) {
  await view.page.waitForSelector('#chat[aria-busy=false]');
  await view.page.getByTestId('copilot-chat-textarea').fill(text);
  await view.page.getByTestId('copilot-send-button').click();
}

/** Stops the run. During a run, the send button is the stop button. */
export async function stop(view) {
  await view.page.getByTestId('copilot-send-button').click();
  await isOver(view);
}

export const answers = (view) => view.page.getByTestId('copilot-assistant-message');

/** Waits for an answer with the text, then for one with `end`, and for the end of the run. */
export async function says(view, text, end = text) {
  await answers(view).filter({ hasText: text }).first().waitFor();
  await answers(view).last().filter({ hasText: end }).waitFor();
  await isOver(view);
}

/** Returns the last call of a tool on the page. */
export const call = (view, tool) => view.page.locator(`[data-tool-name=${tool}]`).last();
/** Waits for a state of the last call of a tool. */
export const inState = (view, tool, state) =>
  view.page.locator(`[data-tool-name=${tool}][data-tool-state=${state}]`).last().waitFor();
export const outputOf = (view, tool) => call(view, tool).locator('.tool-output');

/** Returns the open questions: approvals and forms. */
export const asked = (view) => view.page.locator('[data-tool-state=asked]');

/** Returns the error of a failed run. */
export const failure = (view) => view.page.locator('#chat-error');

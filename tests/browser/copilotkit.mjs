// How CopilotKit's own chat in examples/copilotkit-chat is used and read.

export const isOver = (view) => view.page.locator('[data-copilot-running=false]').first().waitFor();

/** Says something, as soon as the runtime has told of its agent. */
export async function say(view, text) {
  await view.page.waitForSelector('#chat[aria-busy=false]');
  await view.page.getByTestId('copilot-chat-textarea').fill(text);
  await view.page.getByTestId('copilot-send-button').click();
}

/** The button that sends is the one that stops, while there is something to stop. */
export async function stop(view) {
  await view.page.getByTestId('copilot-send-button').click();
  await isOver(view);
}

export const answers = (view) => view.page.getByTestId('copilot-assistant-message');

/** Waits for an answer that holds the text, then for one that ends with `end`, and for the end of the run. */
export async function says(view, text, end = text) {
  await answers(view).filter({ hasText: text }).first().waitFor();
  await answers(view).last().filter({ hasText: end }).waitFor();
  await isOver(view);
}

/** What the page shows of the last call of a tool. */
export const call = (view, tool) => view.page.locator(`[data-tool-name=${tool}]`).last();
/** Waits for a state of the last call of a tool. */
export const inState = (view, tool, state) =>
  view.page.locator(`[data-tool-name=${tool}][data-tool-state=${state}]`).last().waitFor();
export const outputOf = (view, tool) => call(view, tool).locator('.tool-output');

/** What is asked of the user: approvals and forms. */
export const asked = (view) => view.page.locator('[data-tool-state=asked]');

/** What the page says of a run that failed. */
export const failure = (view) => view.page.locator('#chat-error');

// The views that a chat does not show at first: questions for the user, files, sources, apps and the list of chats. Loaded with the
// first of them.

export { appView } from './app.js';
export { callQuestion } from './call-question.js';
export { fileView } from './file.js';
export { listIn } from './thread-list.js';
export { sourcesView } from './sources.js';

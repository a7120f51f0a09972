// Stands for parts of CopilotKit that this page does without (vite.config.js).
export default undefined;

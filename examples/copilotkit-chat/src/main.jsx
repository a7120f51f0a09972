import { createRoot } from 'react-dom/client';

import { App } from './App.jsx';
import './style.css';

// CopilotKit has dark colours for pages with this class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark', dark.matches);
dark.addEventListener('change', follow);
follow();

createRoot(document.getElementById('root')).render(<App />);

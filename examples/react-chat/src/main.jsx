import { createRoot } from 'react-dom/client';

import { App } from './App.jsx';
import { restore } from './Chat.jsx';
import './style.css';

restore().then((chat) => createRoot(document.getElementById('root')).render(<App chat={chat} />));

// The page of the research desk: one WebSocket, and a node for each agent.

const byId = (id) => document.getElementById(id);
const [tree, connection, problem] = ['tree', 'connection', 'error'].map(byId);
const ended = ['completed', 'failed', 'cancelled'];

/** The nodes by the id of their agent: `{state, element}`. */
const nodes = new Map();
let ws;

function connect() {
  ws = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/assistant/ws`);
  ws.onopen = () => { connection.textContent = 'connected'; };
  ws.onclose = () => {
    connection.textContent = 'not connected';
    setTimeout(connect, 2000);
  };
  ws.onmessage = ({ data }) => receive(JSON.parse(data));
}

const send = (frame) => ws.send(JSON.stringify(frame));

function receive(frame) {
  switch (frame.type) {
    case 'agent-state': return updateAgentNode(frame.state);
    case 'text-delta': return appendTextToAgent(frame.agentId, frame.delta);
    case 'user-query': return askUser(frame.agentId, frame.prompt);
    case 'agent-completed': return markFinalAnswer();
    case 'error': problem.textContent = frame.error;
  }
}

function updateAgentNode(state) {
  const node = nodes.get(state.agentId) ?? createNode(state);
  node.state = state;
  node.part('.title').textContent = state.userContent;
  node.part('.status').textContent = state.status.replaceAll('-', ' ');
  node.element.dataset.status = state.status;
  node.part('.cancel').hidden = ended.includes(state.status);
  if (state.status !== 'waiting-for-user') node.part('.answer').hidden = true;
}

function createNode(state) {
  const element = byId('node').content.firstElementChild.cloneNode(true);
  const node = { state, element, part: (selector) => element.querySelector(selector) };
  const agentId = state.agentId;
  // A new tree takes the place of the one before. A question that is refused changes nothing.
  if (state.parentId === null) {
    nodes.clear();
    tree.replaceChildren();
  }
  node.part('.cancel').onclick = () => send({ type: 'user-intervention', agentId, status: 'cancelled' });
  node.part('.answer').onsubmit = (event) => {
    event.preventDefault();
    handleUserResponse(node);
  };
  nodes.set(agentId, node);
  (nodes.get(state.parentId)?.part('.children') ?? tree).append(element);
  return node;
}

// `textContent` never reads markup, whatever a model writes.
function appendTextToAgent(agentId, delta) {
  nodes.get(agentId)?.part('.text').append(delta);
}

function askUser(agentId, prompt) {
  const node = nodes.get(agentId);
  node.part('.question').textContent = prompt;
  node.part('.answer').hidden = false;
  node.part('.answer input').focus();
}

function handleUserResponse(node) {
  const input = node.part('.answer input');
  send({ type: 'user-response', agentId: node.state.agentId, response: input.value });
  input.value = '';
  node.part('.answer').hidden = true;
}

function markFinalAnswer() {
  const root = [...nodes.values()].find((node) => node.state.parentId === null);
  root.element.classList.add('final');
  root.part('.text').textContent = root.state.result;
}

byId('master').onsubmit = (event) => {
  event.preventDefault();
  problem.textContent = '';
  send({ type: 'start-agent', prompt: byId('prompt').value });
};

connect();

// A client of a tree of agents, with the `WebSocket` that browsers and Node have. It follows the page of contract A.5: it keeps
// a node for each agent, answers each question, and prints the nodes, the frames and the close as JSON.
//
// `node agent-tree-client.mjs URL PROMPT ANSWER`

const [url, prompt, answer] = process.argv.slice(2);
const nodes = {};
const frames = [];
const ws = new WebSocket(url);
const send = (frame) => ws.send(JSON.stringify(frame));

ws.onopen = () => send({ type: 'start-agent', prompt });
ws.onerror = ({ message }) => { console.error(message ?? 'the connection failed'); process.exit(1); };
ws.onclose = ({ code }) => { console.log(JSON.stringify({ nodes, frames, code })); };
ws.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  frames.push(frame);
  if (frame.type === 'agent-state') {
    const { agentId: id, parentId, status, userContent: title, result } = frame.state;
    nodes[id] = { content: '', ...nodes[id], id, parentId, status, title, result };
  } else if (frame.type === 'text-delta') {
    nodes[frame.agentId].content += frame.delta;
  } else if (frame.type === 'user-query') {
    nodes[frame.agentId].userPrompt = frame.prompt;
    send({ type: 'user-response', agentId: frame.agentId, response: answer });
  } else if (frame.type === 'agent-completed') {
    Object.values(nodes).find((node) => node.parentId === null).isFinalAnswer = true;
    send({ type: 'get-agent-tree' });
  } else if (frame.type === 'agent-tree') {
    ws.close(1000);
  }
};

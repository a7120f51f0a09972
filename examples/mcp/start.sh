#!/usr/bin/env bash
# Installs the two servers and the official client below examples/mcp/servers, and starts the assistant, or the program
# `MCP_BIN` that is already built. It needs Node.js and Python 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ -d servers/node_modules ] || npm ci --no-fund --no-audit --prefix servers >&2
if [ ! -d servers/.python ]; then
  python3 -m venv servers/.python
  # An incomplete folder must not look like an installed one to the next start.
  servers/.python/bin/python -m pip install --quiet --disable-pip-version-check -r servers/requirements.txt >&2 ||
    { rm -rf servers/.python && exit 1; }
fi
[ -z "${MCP_BIN:-}" ] || exec "$MCP_BIN"
exec cargo run --quiet -p mcp

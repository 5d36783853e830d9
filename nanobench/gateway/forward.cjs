'use strict';
// node forward.cjs PORT SOCKET COMMAND [ARG…]: a loopback port inside a sandbox without network leads to a unix
// socket while COMMAND runs. Exits as COMMAND does (128+n for signal n), 126 when it cannot listen, 127 when it
// cannot start COMMAND.
const net = require('node:net');
const { spawn } = require('node:child_process');
const { signals } = require('node:os').constants;

const [port, path, command, ...args] = process.argv.slice(2);
const fail = (code) => (error) => {
  process.stderr.write(`forward: ${error.message}\n`);
  process.exit(code);
};

// Each direction ends by itself, so that a half-closed stream keeps its other half; an error ends both.
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path, allowHalfOpen: true });
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.resetAndDestroy());
  inner.pipe(outer);
  outer.pipe(inner);
});

server.on('error', fail(126));
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 128 }, () => {
  const child = spawn(command, args, { stdio: 'inherit' });
  child.on('error', fail(127));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + signals[signal]));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
});

// A registry on the loopback that has the pinned tarballs and nothing else, for as long as one command runs.
//
//   node node_registry.mjs PINS PORT COMMAND [ARGUMENT…]
//
// PINS/index.json: {"<path below the registry>": {"file": …, "name": …, "version": …, "integrity": …}}. A package's
// document is made from the manifests in its pinned tarballs, so a resolver finds the pinned versions only. Whatever
// else is asked for is answered 404 and named on stderr. Exits as the command does.

import { spawn } from "node:child_process";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const MOST = 1 << 30;
const KEPT = [
  ...["name", "version", "bin", "directories", "engines", "os", "cpu", "libc", "dependencies", "optionalDependencies"],
  ...["peerDependencies", "peerDependenciesMeta", "bundleDependencies", "bundledDependencies"],
];
const SCRIPTS = ["preinstall", "install", "postinstall"];

const [pins, port, ...command] = process.argv.slice(2);
const index = new Map(Object.entries(JSON.parse(readFileSync(join(pins, "index.json"), "utf8"))));
const origin = `http://127.0.0.1:${port}`;
const documents = new Map();

function text(block, start, length) {
  const raw = block.subarray(start, start + length);
  const end = raw.indexOf(0);
  return raw.toString("utf8", 0, end < 0 ? length : end);
}

// The package.json of a tarball: the first one directly below its top folder.
function manifest(file) {
  const tar = gunzipSync(readFileSync(file), { maxOutputLength: MOST });
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + 512);
    const size = Number.parseInt(text(header, 124, 12).trim() || "0", 8);
    const name = text(header, 345, 155) ? `${text(header, 345, 155)}/${text(header, 0, 100)}` : text(header, 0, 100);
    const plain = header[156] === 0 || header[156] === 0x30;
    if (plain && /^(\.\/)?[^/]+\/package\.json$/.test(name)) {
      return JSON.parse(tar.toString("utf8", at + 512, at + 512 + size).replace(/^\uFEFF/, ""));
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error("no package.json");
}

function described(path, pin) {
  const own = manifest(join(pins, pin.file));
  const kept = Object.fromEntries(KEPT.filter((key) => key in own).map((key) => [key, own[key]]));
  const hasInstallScript = SCRIPTS.some((name) => own.scripts?.[name]);
  const dist = { tarball: `${origin}/${path}`, integrity: pin.integrity };
  return { ...kept, name: pin.name, version: pin.version, hasInstallScript, dist };
}

// The document of a package, or null.
function document(name) {
  if (!documents.has(name)) {
    const found = [...index].filter(([, pin]) => pin.name === name);
    const versions = Object.fromEntries(found.map(([path, pin]) => [pin.version, described(path, pin)]));
    documents.set(name, found.length ? { name, "dist-tags": {}, versions } : null);
  }
  return documents.get(name);
}

function answer(path, response) {
  const pin = index.get(path);
  if (pin) {
    const file = join(pins, pin.file);
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": statSync(file).size });
    createReadStream(file).pipe(response);
    return;
  }
  const found = document(path);
  if (!found) process.stderr.write(`nanobench: not pinned: ${path}\n`);
  response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(found ?? { error: "not pinned" }));
}

const server = createServer((request, response) => {
  try {
    answer(decodeURIComponent(request.url.split("?")[0]).slice(1), response);
  } catch (error) {
    process.stderr.write(`nanobench: ${request.url}: ${error.message}\n`);
    response.writeHead(500).end();
  }
});
// On a busy machine a client may be slower than the seconds after which an idle connection is closed, just as it asks.
server.keepAliveTimeout = 0;
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(command[0], command.slice(1), { stdio: ["ignore", "inherit", "inherit"] });
  child.on("error", (error) => {
    process.stderr.write(`nanobench: ${error.message}\n`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
});

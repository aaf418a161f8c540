/**
 * Receives alerts and heartbeats on this machine and prints them. An alert counts only when it is signed with the secret
 * that the scheduler has, by Standard Webhooks (https://www.standardwebhooks.com); this is all that a receiver has to do.
 *
 *   node receiver.mjs [--port 8090]
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { port: { type: "string", default: "8090" } } });

const home = process.env.AL_HOME || join(homedir(), ".almanac");
const credential = join(home, "credentials/alert_webhook/example");
const toleranceSeconds = 5 * 60;
const maxBodyBytes = 1_000_000;
/** Ids that were seen: an alert whose answer was lost comes again. */
const seen = new Set();

const server = createServer(async (request, response) => {
  try {
    const body = await bodyOf(request);
    const { pathname } = new URL(request.url, "http://localhost");
    const answer = pathname.startsWith("/ping") ? onPing(pathname, body) : onAlert(request, body);
    response.writeHead(...answer).end();
  } catch (error) {
    console.error(`error: ${error.message}`);
    response.writeHead(400).end();
  }
});
server.on("error", (error) => {
  console.error(`error: port ${values.port} can't be opened (${error.code})`);
  process.exitCode = 1;
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const { port } = server.address();
  const key = keyOf(port);
  server.key = key;
  console.log(`receives at http://localhost:${port}; the credential is in ${credential}`);
});

/** Makes the credential when there is none: the scheduler reads it from there. */
function keyOf(port) {
  const file = join(credential, "secret");
  mkdirSync(credential, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    const secret = `whsec_${randomBytes(32).toString("base64")}\n`;
    writeFileSync(file, secret, { mode: 0o600, flag: "wx" });
  }
  writeFileSync(join(credential, "url"), `http://localhost:${port}/alerts\n`, { mode: 0o600 });
  return Buffer.from(readFileSync(file, "utf8").trim().slice("whsec_".length), "base64");
}

function onAlert({ headers }, body) {
  const problem = signatureProblem(headers, body);
  if (problem !== null) {
    print("refused", [problem]);
    return [401];
  }
  const id = headers["webhook-id"];
  if (seen.has(id)) return [204];
  seen.add(id);
  const { data } = JSON.parse(body);
  const lines = data.lines.map(({ label, text }) => `${label}: ${text}`);
  print(data.phase, [data.title, ...lines, ...(data.url === null ? [] : [data.url])]);
  return [204];
}

/** Null for an alert that the scheduler sent within the last minutes. */
function signatureProblem(headers, body) {
  const {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": given = "",
  } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age < toleranceSeconds)) return "its time is not now";
  const signed = createHmac("sha256", server.key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${signed.digest("base64")}`);
  // There are several while a secret is being replaced.
  const isSigned = given.split(" ").some((one) => isSame(Buffer.from(one), expected));
  return isSigned ? null : "its signature is wrong";
}

function isSame(given, expected) {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** `/ping`, or `/ping/<agent>` with `/start` or `/fail` behind it. */
function onPing(path, body) {
  const [, , agent = "the scheduler", what = agent === "the scheduler" ? "is well" : "succeeded"] =
    path.split("/");
  print("heartbeat", [`${agent}: ${what}`, ...(body.length === 0 ? [] : [String(body)])]);
  return [200];
}

async function bodyOf(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error("a body is too large");
  }
  return Buffer.concat(chunks);
}

function print(kind, [first, ...more]) {
  const time = new Date().toTimeString().slice(0, 8);
  console.log(`${time} ${kind.padEnd(9)} ${plain(first)}`);
  for (const line of more) console.log(`${" ".repeat(19)}${plain(line)}`);
}

/** Texts may quote strangers: nothing that a terminal acts on. */
function plain(text) {
  return text.replace(/[\0-\x1f\x7f-\x9f]/g, " ");
}

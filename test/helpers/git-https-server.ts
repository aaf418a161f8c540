import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endServer, listen } from "./listen.ts";

/**
 * Serves the repositories in `root` to those who have one of the `tokens`; `dir` is for its certificate, which is for
 * `name` as openssl has it.
 */
export async function startGitHttpsServer(
  root: string,
  dir: string,
  tokens: readonly string[],
  { key, cert } = makeCertificate(dir, "IP:127.0.0.1"),
) {
  const logins: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const login = loginOf(request);
    logins.push(login);
    if (tokens.includes(login.replace(/^[^:]*:/, ""))) return backend(root, request, response);
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
  });
  return {
    /** `127.0.0.1:port`. */
    host: `127.0.0.1:${await listen(server)}`,
    /** PEM of the certificate that a client has to trust. */
    certificate: cert,
    /** The logins that clients came with, as `user:password`; empty for none. */
    logins,
    stop: () => endServer(server),
  };
}

/** A certificate for these names that is its own authority; `dir` is for its files. */
export function makeCertificate(
  dir: string,
  names: string,
): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const subject = ["-subj", "/CN=test", "-addext", `subjectAltName=${names}`];
  const files = ["-keyout", key, "-out", cert, "-days", "2"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, ...files], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

/** The same without its files. */
export function certificateFor(names: string): ReturnType<typeof makeCertificate> {
  const dir = mkdtempSync(join(tmpdir(), "al-ca-"));
  try {
    return makeCertificate(dir, names);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function loginOf({ headers: { authorization = "" } }: IncomingMessage): string {
  return Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString("utf8");
}

/** git-http-backend(1) as a CGI program. */
function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "https://localhost");
  const { headers } = request;
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "test",
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers["content-type"] ?? "",
      CONTENT_LENGTH: headers["content-length"] ?? "",
      HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: [headers["git-protocol"] ?? ""].flat().join(),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => answer(Buffer.concat(chunks), response));
}

function answer(output: Buffer, response: ServerResponse): void {
  const end = output.indexOf("\r\n\r\n");
  const lines = output.subarray(0, end).toString("utf8").split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const status = headers.find(([name]) => name === "status")?.[1] ?? "200";
  for (const [name, value] of headers) if (name !== "status") response.setHeader(name, value);
  response.writeHead(parseInt(status, 10)).end(output.subarray(end + 4));
}

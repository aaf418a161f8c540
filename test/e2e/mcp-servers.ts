import { spawn, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../helpers/free-port.ts";

const { resolve } = createRequire(import.meta.url);

/** The program of one of the protocol's own example servers. */
export function exampleServer(name: "everything" | "filesystem"): string {
  const manifest = resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return join(dirname(manifest), "dist/index.js");
}

/** An address of this machine that is not loopback, which no MCP server may have. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "";
}

/** Starts the "everything" server over streamable HTTP; it ends with the test, unless the caller ends it. */
export async function everythingServer(
  onEnd: (end: () => void) => void = onTestFinished,
): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(process.execPath, [exampleServer("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onEnd(() => void child.kill("SIGKILL"));
  await new Promise<void>((listening, failed) => {
    child.once("exit", (code) => failed(new Error(`it ended with ${code}`)));
    child.stderr.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("listening")) listening();
    });
  });
  return { url: `http://${ownAddress()}:${port}/mcp`, child };
}

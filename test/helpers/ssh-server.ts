import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { pause } from "./pause.ts";

const sshd = "/usr/sbin/sshd";

/** Why there can be no ssh server here; null when there can. In CI that throws. */
export function whyNoSshServer(): string | null {
  if (existsSync(sshd)) return null;
  const reason = `there is no ${sshd}`;
  if (process.env.CI !== undefined && process.env.CI !== "") throw new Error(reason);
  process.stderr.write(`skipped the tests of git over ssh: ${reason}\n`);
  return reason;
}

/** `dir` is an empty folder for its keys and its config. */
export async function startSshServer(dir: string) {
  // A privileged sshd keeps its unprivileged part there.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const [hostKey, userKey] = [join(dir, "host"), join(dir, "user")];
  for (const path of [hostKey, userKey]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
  }
  const port = await freePort();
  const config = join(dir, "sshd_config");
  writeFileSync(
    config,
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${userKey}.pub`,
      "PasswordAuthentication no",
      "UsePAM no",
      "StrictModes no",
      "PidFile none",
      "PermitRootLogin prohibit-password",
    ].join("\n"),
  );
  const server = spawn(sshd, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(server, "exit");
  let log = "";
  server.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  while (!log.includes("Server listening")) {
    if (server.exitCode !== null) throw new Error(`sshd did not start: ${log}`);
    await pause(10, "it is asked again");
  }
  const [type = "", key = ""] = readFileSync(`${hostKey}.pub`, "utf8").split(" ");
  return {
    /** `ssh://user@127.0.0.1:port`. */
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    port,
    /** The fields of git_ssh. */
    privateKey: readFileSync(userKey, "utf8").trim(),
    /** The server's own, as a line of known_hosts. */
    knownHost: `[127.0.0.1]:${port} ${type} ${key}`,
    stop: async () => {
      server.kill();
      await ended;
    },
  };
}

/** A real sshd on the loopback interface that lets one key in, as this process's own user. */
export type SshServer = Awaited<ReturnType<typeof startSshServer>>;

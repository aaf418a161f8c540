import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { Agent } from "node:http";
import { userInfo } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { finished } from "node:stream/promises";
import { inspect } from "node:util";

/** How long a login is reused, in ms; ssh keeps it a little longer (ControlPersist). */
const loginMs = 45_000;

/** Times are in seconds. */
const options = {
  BatchMode: "yes",
  ConnectTimeout: "20",
  ServerAliveInterval: "15",
  ControlMaster: "auto",
  ControlPath: "~/.ssh/al-%C",
  ControlPersist: "60",
};

/**
 * Reaches the engine of another machine like Docker's own command: by the system's ssh, with its config, keys and known
 * hosts, and `docker system dial-stdio` there. All connections share one login.
 */
export class SshConnections extends Agent {
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #login: { readonly done: Promise<void>; readonly at: number } | null = null;

  /** `url` is for example `ssh://me@build-1:22`. */
  constructor(url: string, env: NodeJS.ProcessEnv) {
    super({ keepAlive: false });
    const { hostname, port, username } = new URL(url);
    this.#args = [
      "-T",
      ...Object.entries(options).flatMap(([key, value]) => ["-o", `${key}=${value}`]),
      ...(port === "" ? [] : ["-p", port]),
      ...(username === "" ? [] : ["-l", decodeURIComponent(username)]),
      "--",
      hostname.replace(/^\[(.*)\]$/, "$1"),
    ];
    this.#env = env;
  }

  override createConnection(
    _options: unknown,
    done: (error: Error | null, socket?: Duplex) => void,
  ) {
    this.#loggedIn().then(() => done(null, this.#ssh("docker system dial-stdio")), done);
    return undefined;
  }

  /** One login at a time: the machine would refuse many at once. */
  #loggedIn(): Promise<void> {
    const now = performance.now();
    if (this.#login === null || now - this.#login.at > loginMs) {
      const login = { done: this.#logIn(), at: now };
      this.#login = login;
      login.done.catch(() => (this.#login = null));
    }
    return this.#login.done;
  }

  async #logIn(): Promise<void> {
    // ssh keeps the socket of its login there, and creates the folder only for its own files.
    mkdirSync(join(userInfo().homedir, ".ssh"), { recursive: true, mode: 0o700 });
    await finished(this.#ssh("exit 0").resume().end());
  }

  #ssh(command: string): Duplex {
    return sshConnection(this.#args, command, this.#env);
  }

  /** docker-modem formats its options for each request. */
  [inspect.custom](): string {
    return "SshConnections";
  }
}

/** One `ssh` process as a socket of an HTTP client. It fails with the last line of ssh's stderr. */
function sshConnection(args: readonly string[], command: string, env: NodeJS.ProcessEnv): Duplex {
  const child = spawn("ssh", [...args, command], { env, stdio: "pipe" });
  let stderr = "";
  let limit: NodeJS.Timeout | undefined;
  // The reason is in stderr, which is complete once ssh has ended.
  child.stdin.on("error", () => undefined);
  child.stderr.on(
    "data",
    (chunk: Buffer) => (stderr = `${stderr}${chunk.toString()}`.slice(-1_000)),
  );
  const socket = new Duplex({
    read: () => void child.stdout.resume(),
    write: (chunk: Buffer, _encoding, done) =>
      void child.stdin.write(chunk, (error) => {
        if (error == null) done();
      }),
    final: (done) => void child.stdin.end(done),
    destroy: (error, done) => {
      clearTimeout(limit);
      child.kill();
      done(error);
    },
  });
  let isAnswered = false;
  child.stdout.on("data", (chunk: Buffer) => {
    isAnswered = true;
    if (!socket.push(chunk)) child.stdout.pause();
  });
  child.once("error", (error) => socket.destroy(error));
  // An engine that closes first can make its command fail; HTTP checks whether an answer is complete.
  child.once("close", (code) => {
    if (code === 0 || isAnswered) return socket.push(null);
    const reason = stderr.trim().split("\n").at(-1)?.trim() || "ssh ended without a message";
    return socket.destroy(Object.assign(new Error(reason), { code: "ECONNREFUSED" }));
  });
  return Object.assign(socket, {
    /** Timeout of the whole answer, in ms; 0 for no limit. */
    setTimeout: (ms: number) => {
      clearTimeout(limit);
      if (ms > 0) limit = setTimeout(() => socket.emit("timeout"), ms).unref();
      return socket;
    },
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
  });
}

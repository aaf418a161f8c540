import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
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
 * Reaches the engine of another machine as Docker's own command does: by the system's ssh, with its config, keys and known
 * hosts, and `docker system dial-stdio` there. All connections share one login.
 */
export class SshConnections extends Agent {
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #login: { readonly done: Promise<void>; readonly at: number } | null = null;

  /** `url` is such as `ssh://me@build-1:22`. */
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

  /** Many that log in at once would be refused by the machine. */
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
    // ssh keeps the socket of its login there, and makes the folder only for its own files.
    mkdirSync(join(userInfo().homedir, ".ssh"), { recursive: true, mode: 0o700 });
    await finished(this.#ssh("exit 0").resume().end());
  }

  #ssh(command: string): Duplex {
    return new SshConnection(
      spawn("ssh", [...this.#args, command], { env: this.#env, stdio: "pipe" }),
    );
  }

  /** docker-modem puts its options into words for each request. */
  [inspect.custom](): string {
    return "SshConnections";
  }
}

/** One `ssh`, with what an HTTP client asks of a socket beyond a stream. It fails with the last line of ssh's stderr. */
class SshConnection extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;
  #stderr = "";
  #isAnswered = false;
  #limit: NodeJS.Timeout | undefined;

  constructor(child: ChildProcessWithoutNullStreams) {
    super({ allowHalfOpen: true });
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => this.push(chunk) || child.stdout.pause());
    child.stdout.once("data", () => (this.#isAnswered = true));
    // The reason is in stderr, which is whole when ssh has ended.
    child.stdin.on("error", () => undefined);
    child.stderr.on("data", (chunk: Buffer) => this.#keepStderr(chunk.toString()));
    child.once("error", (error) => this.destroy(error));
    // An engine that closes first can make its command fail; whether an answer is whole is seen by HTTP.
    child.once("close", (code) => {
      if (code === 0 || this.#isAnswered) this.push(null);
      else this.destroy(this.#failure());
    });
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: unknown, done: () => void): void {
    this.#child.stdin.write(chunk, (error) => {
      if (error == null) done();
    });
  }

  override _final(done: () => void): void {
    this.#child.stdin.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#limit);
    this.#child.kill();
    done(error);
  }

  /** For the whole answer, in ms; 0 for no limit. */
  setTimeout(ms: number): this {
    clearTimeout(this.#limit);
    if (ms > 0) this.#limit = setTimeout(() => this.emit("timeout"), ms).unref();
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  #keepStderr(text: string): void {
    this.#stderr = `${this.#stderr}${text}`.slice(-1_000);
  }

  #failure(): Error {
    const last = this.#stderr.trim().split("\n").at(-1)?.trim() ?? "";
    const reason = last === "" ? "ssh ended without a word" : last;
    return Object.assign(new Error(reason), { code: "ECONNREFUSED" });
  }
}
